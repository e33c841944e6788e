"""What every vendor wants of a history, checked without any of the code that repairs one."""

import json
import re
from collections.abc import Sequence

from chatd.core.model import PromptMessage, ProtocolName
from chatd.core.parts import FilePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role

_ALLOWED = {
    Role.SYSTEM: (TextPart,),
    Role.USER: (TextPart, FilePart),
    Role.ASSISTANT: (TextPart, ReasoningPart, ToolCallPart, ToolResultPart),
    Role.TOOL: (ToolResultPart,),
}
_IDS = {
    ProtocolName.ANTHROPIC_MESSAGES: "[a-zA-Z0-9_-]{1,64}",
    ProtocolName.OPENAI_RESPONSES: "[a-zA-Z0-9_-]{1,64}",
    ProtocolName.GOOGLE_GEMINI: "[a-zA-Z0-9_-]{1,64}",
    ProtocolName.OPENAI_CHAT: "[a-zA-Z0-9]{9}",  # as Mistral has it; a server's own ids are its own affair
}
_OWN_CHAT_ID = "[!-~]{1,40}"


def problems(messages: Sequence[PromptMessage], protocol: ProtocolName, provider: str) -> list[str]:
    """Empty for a history that a vendor takes."""
    found: list[str] = []
    latest = max((place for place, one in enumerate(messages) if one.role is not Role.TOOL), default=-1)
    unanswered: dict[str, str] = {}
    used: set[str] = set()
    for place, message in enumerate(messages):

        def wrong(what: str, place: int = place) -> None:
            found.append(f"{place}: {what}")

        is_own = message.role is Role.ASSISTANT and message.origin == provider
        if not message.parts:
            wrong("it is empty")
        if message.role is not Role.TOOL and unanswered:
            wrong(f"calls without results before it: {sorted(unanswered)}")
            unanswered.clear()
        # What nobody has spoken after, the vendor may go on with.
        may_be_open = protocol is ProtocolName.ANTHROPIC_MESSAGES and place == latest
        ids = _OWN_CHAT_ID if protocol is ProtocolName.OPENAI_CHAT and is_own else _IDS[protocol]
        vendors_call: ToolCallPart | None = None
        has_local_call = False
        for part in message.parts:
            if not isinstance(part, _ALLOWED[message.role]):
                wrong(f"a {type(part).__name__} in a message of role {message.role}")
                continue
            if vendors_call is not None and not (isinstance(part, ToolResultPart) and part.provider_executed):
                if not may_be_open:
                    wrong("a call of the vendor's own without its result right behind")
                vendors_call = None
            metadata = getattr(part, "provider_metadata", {})
            if metadata and (not is_own or set(metadata) != {str(protocol)}):
                wrong("metadata of someone else")
            match part:
                case TextPart():
                    if not part.text.strip():
                        wrong("an empty text")
                case ReasoningPart():
                    if not is_own:
                        wrong("reasoning of another vendor")
                    if not part.text.strip() and not metadata:
                        wrong("empty reasoning")
                case ToolCallPart():
                    if not re.fullmatch(ids, part.tool_call_id) or part.tool_call_id in used:
                        wrong(f"a bad or repeated id: {part.tool_call_id}")
                    used.add(part.tool_call_id)
                    if not part.provider_executed and not re.fullmatch("[a-zA-Z0-9_-]{1,64}", part.tool_name):
                        wrong(f"a call of a bad name: {part.tool_name}")
                    if not isinstance(json.loads(part.args), dict):
                        wrong("arguments that are no object")
                    if part.provider_executed:
                        vendors_call = part
                        if not is_own or has_local_call:
                            wrong("a call of a vendor's own that is another's, or behind one of ours")
                        if protocol is ProtocolName.ANTHROPIC_MESSAGES and not metadata:
                            wrong("a call of the vendor's own that can't be written")
                    else:
                        has_local_call = True
                        unanswered[part.tool_call_id] = part.tool_name
                case ToolResultPart() if part.provider_executed:
                    if vendors_call is None or vendors_call.tool_call_id != part.tool_call_id:
                        wrong("a result of a vendor's own without its call")
                    if protocol is ProtocolName.ANTHROPIC_MESSAGES and not metadata:
                        wrong("a result of the vendor's own that can't be written")
                    vendors_call = None
                case ToolResultPart():
                    if message.role is not Role.TOOL:
                        wrong("a result outside of a tool's message")
                    elif unanswered.pop(part.tool_call_id, None) != part.tool_name:
                        wrong("a result without a call, or of another name")
                case _:
                    pass
        if vendors_call is not None and not may_be_open:
            wrong("a call of the vendor's own without a result")
    if unanswered:
        found.append(f"calls without results at the end: {sorted(unanswered)}")
    return found
