"""The way out of a sandbox that has no network: a loopback port that leads to a proxy's Unix socket."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from agent.commands import run
from agent.running import WAIT_SECONDS, running_agent
from chatd.agent import egress
from chatd.agent.egress import EgressForwarder
from chatd.background import beside
from chatd.clock import SystemClock

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def _proxy(path: Path) -> AsyncGenerator[Callable[[], "asyncio.Queue[Streams]"]]:
    """The other end: whoever comes is put into a queue."""
    came: asyncio.Queue[Streams] = asyncio.Queue()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await came.put((reader, writer))

    server = await asyncio.start_unix_server(accept, path)
    try:
        yield lambda: came
    finally:
        while not came.empty():
            await _closed(came.get_nowait()[1])
        server.close()
        await server.wait_closed()


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


@asynccontextmanager
async def _forwarder(target: Path) -> AsyncGenerator[tuple[EgressForwarder, int]]:
    listening = socket.create_server(("127.0.0.1", 0))
    forwarder = EgressForwarder(listening, target, SystemClock())
    port = listening.getsockname()[1]
    async with asyncio.timeout(WAIT_SECONDS), beside({"egress": forwarder.run()}):
        yield forwarder, port


async def test_bytes_go_both_ways_and_an_end_of_one_leaves_the_other_open(tmp_path: Path):
    async with _proxy(tmp_path / "s") as came, _forwarder(tmp_path / "s") as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        outer_reader, outer_writer = await came().get()
        sent = b"x" * 1_000_000
        writer.write(sent)
        writer.write_eof()
        assert await outer_reader.read() == sent
        outer_writer.write(b"after the end")
        await _closed(outer_writer)
        assert await reader.read() == b"after the end"
        await _closed(writer)


async def test_a_proxy_that_is_not_there_is_told_as_a_bad_gateway(tmp_path: Path):
    async with _forwarder(tmp_path / "nothing") as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 502 ")
        await _closed(writer)


async def test_one_that_hangs_up_ends_the_connection_on_the_other_side(tmp_path: Path):
    async with _proxy(tmp_path / "s") as came, _forwarder(tmp_path / "s") as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        _, outer_writer = await came().get()
        outer_writer.transport.abort()
        assert await reader.read() == b""
        await _closed(outer_writer)
        await _closed(writer)


async def test_no_more_connections_are_open_than_the_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(egress, "MOST_CONNECTIONS", 2)
    async with _proxy(tmp_path / "s") as came, _forwarder(tmp_path / "s") as (_, port):
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        ends = [await came().get(), await came().get()]
        assert came().empty()
        await _closed(opened[0][1])
        await _closed(ends[0][1])
        ends.append(await came().get())  # the third, once there is room
        for _, writer in opened:
            await _closed(writer)
        for _, writer in ends:
            await _closed(writer)


async def test_commands_are_told_of_the_proxy_and_reach_it(tmp_path: Path):
    async with (
        _proxy(tmp_path / "s") as came,
        running_agent(tmp_path / "agent", "--egress-socket", str(tmp_path / "s"), "--egress-port", "0") as agent,
    ):
        ended = await run(agent, "env | grep -i _proxy= | sort")
        told = dict(line.split("=", 1) for line in ended["output"].splitlines())
        url = told["HTTPS_PROXY"]
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(b"hello")
        outer_reader, outer_writer = await came().get()
        assert await outer_reader.readexactly(5) == b"hello"
        await _closed(outer_writer)
        await _closed(writer)
        del reader

    assert {told[name] for name in ("HTTP_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy")} == {url}
    assert told["NO_PROXY"] == told["no_proxy"] == "localhost,127.0.0.1,::1"


async def test_without_the_option_commands_know_of_no_proxy(tmp_path: Path):
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    none = {cased: "" for name in names for cased in (name, name.lower())}
    async with running_agent(tmp_path / "agent", env=none) as agent:
        ended = await run(agent, "env | grep -i '_proxy=.'")

    assert ended.get("output", "") == ""
