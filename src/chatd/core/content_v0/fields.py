"""The fields of one JSON object, taken out one by one, so that what nobody took is known and can be kept."""

from typing import Final

import msgspec

# The name under which provider metadata holds what a part has no field for, as a JSON object. It names no provider, so
# it is never replayed to one.
LEFT_OVER: Final = "content-version-0"

# Values that say no more than a missing field does.
_SAYS_NOTHING: Final = frozenset({b"null", b'""', b"false", b"{}", b"[]"})

_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXT: Final = msgspec.json.Decoder(str)
_TEXT_OR_NULL: Final = msgspec.json.Decoder(str | None)
_FLAG_OR_NULL: Final = msgspec.json.Decoder(bool | None)
_ANY_JSON: Final = msgspec.json.Decoder(msgspec.Raw)


class Fields:
    """What is left of an object. Taking a field as something that it is not raises msgspec.ValidationError."""

    def __init__(self, json_object: bytes) -> None:
        self._left = {name: bytes(raw) for name, raw in _OBJECT.decode(json_object).items()}

    def names(self) -> set[str]:
        return set(self._left)

    def holds_object(self, name: str) -> bool:
        return self._left.get(name, b"").startswith(b"{")

    def holds_text(self, name: str) -> bool:
        return self._left.get(name, b"").startswith(b'"')

    def is_empty(self) -> bool:
        """Whether nothing that says anything is left."""
        return _SAYS_NOTHING.issuperset(self._left.values())

    def take(self, name: str) -> bytes | None:
        """The JSON of a field, None when it is missing or null."""
        raw = self._left.pop(name, b"null")
        return None if raw == b"null" else raw

    def take_text(self, name: str) -> str:
        return _TEXT_OR_NULL.decode(self._left.pop(name, b"null")) or ""

    def take_flag(self, name: str) -> bool:
        return _FLAG_OR_NULL.decode(self._left.pop(name, b"null")) or False

    def take_json_text(self, name: str) -> str:
        """A field that holds a JSON value, as JSON text; see `json_text_of`."""
        raw = self.take(name)
        return "" if raw is None else json_text_of(raw)

    def take_metadata(self, *names: str) -> dict[str, str]:
        """Provider metadata out of fields by provider. Call it last: everything that is left goes into it as well.

        Where two of the fields speak of the same provider, the first one counts and the other is left over.
        `LEFT_OVER` is nobody's to use.
        """
        metadata: dict[str, str] = {}
        for name in names:
            refused: dict[str, msgspec.Raw] = {}
            for provider, value in _OBJECT.decode(self.take(name) or b"{}").items():
                text = json_text_of(bytes(value))
                if provider == LEFT_OVER or metadata.setdefault(provider, text) != text:
                    refused[provider] = msgspec.Raw(text.encode())
            self._left[name] = msgspec.json.encode(refused)
        if not self.is_empty():
            left = {name: msgspec.Raw(raw) for name, raw in self._left.items() if raw not in _SAYS_NOTHING}
            metadata[LEFT_OVER] = msgspec.json.encode(left).decode()
        return metadata


def json_text_of(value: bytes) -> str:
    """A JSON value as text, byte for byte; a string that itself holds a JSON object or list is that text already."""
    if value.startswith(b'"'):
        text = _TEXT.decode(value)
        if text.lstrip()[:1] in ("{", "[") and is_json(text):
            return text
    return value.decode()


def is_json(text: str) -> bool:
    try:
        _ANY_JSON.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False
    return True
