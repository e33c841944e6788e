"""Serving and stopping: what is under way finishes, what is new is refused, a second signal ends it all."""

import asyncio
import signal

import aiohttp
import pytest

from chatd.clock import SystemClock
from chatd.server.serving import Draining, open_socket, serve, socket_url
from server.http.live import WAIT_SECONDS, layered, problem_of, served
from server.http.processes import started


class Held:
    """An app whose answer waits for the test."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.release = asyncio.Event()

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            raise ValueError(scope["type"])
        if scope["path"] == "/held":
            self.arrived.set()
            await self.release.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"done"})


async def refused(port: int) -> None:
    """Return once nothing listens any more."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                return
            except ConnectionResetError:
                continue  # it was in the queue of the socket when that was closed
            writer.close()


async def test_a_request_under_way_finishes_and_new_connections_are_refused():
    app = Held()
    async with served(app) as live, asyncio.TaskGroup() as tasks:

        async def ask() -> str:
            async with live.client.get("/held") as response:
                return await response.text()

        asked = tasks.create_task(ask())
        await app.arrived.wait()
        live.draining.begin()
        await refused(live.port)
        assert not live.serving.done()
        app.release.set()
        assert await asked == "done"
        assert await live.serving == 0


async def test_idle_connections_do_not_hold_up_the_end():
    async with served(Held()) as live:
        async with live.client.get("/") as response:
            assert await response.text() == "done"
        _, writer = await asyncio.open_connection("127.0.0.1", live.port)
        live.draining.begin()
        async with asyncio.timeout(WAIT_SECONDS):
            assert await live.serving == 0
        writer.close()


async def test_a_request_that_outlasts_the_drain_is_told_to_come_again():
    app = Held()
    async with served(layered(app), drain_seconds=0.01) as live, asyncio.TaskGroup() as tasks:

        async def ask() -> None:
            async with live.client.get("/held") as response:
                await problem_of(response, 503)

        tasks.create_task(ask())
        await app.arrived.wait()
        live.draining.begin()
        assert await live.serving == 0


async def test_the_lifespan_starts_before_and_ends_after_the_requests():
    seen = []

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            while True:
                message = await receive()
                seen.append(message["type"])
                await send({"type": f"{message['type']}.complete"})
                if message["type"] == "lifespan.shutdown":
                    return
        seen.append("request")
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async with served(app) as live, live.client.get("/"):
        pass

    assert seen == ["lifespan.startup", "request", "lifespan.shutdown"]


async def test_an_app_that_does_not_start_gives_exit_code_1():
    async def app(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no"})

    assert await serve(app, open_socket("127.0.0.1", 0), draining=Draining(), clock=SystemClock()) == 1


async def test_a_taken_port_is_an_error():
    with open_socket("127.0.0.1", 0) as sock, pytest.raises(OSError, match="in use"):
        open_socket("127.0.0.1", sock.getsockname()[1])


async def test_wildcard_addresses_are_shown_as_this_machine():
    with open_socket("0.0.0.0", 0) as sock:  # noqa: S104
        assert socket_url(sock).startswith("http://127.0.0.1:")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_drains_a_real_process(number: signal.Signals):
    async with started("alone") as server, aiohttp.ClientSession() as client:
        url = await server.line("ready")
        async with client.get(f"{url}/until-drain") as response:
            assert await response.content.readline() == b"held\n"
            server.process.send_signal(number)
            assert await response.content.read() == str(server.process.pid).encode()

        assert await server.ended() == 0


async def test_a_second_signal_ends_requests_at_once():
    async with started("alone") as server, aiohttp.ClientSession() as client:
        url = await server.line("ready")
        async with client.get(f"{url}/for-ever") as response:
            assert await response.content.readline() == b"held\n"
            server.process.send_signal(signal.SIGTERM)
            await server.line("draining")
            server.process.send_signal(signal.SIGTERM)
            with pytest.raises(aiohttp.ClientPayloadError):
                await response.content.read()

        assert await server.ended() == 0
