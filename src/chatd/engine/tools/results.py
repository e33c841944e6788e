"""Results that fit into a model's context, whatever a tool has to say."""

from typing import Final

import msgspec

from chatd.core.cut import Cut, cut_middle, json_bytes
from chatd.core.valid_text import valid_json_text
from chatd.engine.tools.tool import ToolOutput, is_json_object

_SMALLEST_BYTES: Final = 16 * 1024  # however small the window: less would be of no use
_UNKNOWN_BYTES: Final = 64 * 1024  # when the window is not known
_HINT: Final = "Ask for less: a range, a filter, a narrower question."


class Capped(msgspec.Struct, frozen=True):
    output: ToolOutput
    removed: int  # bytes


def result_budget(context_limit: int) -> int:
    """Bytes: a third of the window, at three bytes a token."""
    return max(_SMALLEST_BYTES, context_limit // 3 * 3) if context_limit > 0 else _UNKNOWN_BYTES


def capped(output: ToolOutput, budget: int) -> Capped:
    """The result as it is stored: a JSON object of at most so many bytes, without half characters.

    Media is never cut: half an image is none.
    """
    result = valid_json_text(output.result)
    name = "error" if output.is_error else "output"
    removed = 0
    if not is_json_object(result):
        result, removed = _wrapped(result, name, budget)
    elif not output.is_media and len(result.encode()) > budget:
        result, removed = _wrapped(_words(result, name), name, budget)
    return Capped(output if result is output.result else msgspec.structs.replace(output, result=result), removed)


def _wrapped(text: str, name: str, budget: int) -> tuple[str, int]:
    room = budget - len(msgspec.json.encode({name: ""}))
    cut: Cut = cut_middle(text, room, hint=_HINT, weigh=json_bytes)
    return msgspec.json.encode({name: cut.text}).decode(), cut.removed


def _words(result: str, name: str) -> str:
    """The text itself where the result is nothing but a text."""
    try:
        read = msgspec.json.decode(result, type=dict[str, object])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return result
    only = read.get(name)
    return only if len(read) == 1 and isinstance(only, str) else result
