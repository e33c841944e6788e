"""What every vendor's protocol is: a way to write a request and a way to read the stream that answers it."""

from typing import Protocol

from chatd.core.model import ModelEvent, ModelRequest, ProtocolName
from chatd.providers.framing.wire_event import WireEvent


class Reader(Protocol):
    """Reads one stream. Raises UnreadableStream, after which it is of no more use."""

    def read(self, event: WireEvent) -> list[ModelEvent]:
        """The next framed event, in order."""
        ...

    def end(self) -> list[ModelEvent]:
        """The bytes have ended well. Gives `Finished` if the vendor had said all that it had to."""
        ...


class VendorProtocol(Protocol):
    @property
    def name(self) -> ProtocolName: ...

    def body(self, request: ModelRequest) -> bytes:
        """The JSON of a streaming request. The history is legal already (core/repair)."""
        ...

    def reader(self) -> Reader: ...
