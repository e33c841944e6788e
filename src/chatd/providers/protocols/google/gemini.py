"""Google's Gemini API, `:streamGenerateContent?alt=sse`, as its own host and Vertex speak it."""

from chatd.core.model import ModelRequest, ProtocolName
from chatd.providers.protocols.google.reader import GoogleReader
from chatd.providers.protocols.google.request import google_body


class GoogleGemini:
    """A VendorProtocol. The model is named in the URL, not in the body."""

    def __init__(self, *, on_vertex: bool = False) -> None:
        self._on_vertex = on_vertex

    @property
    def name(self) -> ProtocolName:
        return ProtocolName.GOOGLE_GEMINI

    def body(self, request: ModelRequest) -> bytes:
        return google_body(request, on_vertex=self._on_vertex)

    def reader(self) -> GoogleReader:
        return GoogleReader()
