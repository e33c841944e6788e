"""The HTTP/1.1 of a scripted vendor, by hand: every byte, pause and broken connection is under the script's control."""

import asyncio
import socket
import struct
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

MOST_BODY_BYTES: Final = 64 * 1024 * 1024  # a prompt with images; more is a bug of the test
MOST_HEAD_BYTES: Final = 64 * 1024  # as common servers have it


class Incoming(msgspec.Struct, frozen=True):
    """A request. Names of headers are in lower case, the path is decoded."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> Incoming | None:
    """The next request of a connection; None when the client is done with it."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    url = urlsplit(target)
    return Incoming(method, unquote(url.path), dict(parse_qsl(url.query)), headers, await _body(reader, headers))


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        length = int(headers.get("content-length", "0"))
        if length > MOST_BODY_BYTES:
            raise ValueError(f"a request of {length} bytes is too large")
        return await reader.readexactly(length)
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
        if len(body) > MOST_BODY_BYTES:
            raise ValueError("a request is too large")
    await reader.readuntil(b"\r\n")
    return body


class Outgoing:
    """The answer to one request. `hung_up` says that the client is gone; what is said after that is lost."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def whole(self, status: int, body: bytes, *, content_type: str, headers: Mapping[str, str]) -> None:
        said = {"content-type": content_type, "content-length": str(len(body)), **headers}
        self._writer.write(_head(status, said) + body)
        await self._writer.drain()

    async def begin(self, *, content_type: str, headers: Mapping[str, str]) -> None:
        said = {"content-type": content_type, "transfer-encoding": "chunked", "cache-control": "no-cache", **headers}
        self._writer.write(_head(HTTPStatus.OK, said))
        await self._writer.drain()

    async def send(self, data: bytes) -> None:
        if data:
            self._writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await self._writer.drain()

    async def end(self) -> None:
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def until_hung_up(self) -> None:
        """A client that waits for an answer sends nothing, so whatever comes is its end."""
        await self._reader.read()

    def reset(self) -> None:
        """Drop the connection with a RST, as a crashed server or a firewall does."""
        connection = self._writer.get_extra_info("socket")
        if connection is not None:
            # Lingering for zero seconds: closing sends RST instead of FIN.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase if status in _KNOWN else 'Unknown'}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


_KNOWN: Final = frozenset(int(status) for status in HTTPStatus)
