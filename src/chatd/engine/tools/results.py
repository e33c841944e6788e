"""Results that fit into a model's context, whatever a tool has to say."""

from typing import Final

import msgspec

from chatd.core.cut import cut_middle
from chatd.engine.tools.tool import ToolOutput

_SMALLEST_BYTES: Final = 16 * 1024  # however small the window: less would be of no use
_UNKNOWN_BYTES: Final = 64 * 1024  # when the window is not known


class Capped(msgspec.Struct, frozen=True):
    output: ToolOutput
    removed: int  # bytes


def result_budget(context_limit: int) -> int:
    """Bytes: a third of the window, at three bytes a token."""
    return max(_SMALLEST_BYTES, context_limit // 3 * 3) if context_limit > 0 else _UNKNOWN_BYTES


def capped(output: ToolOutput, budget: int) -> Capped:
    """Media is never cut: half an image is none."""
    if output.is_media or len(output.result) <= budget // 4 or len(output.result.encode("utf-8", "replace")) <= budget:
        return Capped(output, 0)
    name = "error" if output.is_error else "output"
    # Escapes make a text longer: cut again by how much it was.
    room = budget
    while True:
        cut = cut_middle(_words(output.result, name), room)
        result = msgspec.json.encode({name: cut.text}).decode()
        over = len(result.encode()) - budget
        if over <= 0 or room <= 1:
            return Capped(msgspec.structs.replace(output, result=result), cut.removed)
        room = max(1, room - max(over, 64))


def _words(result: str, name: str) -> str:
    """The text itself where the result is nothing but a text."""
    try:
        read = msgspec.json.decode(result, type=dict[str, object])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return result
    only = read.get(name)
    return only if len(read) == 1 and isinstance(only, str) else result
