"""What Anthropic's Messages API streams, as types: only the fields that we read, decoded once per event."""

from typing import Final

import msgspec


class _Tagged(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    pass


class TextPiece(_Tagged, frozen=True, tag="text_delta"):
    text: str


class ThinkingPiece(_Tagged, frozen=True, tag="thinking_delta"):
    thinking: str


class InputPiece(_Tagged, frozen=True, tag="input_json_delta"):
    partial_json: str


class SignaturePiece(_Tagged, frozen=True, tag="signature_delta"):
    signature: str


class CitationPiece(_Tagged, frozen=True, tag="citations_delta"):
    citation: msgspec.Raw


Piece = TextPiece | ThinkingPiece | InputPiece | SignaturePiece | CitationPiece
PIECE_TYPES: Final = frozenset(
    ("text_delta", "thinking_delta", "input_json_delta", "signature_delta", "citations_delta")
)


class _OutputDetails(msgspec.Struct, frozen=True, gc=False):
    thinking_tokens: int | None = None


class WireUsage(msgspec.Struct, frozen=True, gc=False):
    """Cumulative. What is missing or null has not changed."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: _OutputDetails | None = None


class _Message(msgspec.Struct, frozen=True, gc=False):
    usage: WireUsage | None = None


class _StopDetails(msgspec.Struct, frozen=True, gc=False):
    category: str | None = None
    explanation: str | None = None


class _Stop(msgspec.Struct, frozen=True, gc=False):
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None


class ErrorBody(msgspec.Struct, frozen=True, gc=False):
    type: str | None = None
    message: str | None = None


class PieceCame(_Tagged, frozen=True, tag="content_block_delta"):
    index: int
    delta: Piece


class BlockBegan(_Tagged, frozen=True, tag="content_block_start"):
    index: int
    content_block: msgspec.Raw


class BlockStopped(_Tagged, frozen=True, tag="content_block_stop"):
    index: int


class MessageBegan(_Tagged, frozen=True, tag="message_start"):
    message: _Message


class MessageChanged(_Tagged, frozen=True, tag="message_delta"):
    delta: _Stop
    usage: WireUsage | None = None


class MessageStopped(_Tagged, frozen=True, tag="message_stop"):
    pass


class Pinged(_Tagged, frozen=True, tag="ping"):
    pass


class Failed(_Tagged, frozen=True, tag="error"):
    error: ErrorBody


Event = PieceCame | BlockBegan | BlockStopped | MessageBegan | MessageChanged | MessageStopped | Pinged | Failed
EVENT: Final = msgspec.json.Decoder(Event)
EVENT_TYPES: Final = frozenset(
    (
        "content_block_delta",
        "content_block_start",
        "content_block_stop",
        "message_start",
        "message_delta",
        "message_stop",
        "ping",
        "error",
    )
)


class _TypeOnly(msgspec.Struct, frozen=True, gc=False):
    type: str = ""


class _DeltaOnly(msgspec.Struct, frozen=True, gc=False):
    delta: _TypeOnly


class _ErrorOnly(msgspec.Struct, frozen=True, gc=False):
    error: ErrorBody


# What can be said of an event that is none of the known ones. Some gateways send an error without a type.
TYPE_ONLY: Final = msgspec.json.Decoder(_TypeOnly)
DELTA_ONLY: Final = msgspec.json.Decoder(_DeltaOnly)
ERROR_ONLY: Final = msgspec.json.Decoder(_ErrorOnly)


class Block(msgspec.Struct, frozen=True, gc=False):
    """A block as it begins; which fields it has depends on its type."""

    type: str
    text: str = ""
    citations: tuple[msgspec.Raw, ...] | None = None
    thinking: str = ""
    signature: str | None = None
    data: str = ""
    id: str = ""
    name: str = ""
    tool_use_id: str = ""
    content: msgspec.Raw = msgspec.Raw()
    is_error: bool | None = None


BLOCK: Final = msgspec.json.Decoder(Block)
FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Citation(msgspec.Struct, frozen=True, gc=False):
    """The fields of a citation of the web; citations of documents have others."""

    url: str | None = None
    title: str | None = None


CITATION: Final = msgspec.json.Decoder(Citation)


class SearchHit(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A result of a web search as people may see it: without the encrypted text, which is for the vendor only."""

    url: str
    title: str | None = None
    page_age: str | None = None


SEARCH_HITS: Final = msgspec.json.Decoder(tuple[SearchHit, ...])


class AmazonException(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The payload of an exception in Bedrock's stream."""

    message: str | None = None
    original_message: str | None = None
    original_status_code: int | None = None


AMAZON_EXCEPTION: Final = msgspec.json.Decoder(AmazonException)
