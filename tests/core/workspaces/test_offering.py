"""Which templates are shown first and which is recommended."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from chatd.core.workspaces.offering import PAGE_SIZE, Advice, Offered, affinity, query_score, rank

NOW = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def template(name: str, **fields: Any) -> Offered:
    return Offered(id=UUID(int=sum(name.encode())), name=name, **fields)


@pytest.mark.parametrize(
    ("query", "score"),
    [("Dev-Box", 4), ("devbox", 4), ("dev", 3), ("v b", 2), ("box", 2), ("gpu", 1), ("other", 0)],
)
def test_a_name_counts_more_than_a_description(query: str, score: int):
    assert query_score(query, template("dev-box", description="With a GPU")) == score


def test_own_use_fades_and_that_of_others_counts_less():
    lately = template("a", own_active=1, own_last_used_at=NOW, developers=1)

    assert affinity(lately, NOW) == pytest.approx(10.693, abs=0.001)
    assert affinity(lately, NOW + 14 * DAY) == pytest.approx(5.693, abs=0.001)
    assert affinity(lately, NOW + 61 * DAY) == pytest.approx(0.693, abs=0.001)
    assert affinity(template("b", own_recently_deleted=1, own_last_used_at=NOW), NOW) == 5.0


@pytest.mark.parametrize(
    ("developers", "query", "recommended", "advice"),
    [
        ([], "", None, Advice.NONE_AVAILABLE),
        ([0], "", 0, Advice.USE_RECOMMENDED),
        ([0], "zzz", None, Advice.NO_MATCH),
        ([1, 0], "", None, Advice.ASK_USER),  # below ln 3
        ([2, 1], "", 0, Advice.USE_RECOMMENDED),
        ([3, 2], "", None, Advice.ASK_USER),  # both clear, and too close
        ([5, 2], "", 0, Advice.USE_RECOMMENDED),
        ([0, 0], "template-1", 1, Advice.USE_RECOMMENDED),  # the only exact match
        ([0, 0], "template", None, Advice.ASK_USER),
        ([2, 0], "template", 0, Advice.USE_RECOMMENDED),
    ],
)
def test_one_that_stands_out_is_recommended(developers: list[int], query: str, recommended: int | None, advice: Advice):
    offered = [template(f"template-{at}", developers=count) for at, count in enumerate(developers)]

    found = rank(offered, NOW, query=query)

    assert found.advice is advice
    assert found.recommended == (None if recommended is None else offered[recommended].id)


def test_pages_go_on_until_all_are_shown():
    offered = [template(f"t{at:02}") for at in range(PAGE_SIZE + 3)]

    first, second, beyond = [rank(offered, NOW, page=page) for page in (1, 2, 9)]

    assert [each.name for each in first.templates + second.templates] == [each.name for each in offered]
    assert (first.next_page, second.next_page, beyond.templates) == (2, None, ())
