"""What a client sends besides bodies is bounded, and what comes after a body changes nothing."""

import asyncio
from contextlib import suppress

import pytest

from chatd.server.slow_clients import HEAD_BYTES
from server.http.live import WAIT_SECONDS, Live, served

CHUNKED = b"POST /x HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"


class Reads:
    """An app that reads the whole body and then looks at the headers."""

    def __init__(self) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self.began = asyncio.Event()

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            raise ValueError(scope["type"])
        self.body = b""
        while (message := await receive())["type"] == "http.request":
            self.body += message["body"]
            self.began.set()
            if not message["more_body"]:
                break
        else:
            return
        self.headers = list(scope["headers"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})


async def ask(live: Live, app: Reads, request: bytes, later: bytes = b"") -> bytes:
    """The first line of the answer; `later` is sent once the app has read some of the body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", live.port)
    try:
        writer.write(request)
        await asyncio.wait_for(app.began.wait(), WAIT_SECONDS)
        writer.write(later)
        return await asyncio.wait_for(reader.readline(), WAIT_SECONDS)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def test_trailers_do_not_become_headers():
    app = Reads()
    async with served(app) as live:
        line = await ask(live, app, CHUNKED + b"2\r\nab\r\n0\r\nauthorization: Bearer x\r\nhost: evil.example\r\n\r\n")

    assert line.startswith(b"HTTP/1.1 200")
    assert app.body == b"ab"
    assert [name for name, _ in app.headers] == [b"host", b"transfer-encoding"]


# Each is one byte too many: all of it is read, so that the connection is not reset before the answer arrives.
@pytest.mark.parametrize(
    "endless",
    [
        (b"0\r\n" + b"a: b\r\n" * HEAD_BYTES)[: HEAD_BYTES + 1],
        b"0\r\nx: ".ljust(HEAD_BYTES + 1, b"a"),
        b"2;x=".ljust(HEAD_BYTES + 1, b"a"),
    ],
    ids=["many trailers", "one long trailer", "a chunk extension"],
)
async def test_what_goes_on_without_a_body_is_431(endless: bytes):
    app = Reads()
    async with served(app) as live:
        assert (await ask(live, app, CHUNKED + b"2\r\nab\r\n", endless)).startswith(b"HTTP/1.1 431")


async def test_a_long_body_in_small_chunks_is_no_overhead():
    app = Reads()
    async with served(app) as live:
        line = await ask(live, app, CHUNKED + b"1\r\nx\r\n", b"1\r\nx\r\n" * HEAD_BYTES + b"0\r\n\r\n")

    assert line.startswith(b"HTTP/1.1 200")
    assert len(app.body) == HEAD_BYTES + 1
