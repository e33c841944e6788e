"""What leaves towards a vendor, over which connection, and what the network's failures are."""

import asyncio
import ssl
from datetime import UTC, datetime
from typing import Any, NoReturn, cast

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from chatd.core.failure import FailureSignals, Fault, classify
from chatd.providers.network import Proxy
from chatd.providers.transport import OutboundRequest, Transport, as_fault, as_written, open_transport
from providers.posting import WAIT_SECONDS, WHOLE, body, fault, request
from providers.raw_vendor import chunk, head, says, vendor

NOW = datetime(2026, 3, 1, tzinfo=UTC)


async def test_a_redirect_is_not_followed_so_that_no_key_goes_elsewhere():
    async with vendor(WHOLE) as (elsewhere, _):
        moved = says(head("307 Moved", extra=f"Location: {elsewhere.url}\r\n"), chunk(b""))
        async with vendor(moved) as (running, transport):
            assert await body(transport, request(running.url, **{"x-api-key": "k"})) == b""

    assert (running.requests, elsewhere.requests) == (1, 0)


@pytest.mark.parametrize(
    "path",
    ["/model/anthropic.claude-x-v1%3A0/invoke", "/model/arn%3Aaws%3Abedrock%2Fp/x", "/a:b/c@d", "/v1?alt=sse"],
)
async def test_a_path_is_sent_as_it_was_signed(path: str):
    async with vendor(WHOLE) as (running, transport):
        await body(transport, request(running.url.removesuffix("/v1") + path))

    assert running.heads[0].split(b" ")[1] == path.encode()


def test_a_path_is_written_so_that_the_network_takes_it():
    assert str(as_written("http://h/ä b?q=1")) == "http://h/%C3%A4%20b?q=1"
    assert str(as_written("http://bücher.test/v1")) == "http://xn--bcher-kva.test/v1"


@pytest.mark.parametrize("url", ["http://a..b/v1", "http://h:99999/v1", "ftp://h/v1", "nothing", "http://", "//h/v1"])
async def test_what_is_no_address_is_said_to_be_none(url: str):
    async with open_transport() as transport:
        told = await fault(transport, request(url))

    assert told.fault is Fault.ADDRESS


async def test_a_key_that_no_header_can_hold_is_a_matter_of_credentials():
    async with vendor(WHOLE) as (running, transport):
        told = await fault(transport, request(running.url, **{"x-api-key": "two\nlines"}))

    assert told.fault is Fault.CREDENTIALS
    assert "lines" not in told.text


async def test_connections_are_made_with_such_sockets_and_reused():
    async with vendor(WHOLE) as (running, transport):
        assert [await body(transport, request(running.url)) for _ in range(3)] == [b"hello"] * 3

    assert running.connections == 1


async def test_a_prompt_of_many_megabytes_is_sent_with_its_length():
    async with vendor(WHOLE) as (running, transport):
        assert await body(transport, OutboundRequest(running.url, b"x" * 5_000_000, {})) == b"hello"

    assert b"\r\nContent-Length: 5000000\r\n" in running.heads[0]


async def test_a_dead_connection_is_replaced_by_a_new_one_and_not_by_another_dead_one():
    dying = asyncio.Event()
    together = asyncio.Barrier(2)

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if dying.is_set() and running.connections == 2:
            raise ConnectionResetError  # both that were there before
        if running.connections <= 2:
            await together.wait()
        await WHOLE(_reader, writer)

    async with vendor(talk) as (running, transport):
        async with asyncio.timeout(WAIT_SECONDS), asyncio.TaskGroup() as tasks:
            for _ in range(2):
                tasks.create_task(body(transport, request(running.url)))
        dying.set()
        assert await body(transport, request(running.url)) == b"hello"

    assert (running.connections, running.requests) == (3, 4)


@pytest.mark.parametrize(
    "error",
    [
        aiohttp.ServerDisconnectedError(),
        aiohttp.ClientOSError(32, "Broken pipe"),
        aiohttp.ClientConnectionResetError("Cannot write to closing transport"),
    ],
)
@pytest.mark.behaviour("ERR-5")
async def test_a_dead_connection_is_known_by_whichever_error_comes_first(error: aiohttp.ClientError):
    """Which one it is depends on when the end of the connection is noticed, so the pool is played here."""

    class DeadPool:
        async def post(self, _url: object, *, trace_request_ctx: Any, **_more: object) -> NoReturn:
            trace_request_ctx.was_reused = True
            raise error

    async with vendor(WHOLE) as (running, _), aiohttp.ClientSession() as fresh:
        transport = Transport(cast("aiohttp.ClientSession", DeadPool()), fresh, proxy=Proxy())
        assert await body(transport, request(running.url)) == b"hello"


async def test_a_new_connection_that_breaks_is_not_tried_again():
    async def reset(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        raise ConnectionResetError

    async with vendor(reset) as (running, transport):
        told = await fault(transport, request(running.url))

    assert told.fault in (Fault.USE_OF_CLOSED_CONNECTION, Fault.CONNECTION_RESET)
    assert running.requests == 1


async def test_a_call_that_is_cancelled_before_its_headers_closes_the_socket():
    asked = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()

    async with vendor(hang) as (running, transport), asyncio.timeout(WAIT_SECONDS), asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(body(transport, request(running.url)))
        await asked.wait()
        asking.cancel()
        await running.hung_up.wait()


async def test_a_head_without_end_is_refused():
    async with vendor(says(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1_000_000)) as (running, transport):
        told = await fault(transport, request(running.url))

    assert told.fault is Fault.PROTOCOL


def test_a_connection_cut_off_in_the_handshake_is_worth_another_try():
    key = ConnectionKey("h", 443, True, True, None, None, None)

    assert as_fault(aiohttp.ClientConnectorSSLError(key, ssl.SSLEOFError(8, "eof"))).fault is Fault.CONNECTION_RESET
    assert as_fault(aiohttp.ClientConnectorSSLError(key, ssl.SSLError(1, "alert"))).fault is Fault.TLS


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (aiohttp.ServerDisconnectedError(), Fault.USE_OF_CLOSED_CONNECTION),
        (aiohttp.ClientConnectionResetError("Cannot write to closing transport"), Fault.CONNECTION_RESET),
        (aiohttp.ClientOSError(104, "Connection reset by peer"), Fault.CONNECTION_RESET),
        (aiohttp.ClientPayloadError("Response payload is not completed"), Fault.CONNECTION_RESET),
        (aiohttp.ConnectionTimeoutError("late"), Fault.TIMED_OUT),
        (aiohttp.ClientError("odd"), Fault.PROTOCOL),
    ],
)
@pytest.mark.behaviour("ERR-5")
def test_each_exception_of_the_client_is_a_fault_that_is_retried(error: aiohttp.ClientError, found: Fault):
    told = as_fault(error)

    assert told.fault is found
    assert classify(FailureSignals(fault=told.fault), NOW).retryable


@pytest.mark.behaviour("ERR-5")
async def test_a_name_that_no_resolver_knows_is_retried():
    async with open_transport() as transport:
        told = await fault(transport, request("http://nobody.invalid/v1"))

    assert told.fault is Fault.DNS
    assert classify(FailureSignals(fault=told.fault), NOW).retryable
