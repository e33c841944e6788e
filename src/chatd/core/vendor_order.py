"""Where in a message that stands which a provider ran itself: its result right after its call, before any call of ours.

The results of our own calls are in the messages that follow, so nothing of the provider's may come between.
"""

from collections.abc import Sequence

from chatd.core.parts import Part, ToolCallPart, ToolResultPart


def vendor_first(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The same parts. All else keeps its order: vendors want to see again what they signed where they signed it."""
    if not any(isinstance(part, ToolCallPart | ToolResultPart) and part.provider_executed for part in parts):
        return tuple(parts)
    results: dict[str, list[Part]] = {
        part.tool_call_id: [] for part in parts if isinstance(part, ToolCallPart) and part.provider_executed
    }
    for part in parts:
        if isinstance(part, ToolResultPart) and part.provider_executed and part.tool_call_id in results:
            results[part.tool_call_id].append(part)
    ordered: list[Part] = []
    behind: list[Part] = []  # what came after a call of ours
    first_local: int | None = None
    for part in parts:
        match part:
            case ToolCallPart(provider_executed=True):
                place = ordered if first_local is None else behind
                place.append(part)
                place.extend(results[part.tool_call_id])
                results[part.tool_call_id] = []
            case ToolResultPart(provider_executed=True) if part.tool_call_id in results:
                pass  # it stands with its call
            case _:
                if isinstance(part, ToolCallPart) and first_local is None:
                    first_local = len(ordered)
                ordered.append(part)
    if first_local is not None:
        ordered[first_local:first_local] = behind
    return tuple(ordered)
