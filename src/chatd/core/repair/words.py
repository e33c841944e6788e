"""Calls of our tools and their results in words, for a model that takes no tools: it refuses both as what they are."""

import msgspec

from chatd.core.model import PromptMessage
from chatd.core.parts import Part, TextPart, ToolCallPart, ToolResultPart


def in_words(message: PromptMessage) -> PromptMessage:
    """What tools said is text then, which pair_calls has the user say."""
    parts = tuple(_told(part) for part in message.parts)
    return message if parts == message.parts else msgspec.structs.replace(message, parts=parts)


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
