"""uvicorn's WebSocket protocol, with refused handshakes in the one shape of every error and no false alarm."""

from typing import Any

import msgspec
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Response
from websockets.server import ServerProtocol
from websockets.typing import StatusLike

from chatd.server.middleware.asgi_types import ABORT
from chatd.wire.problem import Problem

_MESSAGES = {
    400: "This is not a valid WebSocket handshake.",
    405: "A WebSocket is opened with GET.",
    426: "This WebSocket handshake asks for something else.",
    414: "The address is too long.",
    431: "The request headers are too large.",
}
_SERVER_SIDE = "The server can't open this WebSocket right now. Try again."


class ShapedHandshake(ServerProtocol):
    """Says why it refuses as a `Problem` instead of in plain text."""

    def reject(self, status: StatusLike, text: str) -> Response:
        message = _MESSAGES.get(int(status), _MESSAGES[400] if int(status) < 500 else _SERVER_SIDE)
        response = super().reject(status, msgspec.json.encode(Problem(message)).decode())
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = "application/json"
        return response


class ShapedWebSocketProtocol(WebSocketsSansIOProtocol):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = ShapedHandshake(max_size=self.config.ws_max_size, logger=self.conn.logger)

    async def run_asgi(self) -> None:
        self.scope["extensions"][ABORT] = self.transport.abort  # type: ignore[index, typeddict-unknown-key]
        await super().run_asgi()

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            # uvicorn would log an error for every refusal that is answered with HTTP.
            self.handshake_complete = True
        elif message["type"] == "websocket.accept":
            # An open connection has no use for its handshake; of thousands that wait, it would be a tenth.
            del self.request, self.response
            self.conn.handshake_exc = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.handshake_initiated and self.conn.handshake_exc is not None:
            # uvicorn waits for ever when websockets, which takes fewer and shorter headers, can't read the head.
            self.handshake_complete = self.close_sent = True
            refusal = b"".join(self.conn.data_to_send()) or self.conn.reject(400, "").serialize()
            self.transport.write(refusal)
            self.transport.close()
