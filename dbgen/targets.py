"""Where a statement's stars are, and whether its rows can come with columns emptied by a join."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbgen.lexer import SILENT, Piece, Token

_OPEN = ("(", "[")
_CLOSE = (")", "]")
_END_OF_TARGETS = frozenset(
    {"from", "where", "group", "having", "window", "union", "intersect", "except"}
    | {"order", "limit", "offset", "fetch", "for", "into"}
)
_SET_OPERATIONS = ("union", "intersect", "except")
_VERBS = ("select", "insert", "update", "delete", "merge", "values", "table")
# Each makes NULLs of columns that their table never has NULL in.
_EMPTYING = frozenset({"left", "right", "full", "rollup", "cube", "sets", "merge"})


@dataclass(frozen=True, slots=True)
class Star:
    """A `*` in the result: `prefix` is the text before it (`u.`), `first` to `last` are its pieces."""

    prefix: str
    first: int
    last: int
    item: int


@dataclass(frozen=True, slots=True)
class Targets:
    """The stars of the list that makes a statement's result, and how many items that list has."""

    stars: tuple[Star, ...]
    items: int


class CannotExpand(Exception):
    """A star whose columns can't be told from outside; the message says what to write instead."""


def can_empty_columns(pieces: Sequence[Piece]) -> bool:
    """True when a NOT NULL column may come back NULL: outer joins, grouping sets, `old.` and `new.` rows."""
    for at, piece in _significant(pieces):
        if piece.token is not Token.WORD:
            continue
        word = piece.text.lower()
        following = _after(pieces, at)
        if word in _EMPTYING and not (following and following.is_mark("(") and word in ("left", "right")):
            return True
        if word in ("old", "new") and following and following.is_mark("."):
            return True
    return False


def find_targets(pieces: Sequence[Piece]) -> Targets:
    """Look through the list after RETURNING, or after SELECT when that is what the statement does."""
    first = next((piece for _, piece in _significant(pieces)), None)
    if first is None or not (first.is_mark("(") or first.is_word("with", *_VERBS)):
        return Targets((), 0)
    depth = 0
    select = returning = -1
    verb = ""
    set_operation = False
    for at, piece in _significant(pieces):
        if piece.is_mark(*_OPEN):
            depth += 1
        elif piece.is_mark(*_CLOSE):
            depth -= 1
        elif depth == 0 and piece.token is Token.WORD:
            word = piece.text.lower()
            if not verb and word in _VERBS:
                verb = word
            if word == "select" and select < 0:
                select = at
            elif word == "returning":
                returning = at
            set_operation = set_operation or word in _SET_OPERATIONS
    if verb == "table":
        raise CannotExpand("write SELECT and the columns instead of TABLE")
    list_start = returning if returning >= 0 else select if verb == "select" else -1
    if list_start < 0:
        if not verb and any(piece.is_star for piece in pieces):
            raise CannotExpand("name the columns: a star is expanded only in a plain SELECT or RETURNING")
        return Targets((), 0)
    targets = _read_list(pieces, list_start)
    if targets.stars and set_operation and returning < 0:
        raise CannotExpand("name the columns: a star is not expanded beside UNION, INTERSECT or EXCEPT")
    return targets


def whole_rows(pieces: Sequence[Piece], targets: Targets) -> Iterator[str]:
    """Names that may stand for the whole row of which the only item, a star, gives the columns; Postgres knows which.

    For `f.*` it is `f`; for `* FROM f(…) AS g` it is what follows the call, or the function.
    """
    if len(targets.stars) != 1 or targets.items != 1:
        return
    star = targets.stars[0]
    if star.prefix:
        yield star.prefix.removesuffix(".")
        return
    said = [piece for at, piece in _significant(pieces) if at > star.last]
    call = 1
    while call + 2 < len(said) and said[call + 1].is_mark("."):
        call += 2
    if call + 1 >= len(said) or not said[0].is_word("from") or not said[call + 1].is_mark("("):
        return
    after = next((at for at in range(call + 1, len(said)) if _opening(said, at) == call + 1), len(said)) + 1
    alias = next((piece for piece in said[after : after + 2] if not piece.is_word("as")), None)
    yield from (piece.text for piece in (alias, said[call]) if piece and piece.token in (Token.WORD, Token.QUOTED_NAME))


