"""Ask Postgres what a statement takes and gives, and turn its complaints into problems of the file."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import psycopg
from psycopg import pq
from psycopg.pq.abc import PGresult

from dbgen.catalogue import Connection
from dbgen.lexer import Piece, Token
from dbgen.problems import Problem
from dbgen.query_files import Source
from dbgen.rendering import render
from dbgen.targets import CannotExpand, Star, Targets, find_targets, whole_rows

_STATEMENT = "dbgen"
_RESULT_TYPES_SINCE = 160000  # the server version whose pg_prepared_statements has result_types


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """`table` and `number` are 0 unless the column is a plain column of a table. `type` may be a domain."""

    name: str
    type: int
    table: int
    number: int


@dataclass(frozen=True, slots=True)
class Description:
    """`body` is the statement with its stars expanded. `row_type` is the type of the function's rows it gives, or 0."""

    body: tuple[Piece, ...]
    parameters: tuple[int, ...]
    columns: tuple[ResultColumn, ...]
    row_type: int = 0


class Undescribed(Exception):
    """Postgres refused the statement, or a star in it can't be expanded."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def describe(source: Source, connection: Connection) -> Description:
    """Expand the stars and describe what is then sent. Raises Undescribed."""
    first = _describe(source, source.body, connection)
    try:
        targets = find_targets(source.body)
    except CannotExpand as error:
        line = next((piece.line for piece in source.body if piece.is_star), source.line)
        raise Undescribed(source.problem(str(error), line)) from None
    names = [column.name for column in first.columns]
    if not targets.stars or len(set(names)) < len(names):  # two columns of one name are refused later
        return first
    body = list(source.body)
    counts = _star_widths(source, targets.stars, targets.items, first, connection)
    # From the back, so that the places of the stars before it stay right.
    for star in reversed(targets.stars):
        start = star.item + sum(
            counts[other] - 1 for other in range(len(targets.stars)) if targets.stars[other].item < star.item
        )
        width = counts[targets.stars.index(star)]
        text = ", ".join(star.prefix + name for name in _quoted(names[start : start + width], connection))
        body[star.first : star.last + 1] = [Piece(Token.WORD, text, source.body[star.first].line)]
    expanded = _describe(source, tuple(body), connection)
    if expanded.columns != first.columns:
        message = "the star could not be expanded; name the columns"
        raise Undescribed(source.problem(message, source.body[targets.stars[0].last].line))
    return replace(expanded, row_type=_row_type(source, targets, first, connection))


def _row_type(source: Source, targets: Targets, described: Description, connection: Connection) -> int:
    """What Postgres says of the whole row, where the star was: a function's rows have the type it returns."""
    if any(column.table for column in described.columns):
        return 0
    for name in whole_rows(source.body, targets):
        (star,) = targets.stars
        whole = Piece(Token.WORD, name, source.body[star.first].line)
        body = (*source.body[: star.first], whole, *source.body[star.last + 1 :])
        with suppress(Undescribed):
            (column,) = _describe(source, body, connection).columns
            return column.type
    return 0


def _star_widths(
    source: Source, stars: Sequence[Star], items: int, described: Description, connection: Connection
) -> list[int]:
    """How many columns each star stands for: one star for the rest, more are doubled one at a time."""
    if len(stars) == 1:
        return [len(described.columns) - (items - 1)]
    widths: list[int] = []
    for star in stars:
        doubled = list(source.body)
        again = source.body[star.first : star.last + 1]
        doubled[star.last + 1 : star.last + 1] = [Piece(Token.MARK, ",", again[0].line), *again]
        widths.append(
            len(_describe(source, tuple(doubled), connection).columns) - len(described.columns),
        )
    return widths


def _quoted(names: Sequence[str], connection: Connection) -> list[str]:
    row = connection.execute(
        """SELECT array_agg(quote_ident(name) ORDER BY place)
           FROM unnest(%s::text[]) WITH ORDINALITY AS t (name, place)""",
        (list(names),),
    ).fetchone()
    return row[0] if row and row[0] else []


def _describe(source: Source, body: tuple[Piece, ...], connection: Connection) -> Description:
    # The real condition comes at run time; this one proves that its columns hold ids and that it may stand here.
    condition = "".join(f" AND {column} = NULL::uuid" for column in source.filter_columns.values())
    rendered = render(body, source.parameters, condition)
    pgconn = connection.pgconn
    prepared = pgconn.prepare(_STATEMENT.encode(), rendered.text.encode())
    if prepared.status != pq.ExecStatus.COMMAND_OK:
        raise Undescribed(_complaint(source, prepared, rendered.line_at))
    try:
        result = pgconn.describe_prepared(_STATEMENT.encode())
        columns = tuple(
            ResultColumn((result.fname(at) or b"").decode(), result.ftype(at), result.ftable(at), result.ftablecol(at))
            for at in range(result.nfields)
        )
        parameters = tuple(result.param_type(at) for at in range(result.nparams))
        return Description(body, parameters, _with_domains(columns, len(parameters), connection))
    finally:
        connection.execute(f"DEALLOCATE {_STATEMENT}")


def _with_domains(
    columns: tuple[ResultColumn, ...], parameters: int, connection: Connection
) -> tuple[ResultColumn, ...]:
    """A description has a domain's base type; other ways of asking give the domain itself."""
    if not columns:
        return columns
    if connection.info.server_version >= _RESULT_TYPES_SINCE:
        row = connection.execute(
            "SELECT result_types::oid[]::int8[] FROM pg_prepared_statements WHERE name = %s", (_STATEMENT,)
        ).fetchone()
        types: list[int] = row[0] if row else []
    else:
        types = _types_of_table(parameters, connection)
    if len(types) != len(columns):
        return columns
    return tuple(replace(column, type=oid) for column, oid in zip(columns, types, strict=True))


def _types_of_table(parameters: int, connection: Connection) -> list[int]:
    """Of an empty table made from a SELECT; nothing for other statements, whose columns keep their table's types."""
    given = f"({', '.join(['NULL'] * parameters)})" if parameters else ""
    with suppress(psycopg.Error), connection.transaction(force_rollback=True):
        connection.execute(f"CREATE TEMP TABLE {_STATEMENT} AS EXECUTE {_STATEMENT}{given} WITH NO DATA".encode())
        found = connection.execute(
            "SELECT atttypid::int8 FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum",
            (f"pg_temp.{_STATEMENT}",),
        )
        return [oid for (oid,) in found]
    return []


def _complaint(source: Source, result: PGresult, line_at: Callable[[int], int]) -> Problem:
    def field(which: pq.DiagnosticField) -> str:
        return (result.error_field(which) or b"").decode()

    def named(match: re.Match[str]) -> str:
        number = int(match.group(1))
        return f"@{source.parameters[number - 1]}" if number <= len(source.parameters) else match.group()

    raw = field(pq.DiagnosticField.MESSAGE_PRIMARY)
    message = re.sub(r"\$(\d+)", named, raw)
    if hint := field(pq.DiagnosticField.MESSAGE_HINT):
        message = f"{message} ({hint})"
    position = field(pq.DiagnosticField.STATEMENT_POSITION)
    if position:
        return source.problem(message, line_at(int(position)))
    uses = [piece.line for piece in source.body if piece.token is Token.PARAMETER and piece.text in message]
    return source.problem(message, uses[0] if message != raw and uses else source.line)
