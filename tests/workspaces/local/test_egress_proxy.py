"""The proxy that leads out of a sandbox, asked by hand."""

import asyncio
import resource
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from chatd.clock import SystemClock
from chatd.core.workspaces.egress import parse_rule
from chatd.workspaces.local import egress
from chatd.workspaces.local.egress import EgressProxy
from chatd.workspaces.local.keeper import FirstErrors
from workspaces.local.running import workspace


@asynccontextmanager
async def echoing() -> AsyncGenerator[int]:
    """A server on loopback that says what it was told, once. Yields its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"told: " + await reader.read(4096))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def proxy(folder: Path, *rules: str) -> AsyncGenerator[Path]:
    """Loopback is allowed: only the list is in between."""
    made = EgressProxy([parse_rule(rule) for rule in rules], ["127.0.0.0/8"], SystemClock())
    path = folder / "proxy.sock"
    async with await made.serve(path):
        yield path


async def told(path: Path, request: bytes) -> bytes:
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        writer.write(request)
        writer.write_eof()
        async with asyncio.timeout(30):
            return await reader.read()
    finally:
        writer.close()


@pytest.mark.parametrize("before", [b"localhost", b"127.0.0.1"])
async def test_a_name_that_ends_early_for_the_system_is_refused(tmp_path: Path, before: bytes):
    """The lookup of the system ends a name at its first NUL; the list would see the rest."""
    async with echoing() as port, proxy(tmp_path, f"*.example.org:{port}") as path:
        host = before + b"\0.example.org:%d" % port
        tunnel = await told(path, b"CONNECT %b HTTP/1.1\r\n\r\nhello" % host)
        plain = await told(path, b"GET http://%b/ HTTP/1.1\r\n\r\n" % host)

    assert tunnel.startswith(b"HTTP/1.1 400"), tunnel
    assert plain.startswith(b"HTTP/1.1 400"), plain


async def test_a_request_goes_to_the_host_of_its_first_line_and_no_further(tmp_path: Path):
    async with echoing() as port, proxy(tmp_path, f"localhost:{port}") as path:
        said = await told(
            path,
            b"GET http://localhost:%d/a?b HTTP/1.1\r\nHost: other\r\nProxy-Authorization: Basic c2VjcmV0\r\n"
            b"Connection: keep-alive\r\nAccept: */*\r\n\r\n" % port,
        )

    assert said == b"told: GET /a?b HTTP/1.1\r\nHost: localhost:%d\r\nAccept: */*\r\nConnection: close\r\n\r\n" % port


async def test_a_head_that_is_too_large_is_refused(tmp_path: Path):
    async with proxy(tmp_path, "*") as path:
        said = await told(path, b"GET http://localhost/ HTTP/1.1\r\nA: " + b"a" * 70_000 + b"\r\n\r\n")

    assert said.startswith(b"HTTP/1.1 431")


async def test_a_port_that_the_list_does_not_have_is_refused(tmp_path: Path):
    async with echoing() as port, proxy(tmp_path, "localhost") as path:
        said = await told(path, b"CONNECT localhost:%d HTTP/1.1\r\n\r\n" % port)

    assert said.startswith(b"HTTP/1.1 403")


async def test_more_connections_than_the_most_are_refused_until_one_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(egress, "_MOST_CONNECTIONS", 1)
    async with echoing() as port, proxy(tmp_path, f"localhost:{port}") as path:
        request = b"GET http://localhost:%d/ HTTP/1.0\r\n\r\n" % port
        reader, first = await asyncio.open_unix_connection(path)
        first.write(b"CONNECT localhost:%d HTTP/1.1\r\n\r\n" % port)
        assert await reader.readuntil(b"\r\n\r\n")
        refused = await told(path, request)
        first.write(b"that is all")
        first.write_eof()
        assert await reader.read() == b"told: that is all"
        first.close()
        async with asyncio.timeout(30):
            while not (later := await told(path, request)).startswith(b"told: GET /"):
                assert later.startswith(b"HTTP/1.1 503")

    assert refused.startswith(b"HTTP/1.1 503")


async def test_a_keepers_log_does_not_grow_with_what_a_sandbox_does(caplog: pytest.LogCaptureFixture):
    loop, errors = asyncio.get_running_loop(), FirstErrors()
    for _ in range(1000):
        errors(loop, {"message": "something that a sandbox can bring about"})

    assert len(caplog.records) == 20


async def test_a_keeper_has_descriptors_for_all_connections_of_its_proxy(root: Path):
    async with workspace(root) as running:
        soft, hard = resource.prlimit(running.record().pid, resource.RLIMIT_NOFILE)

        assert soft == hard
