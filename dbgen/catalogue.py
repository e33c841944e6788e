"""What Postgres' catalogue knows of a migrated database: types, enums, tables, constraints."""

from collections.abc import Mapping
from dataclasses import dataclass

import psycopg
from psycopg.rows import TupleRow

from dbgen.python_types import Attribute, PostgresType

Connection = psycopg.Connection[TupleRow]
FUNCTION_SETS = "chatd_fn_"
# A constant, so that the queries below which contain it take no input.
_OURS = f"""
  n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
  AND n.nspname NOT LIKE 'pg\\_temp\\_%' AND n.nspname NOT LIKE 'pg\\_toast\\_%'
  AND NOT starts_with(n.nspname, '{FUNCTION_SETS}')
"""


@dataclass(frozen=True, slots=True)
class TableColumn:
    number: int
    name: str
    type: int
    not_null: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view. `comment` is what COMMENT ON TABLE says."""

    name: str
    is_view: bool
    comment: str
    columns: tuple[TableColumn, ...]

    def column(self, number: int) -> TableColumn | None:
        return next((column for column in self.columns if column.number == number), None)


@dataclass(frozen=True, slots=True)
class Constraints:
    """Names as they come in a violation, each list sorted and without doubles."""

    unique: tuple[str, ...]
    foreign_key: tuple[str, ...]
    check: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    types: Mapping[int, PostgresType]
    enums: Mapping[str, tuple[str, ...]]
    tables: Mapping[int, Table]
    constraints: Constraints


def open_database(dsn: str) -> Connection:
    """Connect as the server does: with the installed function set first in the search path."""
    # psycopg must not prepare statements of its own: it drops all of them, ours too, when it tidies up.
    connection = psycopg.connect(dsn, autocommit=True, prepare_threshold=None, client_encoding="utf8")
    sets = connection.execute(
        """SELECT quote_ident(nspname) FROM pg_namespace WHERE starts_with(nspname, %s)
           ORDER BY oid DESC LIMIT 1""",
        (FUNCTION_SETS,),
    ).fetchall()
    path = ", ".join([*(name for (name,) in sets), "public"])
    connection.execute("SELECT set_config('search_path', %s, false)", (path,))
    return connection


def read_catalogue(connection: Connection) -> Catalogue:
    return Catalogue(
        types=_types(connection),
        enums=_enums(connection),
        tables=_tables(connection),
        constraints=_constraints(connection),
    )


def _types(connection: Connection) -> dict[int, PostgresType]:
    # Only "true" arrays are lists: `name` and `point` have elements too, but a fixed length.
    rows = connection.execute(
        """
        SELECT t.oid::int8, typname, typtype::text, CASE WHEN typcategory = 'A' THEN typelem::int8 ELSE 0 END,
               typbasetype::int8, starts_with(nspname, %s), coalesce(obj_description(t.oid, 'pg_type'), '')
        FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        """,
        (FUNCTION_SETS,),
    )
    attributes = _attributes(connection)
    return {row[0]: PostgresType(*row, attributes=tuple(attributes.get(row[0], ()))) for row in rows}


def _attributes(connection: Connection) -> dict[int, list[Attribute]]:
    """Of each composite type. What Postgres can't say of them, their comments do: `not null` at the start."""
    rows = connection.execute("""
        SELECT c.reltype::int8, a.attname, a.atttypid::int8,
               coalesce(col_description(c.oid, a.attnum) ~* '^not null\\M', false)
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relkind = 'c'
        ORDER BY c.oid, a.attnum
    """)
    found: dict[int, list[Attribute]] = {}
    for owner, *attribute in rows:
        found.setdefault(owner, []).append(Attribute(*attribute))
    return found


def _enums(connection: Connection) -> dict[str, tuple[str, ...]]:
    rows = connection.execute(f"""
        SELECT t.typname, array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
        FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE {_OURS}
        GROUP BY t.typname ORDER BY t.typname COLLATE "C"
    """)  # noqa: S608
    return {name: tuple(labels) for name, labels in rows}


def _tables(connection: Connection) -> dict[int, Table]:
    rows = connection.execute(f"""
        SELECT c.oid::int8, c.relname, c.relkind IN ('v', 'm'),
               coalesce(obj_description(c.oid, 'pg_class'), ''),
               a.attnum, a.attname, a.atttypid::int8, a.attnotnull
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {_OURS}
        ORDER BY c.oid, a.attnum
    """)  # noqa: S608
    tables: dict[int, Table] = {}
    for oid, name, is_view, comment, *column in rows:
        known = tables.get(oid)
        before = known.columns if known else ()
        tables[oid] = Table(name, is_view, comment, (*before, TableColumn(*column)))
    return tables


def _constraints(connection: Connection) -> Constraints:
    # NOT NULL constraints are left out: they have names in the catalogue only since Postgres 18.
    named = {
        kind: tuple(names)
        for kind, names in connection.execute(f"""
            SELECT c.contype::text,
                   array_agg(DISTINCT c.conname::text COLLATE "C" ORDER BY c.conname::text COLLATE "C")
            FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace
            WHERE c.contype IN ('f', 'c') AND {_OURS}
            GROUP BY c.contype
        """)  # noqa: S608
    }
    unique = connection.execute(f"""
        SELECT DISTINCT c.relname::text COLLATE "C"
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE i.indisunique AND {_OURS}
        ORDER BY 1
    """)  # noqa: S608
    return Constraints(
        unique=tuple(name for (name,) in unique),
        foreign_key=named.get("f", ()),
        check=named.get("c", ()),
    )
