"""What one step leaves to do: the calls of an answer that are ours to run."""

from collections.abc import Sequence

from chatd.core.parts import AnyPart, ToolCallPart


def local_calls(parts: Sequence[AnyPart]) -> tuple[ToolCallPart, ...]:
    """The calls that we have to run, in order."""
    return tuple(part for part in parts if isinstance(part, ToolCallPart) and not part.provider_executed)
