"""What one step leaves in the history: the answer, and a message for each result of a local tool."""

from collections.abc import Sequence

from chatd.core.accumulate import Answer
from chatd.core.parts import Part, ToolCallPart, ToolResultPart


def ordered(answer: Answer) -> tuple[Part, ...]:
    """The parts of the assistant's message: what the provider ran itself stands right after its call, and all of that
    before any call of ours. Everything else keeps its order."""
    results = {
        part.tool_call_id: part for part in answer.parts if isinstance(part, ToolResultPart) and part.provider_executed
    }
    calls = {part.tool_call_id for part in answer.parts if isinstance(part, ToolCallPart) and part.provider_executed}
    first: list[Part] = []
    local: list[Part] = []
    for part in answer.parts:
        match part:
            case ToolCallPart(provider_executed=False):
                local.append(part)
            case ToolCallPart():
                first.append(part)
                if result := results.get(part.tool_call_id):
                    first.append(result)
            case ToolResultPart(provider_executed=True) if part.tool_call_id in calls:
                pass  # it stands with its call
            case _:
                first.append(part)
    return (*first, *local)


def local_calls(parts: Sequence[Part]) -> tuple[ToolCallPart, ...]:
    """The calls that we have to run, in order."""
    return tuple(part for part in parts if isinstance(part, ToolCallPart) and not part.provider_executed)
