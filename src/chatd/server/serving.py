"""Runs an ASGI app on a socket that is already bound, until a signal, and then lets requests finish."""

import asyncio
import gc
import signal
import socket
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, nullcontext
from typing import Any, Final, Literal

import msgspec
import uvicorn
import uvloop

from chatd.clock import Clock
from chatd.observe.logs import get_logger
from chatd.server.handshakes import ShapedWebSocketProtocol
from chatd.server.middleware.asgi_types import App
from chatd.server.slow_clients import ImpatientProtocol

_log = get_logger("chatd.serving")

BACKLOG = 2048  # connections that wait while the event loop is busy for a moment
KEEP_ALIVE_SECONDS = 75  # longer than the 60 s of common proxies, so that it is they who close idle connections
PING_SECONDS = 50.0  # below the 60 s of common proxies; more often costs thousands of idle WebSockets a tenth of a core
STOP_POLL_SECONDS = 0.05  # uvicorn tells nobody when a connection ends
CANCEL_SECONDS = 5.0  # for cancelled requests to answer and clean up
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Draining:
    """Whether this process is about to stop. Readiness looks at it; streams wait for it and end."""

    def __init__(self) -> None:
        self._begun = asyncio.Event()
        self._told: list[Callable[[], None]] = []

        self.is_hurried = False  # it was told so twice: nothing is waited for

    @property
    def begun(self) -> bool:
        return self._begun.is_set()

    def begin(self) -> None:
        if not self.begun:
            self._begun.set()
            for told in self._told:
                told()

    def on_begin(self, told: Callable[[], None]) -> None:
        """For those who are too many to wait each in a task of its own. `told` returns at once and does not raise."""
        self._told.append(told)

    async def wait(self) -> None:
        await self._begun.wait()

    async def check(self) -> str | None:
        """For `/readyz`."""
        return "The server is stopping." if self.begun else None


class ServingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`drain_seconds`: how long requests may go on after the first signal. `on_ready` gets the URL."""

    drain_seconds: float = 30.0
    lifespan: Literal["auto", "on", "off"] = "auto"
    limit_concurrency: int | None = None
    websocket_message_limit: int = 1024 * 1024  # what clients send are commands; pictures are uploaded
    on_ready: Callable[[str], None] | None = None


def open_socket(host: str, port: int) -> socket.socket:
    """Bind and listen. Raises OSError, which names the reason but not the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Accepted connections inherit it: a small answer must not wait 40 ms for the client's delayed ACK.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A restart must not wait for the last server's connections to time out.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock


def socket_url(sock: socket.socket) -> str:
    """Where the socket can be reached; a wildcard address is shown as this machine."""
    host, port = sock.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host)  # noqa: S104  shown, not bound
    return f"http://{shown or (f'[{host}]' if ':' in host else host)}:{port}"


async def serve(
    app: App, sock: socket.socket, *, draining: Draining, clock: Clock, options: ServingOptions | None = None
) -> int:
    """Serve until SIGTERM, SIGINT or `draining.begin()`; the exit code: 0, or 1 when the app did not start.

    The first signal closes the listening socket at once and lets requests finish for up to `drain_seconds`; the
    second cancels them at once. So a load balancer sees refused connections from the first signal on, and
    `/readyz` answers 503 only where it is asked on a connection that is still open.
    """
    options = options or ServingOptions()
    config = uvicorn.Config(
        app,
        loop="none",
        http=ImpatientProtocol,
        ws=ShapedWebSocketProtocol,
        ws_per_message_deflate=False,
        ws_ping_interval=PING_SECONDS,
        ws_max_size=options.websocket_message_limit,
        lifespan=options.lifespan,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=options.limit_concurrency,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        backlog=BACKLOG,
        # A pipelined request would otherwise start with the context, and so the actor, of the one before it.
        reset_contextvars=True,
    )
    server = _DrainingServer(config, draining, clock, options)
    with stop_signals(server.stop):
        try:
            await server.serve(sockets=[sock])
        except SystemExit:
            return 1  # uvicorn's way of saying that the lifespan did not start; it has logged why
        finally:
            sock.close()
    return 0


# Objects made before a look at the young ones, looks before one at the older, at the oldest. By default the first is
# 700: a look every other turn at what nearly always is in use. Messages, parts and rows hold no circles (gc=False).
_COLLECT_AFTER: Final = (10_000, 20, 20)


def run(main: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run `main` on uvloop; its result is the exit code."""
    gc.freeze()  # modules stay for as long as the process does: a full collection need not look at them again
    gc.set_threshold(*_COLLECT_AFTER)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


@contextmanager
def stop_signals(stop: Callable[[], None]) -> Generator[None]:
    """`stop` is called for each signal while the block runs."""
    loop = asyncio.get_running_loop()
    caught: list[signal.Signals] = []
    for number in STOP_SIGNALS:
        try:
            loop.add_signal_handler(number, stop)
        except (ValueError, RuntimeError, NotImplementedError):
            break  # not in the main thread: whoever owns it calls `draining.begin()`
        caught.append(number)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)


class _DrainingServer(uvicorn.Server):
    """uvicorn with our signals and our way to stop."""

    def __init__(self, config: uvicorn.Config, draining: Draining, clock: Clock, options: ServingOptions) -> None:
        super().__init__(config)
        self._draining = draining
        self._clock = clock
        self._options = options

    def capture_signals(self) -> nullcontext[None]:  # type: ignore[override]
        return nullcontext()  # uvicorn raises them again when it is done, which would end us with a traceback

    def stop(self) -> None:
        self._draining.is_hurried = self._draining.begun
        self._draining.begin()
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and not self.should_exit and self._options.on_ready is not None and sockets:
            self._options.on_ready(socket_url(sockets[0]))

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._draining.begun

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._draining.begin()
        for server in self.servers:
            server.close()
        for sock in sockets or ():
            sock.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()  # idle ones close, busy ones after their answer, WebSockets with 1012
        try:
            async with self._clock.timeout(self._options.drain_seconds, timer="drain"):
                while self._is_busy() and not self._draining.is_hurried:
                    await self._clock.sleep(STOP_POLL_SECONDS, timer="drain poll")
        except TimeoutError:
            pass
        await self._cancel_rest()
        await self.lifespan.shutdown()

    def _is_busy(self) -> bool:
        return bool(self.server_state.tasks or self.server_state.connections)

    async def _cancel_rest(self) -> None:
        rest = set(self.server_state.tasks)
        if rest:
            _log.warning("requests cut off", count=len(rest), drain_seconds=self._options.drain_seconds)
            for task in rest:
                task.cancel("the server is stopping")
            await asyncio.wait(rest, timeout=CANCEL_SECONDS)
        for connection in list(self.server_state.connections):
            connection.transport.close()
