"""The blocks of an answer of Anthropic's while they are open, and what of them is sent back in the next request.

What goes back with the next request, as JSON text:

  text              {"citations": [...]}, if there are any
  thinking          {"type": "thinking", "signature": ...}
  redacted thinking {"type": "redacted_thinking", "data": ...}
  tool use          what the block had besides type, id, name and input
  any *_tool_use    the whole block, and any *_tool_result likewise: the vendor's own calls and results
"""

from typing import Final

import msgspec

from chatd.core.model import BlockEnded, ModelEvent, ToolCallDelta
from chatd.providers.protocols.anthropic import events as wire

READ_ERRORS: Final = (msgspec.DecodeError, ValueError, RecursionError)


class OpenText:
    def __init__(self) -> None:
        self.citations: list[bytes] = []


class OpenThinking:
    def __init__(self, signature: str) -> None:
        self.signatures = [signature] if signature else []


class OpenRedacted:
    def __init__(self, data: str) -> None:
        self.data = data


class OpenCall:
    """`fields` is the block as it began; its input comes in pieces, or was there at once."""

    def __init__(self, fields: dict[str, msgspec.Raw], *, is_vendors: bool) -> None:
        self.fields = fields
        self.is_vendors = is_vendors
        self.has_pieces = False
        self.pieces: list[str] = []  # of the vendor's own call, to send it back whole


class Skipped:
    """A block of a type that we do not know, or that has said all it has to."""


OpenBlock = OpenText | OpenThinking | OpenRedacted | OpenCall | Skipped


def ended(index: int, block: OpenBlock) -> list[ModelEvent]:
    """The last events of the block."""
    match block:
        case OpenText():
            return [BlockEnded(index, _citations(block.citations))]
        case OpenThinking():
            signature = "".join(block.signatures)
            return [BlockEnded(index, _json({"type": "thinking", "signature": signature}) if signature else "")]
        case OpenRedacted():
            return [BlockEnded(index, _json({"type": "redacted_thinking", "data": block.data}))]
        case OpenCall():
            return _end_call(index, block)
        case Skipped():
            return []


def _end_call(index: int, call: OpenCall) -> list[ModelEvent]:
    said: list[ModelEvent] = []
    fields = call.fields
    given = bytes(fields.pop("input", msgspec.Raw())).decode()
    if not call.has_pieces and given not in ("", "{}", "null"):
        said.append(ToolCallDelta(index, given))
    if call.is_vendors:
        args = "".join(call.pieces) or given
        metadata = _json({**fields, "input": msgspec.Raw(args.encode() if _is_object(args) else b"{}")})
    else:
        extra = {name: value for name, value in fields.items() if name not in ("type", "id", "name")}
        metadata = _json(extra) if extra else ""
    return [*said, BlockEnded(index, metadata)]


def _citations(citations: list[bytes]) -> str:
    return _json({"citations": [msgspec.Raw(citation) for citation in citations]}) if citations else ""


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _is_object(text: str) -> bool:
    try:
        wire.FIELDS.decode(text)
    except READ_ERRORS:
        return False
    return True
