"""What a step that was cut short leaves in the history: everything that the user has seen of it."""

from collections.abc import Mapping

from chatd.core.messages import NewMessage
from chatd.core.parts import ToolCallPart, ToolResultPart
from chatd.core.roles import Role


def interrupted_messages(answer: NewMessage, results: Mapping[str, ToolResultPart]) -> list[NewMessage]:
    """The answer as far as it came, and the results that are there, in the order of its calls. Calls without one are
    answered by `finish_interruption` itself. Nothing for an answer that never began."""
    if not answer.parts:
        return []
    calls = [part for part in answer.parts if isinstance(part, ToolCallPart) and not part.provider_executed]
    done = [results[call.tool_call_id] for call in calls if call.tool_call_id in results]
    return [answer, *(NewMessage(role=Role.TOOL, parts=(result,)) for result in done)]
