"""Serves the agent's app on a socket that is already bound, until it is told to stop."""

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import uvicorn

from chatd.core.errors import StartRefused

_BACKLOG: Final = 512  # connections that wait while the event loop is busy for a moment
_KEEP_ALIVE_SECONDS: Final = 330  # the longest wait for output and its deadline: a pooled connection stays useful
_MOST_FRAME_BYTES: Final = 1024 * 1024  # what a person pastes into a terminal at once
_STOP_SECONDS: Final = 5  # for requests to finish; those that wait for output are cut


def unix_socket(path: Path) -> socket.socket:
    """Bind and listen; only this user can connect."""
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        bound.bind(str(path))
        path.chmod(0o600)
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        raise StartRefused(f"Can't listen on {path}: {error.strerror or error}.") from error
    return bound


def tcp_socket(host: str, port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # accepted connections inherit it
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        raise StartRefused(f"Can't listen on {host}, port {port}: {error.strerror or error}.") from error
    return bound


def _websocket(**given: Any) -> asyncio.Protocol:
    """Imported with the first WebSocket: an agent has to be ready at once, and most never see one."""
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

    return WebSocketsSansIOProtocol(**given)


class AgentServer(uvicorn.Server):
    """uvicorn, with the agent's own signals. `stop` ends it."""

    def __init__(self, app: Callable[..., Any]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="none",
                http="httptools",
                ws=_websocket,  # type: ignore[arg-type]
                ws_max_size=_MOST_FRAME_BYTES,
                ws_per_message_deflate=False,
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=_STOP_SECONDS,
                backlog=_BACKLOG,
                reset_contextvars=True,
            )
        )

    def capture_signals(self) -> nullcontext[None]:  # type: ignore[override]
        return nullcontext()

    def stop(self) -> None:
        self.should_exit = True


def on_stop_signals(told: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, told)
