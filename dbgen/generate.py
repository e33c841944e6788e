"""From a migrated database and the SQL files to the text of every generated file."""

from collections.abc import Sequence
from pathlib import Path

from dbgen.catalogue import open_database, read_catalogue
from dbgen.hand_written import read_interface
from dbgen.interface import Method, query_method
from dbgen.layout import Layout
from dbgen.model import Resolved
from dbgen.outputs.authorized import authorized_py
from dbgen.outputs.constraints import constraints_py
from dbgen.outputs.encrypted import encrypted_py
from dbgen.outputs.metered import metered_py
from dbgen.outputs.queries import queries_py
from dbgen.outputs.schema import schema_sql
from dbgen.problems import Problem, Refused
from dbgen.query_files import read_queries
from dbgen.resolve import resolve
from dbgen.ruff import formatted


def generate(dsn: str, layout: Layout, pg_dump: Path) -> dict[Path, str]:
    """Every generated file with its text; nothing is written.

    `dsn` names a database with all migrations applied. Raises Refused with everything that is wrong.
    """
    sources = read_queries(layout.sql)
    with open_database(dsn) as connection:
        catalogue = read_catalogue(connection)
        resolved = resolve(sources, connection, catalogue)
    custom = _custom_methods(layout, resolved)
    methods = [*(query_method(query, layout) for query in resolved.queries), *custom]
    texts = {
        "queries.py": formatted(queries_py(resolved, layout), layout, "queries.py"),
        "constraints.py": formatted(constraints_py(catalogue.constraints), layout, "constraints.py"),
        **_layers(resolved, methods, custom, layout),
        "schema.sql": schema_sql(dsn, pg_dump),
    }
    return {layout.file(name): text for name, text in texts.items()}


def _custom_methods(layout: Layout, resolved: Resolved) -> list[Method]:
    file = "custom_queries.py"
    if not layout.file(file).is_file():
        return []
    custom = read_interface(layout, file, "CustomQueries")
    taken = {query.name: query.source for query in resolved.queries}
    problems = [
        Problem(file, query=method.name, message=f"the name is taken by {source.file}:{source.line}")
        for method in custom
        if (source := taken.get(method.name)) is not None
    ]
    if problems:
        raise Refused(problems)
    return custom


def _layers(resolved: Resolved, methods: Sequence[Method], custom: Sequence[Method], layout: Layout) -> dict[str, str]:
    """The three wrappers; the problems of all of them are told together."""
    writers = {
        "metered.py": lambda: metered_py(methods, layout),
        "encrypted.py": lambda: encrypted_py(resolved, custom, layout),
        "authorized.py": lambda: authorized_py(methods, layout),
    }
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for name, write in writers.items():
        try:
            texts[name] = write()
        except Refused as refused:
            problems += refused.problems
    if problems:
        raise Refused(problems)
    return texts
