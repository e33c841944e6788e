"""What one step leaves in the history: the answer, and a message for each result of a local tool."""

from collections.abc import Sequence

from chatd.core.accumulate import Answer
from chatd.core.parts import AnyPart, Part, ToolCallPart
from chatd.core.vendor_order import vendor_first


def ordered(answer: Answer) -> tuple[Part, ...]:
    """The parts of the assistant's message, none of them lost."""
    return vendor_first(answer.parts)


def local_calls(parts: Sequence[AnyPart]) -> tuple[ToolCallPart, ...]:
    """The calls that we have to run, in order."""
    return tuple(part for part in parts if isinstance(part, ToolCallPart) and not part.provider_executed)
