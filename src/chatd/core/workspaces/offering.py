"""Which templates a model is shown first, and whether one is recommended: by what was asked for and who uses what."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

PAGE_SIZE: Final = 10
RECENTLY: Final = timedelta(days=60)  # use before that says nothing
_HALF_LIFE: Final = timedelta(days=14)
_OWN_WEIGHT: Final = 10.0  # one's own use counts for more than that of a whole team
_GONE_WEIGHT: Final = 0.5  # a workspace that was deleted since
_CLEAR: Final = math.log(3)  # as much as two others who use it
_GAP: Final = math.log(3) - math.log(2)  # ahead of the next by as much as a second user adds to one
_EPSILON: Final = 1e-9


class Offered(msgspec.Struct, frozen=True, kw_only=True):
    """A template and how it is used; `own_*` are of the user for whom is asked."""

    id: UUID
    name: str
    display_name: str = ""
    description: str = ""
    developers: int = 0
    own_active: int = 0
    own_recently_deleted: int = 0
    own_last_used_at: datetime | None = None


class Advice(StrEnum):
    USE_RECOMMENDED = "use_recommended"
    ASK_USER = "ask_user"
    NO_MATCH = "no_match"  # try again without the query
    NONE_AVAILABLE = "none_available"


class Ranked(msgspec.Struct, frozen=True):
    templates: tuple[Offered, ...]  # of the page
    page: int
    next_page: int | None
    recommended: UUID | None
    advice: Advice


def query_score(query: str, template: Offered) -> int:
    """0: it does not match."""
    asked = (query.strip().lower(), _compact(query))
    best = 0
    for name in (template.name, template.display_name):
        for want, text in zip(asked, (name.strip().lower(), _compact(name)), strict=True):
            if not want or not text:
                continue
            best = max(best, 4 if text == want else 3 if text.startswith(want) else 2 if want in text else 0)
    return best or int(bool(asked[0]) and asked[0] in template.description.lower())


def affinity(template: Offered, now: datetime) -> float:
    """How likely the user wants it: their own use, the less the longer ago, and that of others."""
    others = math.log(1 + template.developers)
    used = template.own_last_used_at
    if used is None or now - used > RECENTLY:
        return others
    age = max(timedelta(0), now - used) / _HALF_LIFE
    own = template.own_active + _GONE_WEIGHT * template.own_recently_deleted
    return _OWN_WEIGHT * own * 0.5**age + others


def rank(templates: Sequence[Offered], now: datetime, *, query: str = "", page: int = 1) -> Ranked:
    query = query.strip()
    scored = [(query_score(query, each) if query else 0, affinity(each, now), each) for each in templates]
    if query:
        scored = [each for each in scored if each[0]]
    scored.sort(key=lambda each: (-each[0], -each[1], each[2].name, each[2].id))
    page = max(1, page)
    shown = scored[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    recommended = _recommended(scored, asked=bool(query))
    if not scored:
        advice = Advice.NO_MATCH if templates else Advice.NONE_AVAILABLE
    else:
        advice = Advice.USE_RECOMMENDED if recommended else Advice.ASK_USER
    more = page + 1 if len(scored) > page * PAGE_SIZE else None
    return Ranked(tuple(each[2] for each in shown), page, more, recommended, advice)


def _recommended(scored: Sequence[tuple[int, float, Offered]], *, asked: bool) -> UUID | None:
    """One that stands out: alone, the only best match, or clearly more used than the next."""
    if not scored:
        return None
    if len(scored) == 1:
        return scored[0][2].id
    first, second = scored[0], scored[1]
    is_ahead = first[1] - second[1] >= _GAP - _EPSILON
    if asked:
        return first[2].id if first[0] > second[0] or is_ahead else None
    if first[1] < _CLEAR - _EPSILON:
        return None
    return first[2].id if second[1] < _CLEAR - _EPSILON or is_ahead else None


def _compact(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter not in " -_\t\n")
