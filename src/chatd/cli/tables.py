"""Tables on a terminal, and the same rows as JSON for programs."""

import sys
from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

_WIDE = 10_000


def show(rows: Sequence[Mapping[str, object]], *, columns: Sequence[str], as_json: bool, empty: str) -> None:
    """Print rows; `empty` is what to say when there are none."""
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
        return
    if not rows:
        print(empty)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(row[column])) for column in columns))  # as it is: names may hold markup
    # Off a terminal nobody sees the edge, and a value cut in two can't be read by a program.
    Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE).print(table)


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return "" if value is None else str(value)
