"""What one scripted server has given out, so that it knows its own words when they come back."""

import base64
import hashlib
from typing import Any, Final, TypeVar

Json = dict[str, Any]
MOST: Final = 10_000  # of each kind, the newest: more than a test needs, and a load test does not fill the memory
_Value = TypeVar("_Value")


class Remembered(dict[str, _Value]):
    """The newest entries."""

    def __setitem__(self, key: str, value: _Value) -> None:
        super().__setitem__(key, value)
        if len(self) > MOST:
            del self[next(iter(self))]


class Issued:
    """Ids count up: the same script gives the same bytes. Signatures say what they sign."""

    def __init__(self) -> None:
        self._counted: dict[str, int] = {}
        # By signature (or encrypted content), exactly what was signed.
        self.signed = Remembered[object]()
        # Anthropic, by the id of a call: the thoughts that led to it, in order.
        self.thoughts_before = Remembered[list[Json]]()
        # Anthropic, by the id of a call of the vendor's own: its result.
        self.results = Remembered[Json]()
        # Responses, by the id of an item: the item, the reasoning that it depends on, and what followed it.
        self.items = Remembered[Json]()
        self.reasoning_of = Remembered[str]()
        self.follower_of = Remembered[str]()
        self.stored = Remembered[bool]()

    def id(self, prefix: str) -> str:
        self._counted[prefix] = self._counted.get(prefix, 0) + 1
        return f"{prefix}{self._counted[prefix]:024x}"

    def sign(self, signed: object) -> str:
        """A new text that nobody can read, for what it stands for."""
        number = self.id("signature")
        signature = base64.b64encode(hashlib.sha256(f"{number}:{signed!r}".encode()).digest() * 3).decode()
        self.signed[signature] = signed
        return signature
