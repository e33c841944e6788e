"""What a route answers: JSON, or bytes in chunks."""

from collections.abc import AsyncIterator, Mapping
from typing import Final

import msgspec

from chatd.agent.asgi import Send
from chatd.core.escaped_json import encode

_JSON: Final = "application/json"


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """`chunks` stand in place of `body` where an answer is too long for memory; an async generator is closed."""

    status: int = 200
    body: bytes = b""
    chunks: AsyncIterator[bytes] | None = None
    content_type: str = _JSON
    headers: Mapping[str, str] = {}

    async def send(self, send: Send) -> None:
        headers = [(b"content-type", self.content_type.encode("latin-1"))]
        headers += [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        if self.chunks is None:
            headers.append((b"content-length", str(len(self.body)).encode()))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        if self.chunks is None:
            await send({"type": "http.response.body", "body": self.body})
            return
        try:
            async for chunk in self.chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        finally:
            if (close := getattr(self.chunks, "aclose", None)) is not None:
                await close()
        await send({"type": "http.response.body", "body": b""})


def answer(value: msgspec.Struct, *, status: int = 200) -> Response:
    """The value as JSON."""
    return Response(status=status, body=encode(value))
