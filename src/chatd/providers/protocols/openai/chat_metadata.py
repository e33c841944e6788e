"""What a Chat Completions server wants back: reasoning in the field that it came in, OpenRouter's details of it, and
the signatures that Google puts beside calls.
"""

from typing import Final, Literal

import msgspec

from chatd.core.model import ProtocolName
from chatd.core.parts import ReasoningPart, ToolCallPart
from chatd.providers.protocols.openai.chat_chunks import NOTHING

ReasoningField = Literal["reasoning_content", "reasoning"]


class ChatMetadata(msgspec.Struct, frozen=True, omit_defaults=True):
    """`extra_content` of a call has the signature without which Gemini refuses it."""

    field: ReasoningField | None = None
    details: tuple[msgspec.Raw, ...] = ()
    extra_content: msgspec.Raw = NOTHING

    def text(self) -> str:
        return msgspec.json.encode(self).decode("utf-8", "replace")


_DECODER: Final = msgspec.json.Decoder(ChatMetadata)


def metadata_of(part: ReasoningPart | ToolCallPart) -> ChatMetadata:
    """Empty where there is none, and where it can't be read."""
    stored = part.provider_metadata.get(ProtocolName.OPENAI_CHAT)
    if not stored:
        return ChatMetadata()
    try:
        return _DECODER.decode(stored)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ChatMetadata()
