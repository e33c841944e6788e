"""Calls of tools and what came of them, in a few lines."""

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from chatd.cli.terminal_text import cut_line, harmless, one_line
from chatd.cli.workspace_lines import about_call, about_result, is_failure
from chatd.core import compaction

RESULT_LINES: Final = 5  # of a result: enough to see what came, few enough to scroll by
LIVE_LINES: Final = 5  # of what a running tool says
_LONGEST: Final = 64 * 1024  # characters of a result that are looked at


def call_line(part: Mapping[str, Any], width: int) -> str:
    if part.get("tool_name") == compaction.TOOL_NAME:
        return "● summarising the chat so far"
    name, args = str(part.get("tool_name", "")), part.get("args")
    about = about_call(name, args)
    return one_line(f"● {name} {_json(args or None) if about is None else about}".rstrip(), width)


def result_lines(part: Mapping[str, Any], width: int) -> list[str]:
    name, result = part.get("tool_name", ""), part.get("result")
    if name == compaction.TOOL_NAME:
        name, result = "summarised", _summary(result)
    head = f"{'✗' if part.get('is_error') or is_failure(result) else '✓'} {name}"
    about = about_result(str(name), result)
    lines = [line for line in (_text(result) if about is None else about).splitlines() if line.strip()]
    if len(lines) <= 1:
        return [f"  {one_line(' '.join([head, *lines]), width - 2)}"]
    shown = [f"  {one_line(head, width - 2)}", *(f"    {cut_line(line, width - 4)}" for line in lines[:RESULT_LINES])]
    more = len(lines) - RESULT_LINES
    return [*shown, f"    … {more} more {'line' if more == 1 else 'lines'}"] if more > 0 else shown


def live_lines(said: Mapping[str, str], names: Mapping[str, str], width: int) -> list[str]:
    """What running tools say now: the last lines of one, or the last one of each."""
    if len(said) == 1:
        [text] = said.values()
        lines = [line for line in harmless(text).splitlines() if line.strip()]
        return [f"  │ {cut_line(line, width - 4)}" for line in lines[-LIVE_LINES:]]
    shown: list[str] = []
    for call, text in list(said.items())[-LIVE_LINES:]:
        last = (text.strip().splitlines() or [""])[-1]
        shown.append(f"  │ {one_line(f'{names.get(call)}: {last}', width - 4)}")
    return shown


def _summary(result: object) -> object:
    """Without the figures of the compaction, which say nothing to who reads along."""
    return cast("dict[str, Any]", result).get("summary", result) if isinstance(result, dict) else result


def _text(value: object) -> str:
    """A text as itself, an object field by field."""
    if not isinstance(value, dict):
        return _json(value)
    fields = cast("dict[str, Any]", value)
    if len(fields) == 1:
        return _json(next(iter(fields.values())))
    return "\n".join(_field(name, field) for name, field in fields.items() if field not in (None, ""))


def _field(name: str, value: object) -> str:
    text = _json(value)
    return f"{name}:\n{text}" if "\n" in text.strip() else f"{name}: {text}"


def _json(value: object) -> str:
    """As short as it takes: a text as itself."""
    if value is None:
        return ""
    return (
        value[:_LONGEST] if isinstance(value, str) else msgspec.json.encode(value)[:_LONGEST].decode(errors="replace")
    )
