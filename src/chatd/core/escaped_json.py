"""JSON for names of files: bytes that are no UTF-8 are lone surrogates in Python, and `\\udc80` to `\\udcff` in here.

msgspec does the work; only where it meets such a name, the standard library takes its place.
"""

import json
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def encode(value: msgspec.Struct) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode()


def decode(text: bytes, shape: type[T]) -> T:
    """Raises a `msgspec.MsgspecError`, or another ValueError, for what is not of that shape."""
    try:
        return msgspec.json.decode(text, type=shape)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if b"\\ud" not in text.lower():
            raise
        value: Any = json.loads(text)
        return msgspec.convert(value, shape)
