"""What exports say in words: who speaks, when, how long a thought took, what a tool was given and gave."""

from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from chatd.core import compaction
from chatd.core.messages import Message
from chatd.core.parts import FileReferencePart, ReasoningPart, ToolCallPart
from chatd.core.plain_text import one_line
from chatd.core.roles import Role
from chatd.core.said_text import clipped
from chatd.core.valid_text import valid_text
from chatd.wire.chats import Chat

_ANY_JSON: Final = msgspec.json.Decoder()
_ARGUMENTS: Final = msgspec.json.Decoder(dict[str, Any])
_HINT_LONGEST: Final = 60  # characters: beside the name of a tool, on one line
_HINT_BYTES: Final = 1000


def speaker(message: Message, chat: Chat) -> str:
    if message.role is Role.USER:
        return (chat.owner_username or "User") if message.created_by in (None, chat.owner_id) else "User"
    return message.role.capitalize()


def moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def thought(part: ReasoningPart) -> str:
    try:
        seconds = (datetime.fromisoformat(part.completed_at) - datetime.fromisoformat(part.created_at)).total_seconds()
    except (ValueError, TypeError):
        return "Thought"
    return f"Thought for {seconds:.0f} s" if seconds >= 1 else "Thought"


def is_summary(call: ToolCallPart) -> bool:
    return call.tool_name == compaction.TOOL_NAME


SUMMARISED: Final = "Summarised the conversation"


def hint(call: ToolCallPart) -> str:
    """What the call is about, in a few words: the first text that it was given."""
    try:
        given = _ARGUMENTS.decode(call.args)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ""
    first = next((value for value in given.values() if isinstance(value, str)), "")
    return clipped(one_line(first, _HINT_BYTES), _HINT_LONGEST)


def reference(part: FileReferencePart) -> str:
    lines = f"{part.start_line}" if part.end_line <= part.start_line else f"{part.start_line}\u2013{part.end_line}"
    return f"{valid_text(part.file_name)}, {'line' if part.end_line <= part.start_line else 'lines'} {lines}"


def readable(json_text: str) -> str:
    """Arguments and results as people read them: JSON in lines, and a text as itself."""
    try:
        value = _ANY_JSON.decode(json_text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return valid_text(json_text)
    if isinstance(value, str):
        return valid_text(value)
    return valid_text(msgspec.json.format(valid_text(json_text), indent=2))
