"""What a request costs the server: CPU beside a bare ASGI app on the same stack, and database queries."""

import asyncio
import re
import sys
from contextlib import AsyncExitStack

import aiohttp

from bench.processes import PASSWORD, Measured, chatd_serve, median, new_data_dir, started

REQUESTS = 4000
AT_ONCE = 16
RUNS = 3

_BARE = """
import asyncio
from chatd.clock import SystemClock
from chatd.server.serving import Draining, ServingOptions, open_socket, run, serve
BODY = b'x' * 330
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"330")]})
    await send({"type": "http.response.body", "body": BODY})
async def main():
    options = ServingOptions(lifespan="off", on_ready=lambda url: print("is ready:", url, flush=True))
    return await serve(app, open_socket("127.0.0.1", 0), draining=Draining(), clock=SystemClock(), options=options)
run(main)
"""


async def main() -> None:
    async with AsyncExitStack() as stack:
        data_dir = stack.enter_context(new_data_dir())
        admin = {"CHATD_BOOTSTRAP_ADMIN_EMAIL": "a@example.com", "CHATD_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD}
        server = await stack.enter_async_context(started(*chatd_serve(data_dir), "--requests-per-minute", "0", **admin))
        bare = await stack.enter_async_context(started(sys.executable, "-c", _BARE))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        login = {"login": "admin", "password": PASSWORD}
        async with http.post(f"{server.url}/api/v2/users/login", json=login) as answer:
            token = (await answer.json())["session_token"]
        signed_in = {"Authorization": f"Bearer {token}"}

        floor: list[float] = []
        public: list[float] = []
        own: list[float] = []
        queries: list[float] = []
        for _ in range(RUNS):  # interleaved: these machines are noisy
            floor.append(await _cpu(http, bare, "/", {}))
            public.append(await _cpu(http, server, "/api/v2/buildinfo", {}))
            before = await _queries(http, server)
            own.append(await _cpu(http, server, "/api/v2/users/me", signed_in))
            queries.append((await _queries(http, server) - before) / REQUESTS)
    unit = median(floor)
    print(f"bare ASGI app on the same server stack  {unit:6.0f} µs CPU")
    print(f"GET /api/v2/buildinfo                   {median(public):6.0f} µs CPU  ({median(public) / unit:.1f} x)")
    print(f"GET /api/v2/users/me, signed in         {median(own):6.0f} µs CPU  ({median(own) / unit:.1f} x)")
    # One is the user's own row; the token check is cached.
    print(f"database queries per signed-in request  {median(queries):6.3f}")


async def _cpu(http: aiohttp.ClientSession, server: Measured, path: str, headers: dict[str, str]) -> float:
    """Microseconds of server CPU per request."""
    before = server.cpu_seconds()
    left = iter(range(REQUESTS))

    async def client() -> None:
        for _ in left:
            async with http.get(server.url + path, headers=headers) as answer:
                await answer.read()
                assert answer.status == 200

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(client())
    return (server.cpu_seconds() - before) / REQUESTS * 1e6


async def _queries(http: aiohttp.ClientSession, server: Measured) -> float:
    """Queries made for this route so far."""
    async with http.get(f"{server.url}/metrics") as answer:
        text = await answer.text()
    counted = re.findall(r'^chatd_db_queries_total\{.*route="/api/v2/users/\{user.*\} ([0-9.e+]+)$', text, re.M)
    return sum(map(float, counted))