def _read_list(pieces: Sequence[Piece], start: int) -> Targets:
    stars: list[Star] = []
    items = 1
    depth = 0
    at_item_start = True
    previous = pieces[start]
    for at, piece in _significant(pieces):
        if at <= start:
            continue
        if depth == 0 and _ends_list(piece, previous):
            break
        if depth == 0 and piece.is_star and (at_item_start or previous.is_mark(".")):
            stars.append(_star(pieces, at, items - 1))
        if piece.is_mark(*_OPEN):
            depth += 1
        elif piece.is_mark(*_CLOSE):
            depth -= 1
        if depth == 0 and piece.is_mark(","):
            items += 1
            at_item_start = True
        elif depth == 0 and at_item_start:
            at_item_start = _still_at_start(pieces, at)
        previous = piece
    return Targets(tuple(stars), items)


def _ends_list(piece: Piece, previous: Piece) -> bool:
    if not piece.is_word(*_END_OF_TARGETS) or previous.is_word("as") or previous.is_mark("."):
        return False
    if piece.is_word("from"):
        return not previous.is_word("distinct")
    return not (piece.is_word("group") and previous.is_word("within"))


def _still_at_start(pieces: Sequence[Piece], at: int) -> bool:
    """After ALL, DISTINCT and DISTINCT ON (…) the first item has not begun."""
    piece = pieces[at]
    if piece.is_word("all", "distinct"):
        return True
    if piece.is_word("on"):
        return True
    if piece.is_mark(")"):
        opening = _opening(pieces, at)
        before = _before(pieces, opening)
        return before is not None and before.is_word("on")
    return False


def _star(pieces: Sequence[Piece], at: int, item: int) -> Star:
    first = at
    prefix = ""
    while (dot := _index_before(pieces, first)) is not None and pieces[dot].is_mark("."):
        name = _index_before(pieces, dot)
        if name is not None and pieces[name].is_mark(")") and _calls(pieces[_opening(pieces, name) : name]):
            raise CannotExpand("write SELECT * FROM f(…): Postgres calls f once for each column of (f(…)).*")
        if name is None or pieces[name].token not in (Token.WORD, Token.QUOTED_NAME):
            raise CannotExpand("name the columns: only `*` and `table.*` are expanded")
        prefix = f"{pieces[name].text}.{prefix}"
        first = name
    return Star(prefix, first, at, item)


def _calls(pieces: Sequence[Piece]) -> bool:
    """Whether there are parentheses inside those that begin here."""
    return sum(piece.is_mark("(") for piece in pieces) > 1


def _significant(pieces: Sequence[Piece]) -> Iterator[tuple[int, Piece]]:
    return ((at, piece) for at, piece in enumerate(pieces) if piece.token not in SILENT)


def _index_before(pieces: Sequence[Piece], at: int) -> int | None:
    return next((i for i in range(at - 1, -1, -1) if pieces[i].token not in SILENT), None)


def _before(pieces: Sequence[Piece], at: int) -> Piece | None:
    index = _index_before(pieces, at)
    return None if index is None else pieces[index]


def _after(pieces: Sequence[Piece], at: int) -> Piece | None:
    return next((piece for piece in pieces[at + 1 :] if piece.token not in SILENT), None)


def _opening(pieces: Sequence[Piece], closing: int) -> int:
    depth = 0
    for at in range(closing, -1, -1):
        if pieces[at].is_mark(")"):
            depth += 1
        elif pieces[at].is_mark("("):
            depth -= 1
            if depth == 0:
                return at
    return 0
