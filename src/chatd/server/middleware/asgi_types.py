"""The shapes of ASGI, and the few things every layer asks of them.

The scope is `dict[str, Any]` by the specification. `App` takes `Any`, so that Litestar's and uvicorn's own
typed dictionaries fit.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

# An extension of ours in a scope: called, it cuts the connection at once, whatever still waits in its buffer.
ABORT = "chatd.abort"
# In the state of a request: what goes on once all layers have returned, `(receive, send) -> None`. A stream that waits
# for hours leaves it, and the layers, whose frames would be half of what it takes in memory, are gone meanwhile.
REST = "rest"
PROBES = frozenset({"/healthz", "/readyz"})
UNMETERED = PROBES | {"/metrics"}  # asked every few seconds by machines: not logged, not limited


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of that name (given in lower case, as ASGI has them)."""
    for key, value in scope["headers"]:
        if key == name:
            return value.decode("latin-1")
    return None


def headers_named(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def state(scope: Scope) -> dict[str, Any]:
    """What layers and routes share about this request: `request_id`, `person`, `peer`."""
    return scope.setdefault("state", {})


def client_address(scope: Scope) -> str:
    """The client's address; empty when it came through a Unix socket."""
    client = scope.get("client")
    return client[0] if client else ""
