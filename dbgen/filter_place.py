"""Whether a filter's condition, put in with AND where the query says, narrows the rows of that query.

Only keywords that Postgres reserves are looked for, so that none of them can be a column's name.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dbgen.lexer import SILENT, Piece, Token

_SET_OPERATIONS = ("union", "intersect", "except")
# Each ends the WHERE clause before it, at the same depth.
_AFTER_WHERE = frozenset(
    {"group", "having", "window", "order", "limit", "offset", "fetch", "for", "returning", "select", "on", "do"}
    | set(_SET_OPERATIONS)
)
# What a subquery stands behind when its rows are what the query around it works on.
_BEFORE_SUBQUERY = ("from", "join", "lateral", "as", "materialized")
_OR = "put parentheses around the OR: AND binds tighter, so rows would escape @authorize_filter"
_SET = "rows of the other part of the UNION would escape @authorize_filter; put it in parentheses: FROM (…) AS t"
_WHERE = "@authorize_filter stands as a condition of its own in a WHERE, not in parentheses or CASE and not after it"
_SUBQUERY = "@authorize_filter stands in the outermost WHERE, or in a subquery in parentheses after FROM, JOIN or WITH"


@dataclass(frozen=True, slots=True)
class _Level:
    """What stands between the same parentheses (or CASE and END) around the filter, without what is deeper."""

    opened_after: Piece | None
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]


def misplaced(body: Sequence[Piece]) -> str:
    """What is wrong with the place of the filter (the only comment in `body`); empty when nothing is."""
    levels = _levels(body)
    if not levels:
        return _WHERE
    if any(piece.is_word(*_SET_OPERATIONS) for level in levels for piece in level.before + level.after):
        return _SET
    innermost = levels[0]
    conditions = _where(innermost)
    following = innermost.after[0] if innermost.after else None
    if not conditions or not (following is None or following.is_word("and", "or", *_AFTER_WHERE)):
        return _WHERE
    if any(level.opened_after and not level.opened_after.is_word(*_BEFORE_SUBQUERY) for level in levels):
        return _SUBQUERY
    return _OR if any(piece.is_word("or") for piece in (*conditions, *_rest(innermost))) else ""


def _levels(body: Sequence[Piece]) -> list[_Level]:
    """From the filter's own to the whole statement; none when what is opened and what is closed don't match."""
    place = next(at for at, piece in enumerate(body) if piece.token is Token.LINE_COMMENT)
    before = _by_depth(reversed(_keywords(body[:place])), leaving=1)
    after = _by_depth(_keywords(body[place + 1 :]), leaving=-1)
    if not before or len(before) != len(after):
        return []
    openers = [around[0] if around else None for around in before[1:]]
    return [
        _Level(opened_after, tuple(reversed(own)), tuple(rest))
        for opened_after, own, rest in zip([*openers, None], before, after, strict=True)
    ]


def _keywords(pieces: Sequence[Piece]) -> list[Piece]:
    """What is said, with no word left that is a name because of what stands before it (`t.end`, `AS end`)."""
    said: list[Piece] = []
    for piece in pieces:
        if piece.token in SILENT:
            continue
        named = said and (
            said[-1].is_mark(".") or (said[-1].is_word("as") and not piece.is_word("materialized", "not"))
        )
        said.append(Piece(Token.QUOTED_NAME, piece.text, piece.line) if named and piece.token is Token.WORD else piece)
    return said


def _by_depth(pieces: Iterable[Piece], *, leaving: int) -> list[list[Piece]]:
    """The pieces of each level, the filter's own first. `leaving` is what `_opens` says at the end of one."""
    levels: list[list[Piece]] = [[]]
    deeper = 0
    for piece in pieces:
        turn = _opens(piece)
        if turn == 0:
            if not deeper:
                levels[-1].append(piece)
        elif turn == -leaving:
            deeper += 1
        elif deeper:
            deeper -= 1
        else:
            levels.append([])
    return [] if deeper else levels


def _opens(piece: Piece) -> int:
    """1 for what opens a level, -1 for what closes one."""
    if piece.is_mark("(", "[") or piece.is_word("case"):
        return 1
    return -1 if piece.is_mark(")", "]") or piece.is_word("end") else 0


def _where(level: _Level) -> tuple[Piece, ...]:
    """From the WHERE that the filter stands in to the filter; nothing when it stands in none."""
    for at in range(len(level.before) - 1, 0, -1):
        if level.before[at].is_word("where"):
            return level.before[at:]
        if level.before[at].is_word(*_AFTER_WHERE):
            return ()
    return ()  # a WHERE that is first of all is an aggregate's FILTER (WHERE …)


def _rest(level: _Level) -> tuple[Piece, ...]:
    """From the filter to the end of its WHERE."""
    ends = (at for at, piece in enumerate(level.after) if piece.is_word(*_AFTER_WHERE))
    return level.after[: next(ends, len(level.after))]
