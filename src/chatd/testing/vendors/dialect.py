"""What a scripted server needs to know of one vendor: how it refuses, checks, and writes an answer."""

from collections.abc import Mapping
from typing import Any, Protocol

from chatd.core.model import ProtocolName
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.frames import Frame
from chatd.testing.vendors.issued import Issued
from chatd.testing.vendors.script import Turn


class Dialect(Protocol):
    @property
    def name(self) -> ProtocolName: ...

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        """The credential that came with a request; empty if there is none."""
        ...

    def check(self, asked: Asked, issued: Issued) -> None:
        """Raises Refusal for what the vendor would refuse."""
        ...

    def encode(self, turn: Turn, asked: Asked, issued: Issued) -> list[Frame]:
        """The events of a whole answer. Raises for a script that the vendor could not follow."""
        ...

    def frame(self, frame: Frame) -> bytes: ...

    def failed(self, message: str, type: str) -> bytes:
        """An error inside of a stream, framed; an empty type is the vendor's for an overloaded server."""
        ...

    def error(self, status: int, message: str, type: str, at: str) -> Mapping[str, Any]:
        """The body of a refusal; an empty type is the vendor's for that status."""
        ...

    def models(self, names: list[str]) -> Mapping[str, Any]:
        """The list of models."""
        ...
