"""What readers were shown of an answer, as a checkpoint holds it: JSON text, read back as it was."""

import json
from collections.abc import Iterable
from typing import Final

import msgspec

from chatd.core.parts import Part
from chatd.core.preview import CallPiece, Preview
from chatd.core.roles import Role


class _Stored(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part, or a piece of a call: as JSON their types look alike."""

    role: Role
    part: Part | None = None
    piece: CallPiece | None = None


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(list[_Stored])


def encode_previews(previews: Iterable[Preview]) -> str:
    """Never fails, whatever the texts are."""
    stored = [_to_store(preview) for preview in previews]
    try:
        return _ENCODER.encode(stored).decode()
    except UnicodeEncodeError:  # a lone surrogate, which only this encoder spells out
        return json.dumps(msgspec.to_builtins(stored))


def decode_previews(text: str) -> list[Preview]:
    """Raises msgspec.DecodeError or ValueError when it is none of ours, or of a newer chatd."""
    try:
        stored = _DECODER.decode(text)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        stored = msgspec.convert(json.loads(text), list[_Stored])
    return [Preview(item.role, part) for item in stored if (part := item.part or item.piece)]


def _to_store(preview: Preview) -> _Stored:
    part = preview.part
    return _Stored(preview.role, piece=part) if isinstance(part, CallPiece) else _Stored(preview.role, part)
