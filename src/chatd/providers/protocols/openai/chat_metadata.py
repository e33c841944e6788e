"""What a Chat Completions server wants back with reasoning: the field that it came in, and OpenRouter's details."""

from typing import Final, Literal

import msgspec

from chatd.core.model import ProtocolName
from chatd.core.parts import ReasoningPart

ReasoningField = Literal["reasoning_content", "reasoning"]


class ReasoningMetadata(msgspec.Struct, frozen=True, omit_defaults=True):
    field: ReasoningField | None = None
    details: tuple[msgspec.Raw, ...] = ()

    def text(self) -> str:
        return msgspec.json.encode(self).decode("utf-8", "replace")


_DECODER: Final = msgspec.json.Decoder(ReasoningMetadata)


def metadata_of(part: ReasoningPart) -> ReasoningMetadata:
    """Empty where there is none, and where it can't be read."""
    stored = part.provider_metadata.get(ProtocolName.OPENAI_CHAT)
    if not stored:
        return ReasoningMetadata()
    try:
        return _DECODER.decode(stored)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ReasoningMetadata()
