"""What the Responses API wants to see again with an item, kept as metadata of the parts that it became.

An item that followed reasoning depends on it: sent back by its id without that reasoning item, or reasoning without the
item that followed it, is refused. `reasoning` names the reasoning item that an item depends on, so that the request can
keep the two together or send the item without its id, as new.
"""

from typing import Final

import msgspec

from chatd.core.model import ProtocolName
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart

NO_ITEM: Final = msgspec.Raw(b"")


class ItemMetadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str = ""
    reasoning: str = ""
    directly: bool = False  # it stood right after that reasoning: the item that the reasoning can't be without
    phase: str | None = None  # `commentary` or `final_answer`
    annotations: tuple[msgspec.Raw, ...] = ()
    refusal: bool = False
    encrypted_content: str = ""
    raw_reasoning: bool = False  # the text is the reasoning itself, not a summary: models with open weights
    item: msgspec.Raw = NO_ITEM  # of a call that the vendor ran itself, as it came

    def text(self) -> str:
        return msgspec.json.encode(self).decode("utf-8", "replace")


_DECODER: Final = msgspec.json.Decoder(ItemMetadata)
_NONE: Final = ItemMetadata()


def metadata_of(part: TextPart | ReasoningPart | ToolCallPart) -> ItemMetadata:
    """Empty where there is none, and where it can't be read."""
    stored = part.provider_metadata.get(ProtocolName.OPENAI_RESPONSES)
    if not stored:
        return _NONE
    try:
        return _DECODER.decode(stored)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _NONE
