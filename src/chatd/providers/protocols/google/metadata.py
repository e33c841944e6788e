"""What Gemini wants to see again with a part, kept as metadata of the part that it became.

A signature goes back on the very part that it came with. What the vendor ran itself goes back as it came.
"""

from typing import Final

import msgspec

from chatd.core.model import ProtocolName
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.providers.protocols.google.events import ABSENT


class PartMetadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    thought_signature: str = ""
    function_call_id: str = ""  # the vendor's own; most calls have none
    is_text: bool = False  # a signature that came with an empty text, kept as a thought without words
    executable_code: msgspec.Raw = ABSENT
    code_execution_result: msgspec.Raw = ABSENT
    tool_call: msgspec.Raw = ABSENT
    tool_response: msgspec.Raw = ABSENT
    inline_data: bool = False  # the result's own JSON has it

    def text(self) -> str:
        """Empty if there is nothing to keep."""
        return "" if self == NOTHING else msgspec.json.encode(self).decode("utf-8", "replace")


_DECODER: Final = msgspec.json.Decoder(PartMetadata)
NOTHING: Final = PartMetadata()


def metadata_of(part: TextPart | ReasoningPart | ToolCallPart | ToolResultPart) -> PartMetadata:
    """Empty where there is none, and where it can't be read."""
    stored = part.provider_metadata.get(ProtocolName.GOOGLE_GEMINI)
    if not stored:
        return NOTHING
    try:
        return _DECODER.decode(stored)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return NOTHING
