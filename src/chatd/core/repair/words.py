"""Calls of our tools and their results in words, for a model that takes no tools: it refuses both as what they are."""

import msgspec

from chatd.core.model import PromptMessage
from chatd.core.parts import Part, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role


def in_words(message: PromptMessage) -> PromptMessage:
    """What tools said is said by the user then."""
    parts = tuple(_told(part) for part in message.parts)
    if parts == message.parts:
        return message
    return msgspec.structs.replace(message, role=Role.USER if message.role is Role.TOOL else message.role, parts=parts)


def result_in_words(result: ToolResultPart) -> str:
    """Media is not told: repair_parts has made a text of what a model can't see."""
    failed = " (failed)" if result.is_error else ""
    said = "media that can't be shown here" if result.is_media else result.result
    return f"[result of {result.tool_name or 'a tool'}{failed}] {said}"


def _told(part: Part) -> Part:
    match part:
        case ToolCallPart(provider_executed=False):
            return TextPart(text=f"[call of {part.tool_name}] {part.args}")
        case ToolResultPart(provider_executed=False):
            return TextPart(text=result_in_words(part))
        case _:
            return part
