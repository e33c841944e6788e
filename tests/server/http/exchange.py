"""One ASGI exchange without a socket: for WebSockets before they are accepted, and for what a client can't cause."""

from collections.abc import Mapping
from typing import Any

import msgspec

from chatd.server.middleware.asgi_types import App


async def exchange(
    app: App,
    path: str = "/api/x",
    *,
    kind: str = "http",
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    client: tuple[str, int] | None = ("127.0.0.1", 4711),
    messages: list[dict[str, Any]] | None = None,
    query_string: bytes = b"",
    can_answer_websockets: bool = False,
) -> list[dict[str, Any]]:
    """What the app sends."""
    pairs = {"host": "localhost", **(headers or {})}
    incoming = list(messages if messages is not None else [{"type": f"{kind}.connect"}])
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return incoming.pop(0) if incoming else {"type": f"{kind}.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(
        {
            "type": kind,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query_string,
            "scheme": "http" if kind == "http" else "ws",
            "client": client,
            "headers": [(name.encode(), value.encode()) for name, value in pairs.items()],
            **({"method": method} if kind == "http" else {}),
            "extensions": {"websocket.http.response": {}} if can_answer_websockets else {},
        },
        receive,
        send,
    )
    return sent


def status_of(sent: list[dict[str, Any]]) -> int:
    return sent[0]["status"]


def headers_of(sent: list[dict[str, Any]]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def body_of(sent: list[dict[str, Any]]) -> Any:
    return msgspec.json.decode(sent[1]["body"])
