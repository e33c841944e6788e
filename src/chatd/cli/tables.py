"""Tables on a terminal, and the same rows as JSON for programs."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from chatd.cli.terminal_text import harmless

_WIDE = 10_000


def show(rows: Sequence[Mapping[str, object]], *, columns: Sequence[str], as_json: bool, empty: str) -> None:
    """Print rows; `empty` is what to say when there are none."""
    if as_json:
        print(json_text(rows))
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


def json_text(value: object) -> str:
    """In lines. JSON leaves some of what commands a terminal as it is; there it is taken out."""
    try:
        text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except UnicodeEncodeError:  # names of files that are no UTF-8, as `core/escaped_json.py` has them
        text = json.dumps(msgspec.to_builtins(value), indent=2)
    return harmless(text) if sys.stdout.isatty() else text


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return "" if value is None else harmless(str(value))
