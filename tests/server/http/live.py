"""A real server on a real socket for one test, and the one shape its errors must have."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import msgspec

from chatd.clock import SystemClock
from chatd.core.errors import Validation
from chatd.observe.metrics import Metrics
from chatd.server.asgi import MiddlewareOptions, with_middleware
from chatd.server.middleware.asgi_types import App
from chatd.server.serving import Draining, ServingOptions, open_socket, serve, socket_url

WAIT_SECONDS = 30.0  # of real time, for what takes milliseconds on an idle machine


class ExactProblem(msgspec.Struct, forbid_unknown_fields=True):
    """`chatd.wire.problem.Problem`, and nothing beside it."""

    message: str
    detail: str | None = None
    validations: list[Validation] = []


class Live(msgspec.Struct):
    url: str
    client: aiohttp.ClientSession
    draining: Draining
    serving: asyncio.Task[int]
    port: int


@asynccontextmanager
async def served(app: App, *, drain_seconds: float = WAIT_SECONDS) -> AsyncIterator[Live]:
    """Serve an ASGI app as it is; drains at the end of the block."""
    sock = open_socket("127.0.0.1", 0)
    url, port = socket_url(sock), sock.getsockname()[1]
    draining, ready = Draining(), asyncio.Event()
    options = ServingOptions(drain_seconds=drain_seconds, on_ready=lambda _url: ready.set())
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(serve(app, sock, draining=draining, clock=SystemClock(), options=options))
        try:
            await asyncio.wait_for(ready.wait(), WAIT_SECONDS)
            async with aiohttp.ClientSession(url, timeout=aiohttp.ClientTimeout(WAIT_SECONDS)) as client:
                yield Live(url, client, draining, serving, port)
        finally:
            draining.begin()
            await asyncio.wait([serving])  # as in `server.running`: a cancelled server leaves its socket with the loop


def layered(app: App, **options: object) -> App:
    """The app inside all middleware, as a replica has it."""
    given = {"clock": SystemClock(), "metrics": Metrics(), **options}
    return with_middleware(app, MiddlewareOptions(**given))  # type: ignore[arg-type]


async def problem_of(response: aiohttp.ClientResponse, status: int) -> ExactProblem:
    """The response's problem, once it has that status and exactly the one shape."""
    body = await response.read()
    assert (response.status, response.content_type) == (status, "application/json"), body
    problem = msgspec.json.decode(body, type=ExactProblem)
    assert problem.message
    return problem
