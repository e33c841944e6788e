"""The way out of a sandbox without a network: an HTTP proxy on a Unix socket, for hosts that are on a list.

A name is looked up here, each address found is judged, and exactly that address is connected to: what the name means
a moment later does not matter. Private, loopback and link-local addresses are never connected to, whatever the list
has, unless the operator has their network among his own.
"""

import asyncio
import os
import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Final

from chatd.clock import Clock
from chatd.core.public_addresses import may_be_asked
from chatd.core.workspaces.egress import HostRule, is_listed

_MOST_HEAD_BYTES: Final = 64 * 1024  # of a request's first line and headers; browsers and servers stop far below
_HEAD_SECONDS: Final = 30.0  # for a client to say what it wants
_CONNECT_SECONDS: Final = 20.0  # a host that has not answered by then is not reachable
_LINGER_SECONDS: Final = 1.0  # for a client that is refused to say the rest, and to read why
_IDLE_SECONDS: Final = 900.0  # without a byte in either direction: a quarter of an hour, as routers do at least
_MOST_CONNECTIONS: Final = 512  # of one workspace at a time; each has two descriptors and two buffers
_CHUNK_BYTES: Final = 64 * 1024
_BACKLOG: Final = 128
_HTTP_PORT: Final = 80

# Nothing else in a name: the system's lookup stops at a NUL, and would find another host than the one that is listed.
_HOST: Final = rb"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)"
_CONNECT: Final = re.compile(rb"CONNECT " + _HOST + rb":([0-9]{1,5}) HTTP/1\.[01]")
_PLAIN: Final = re.compile(rb"([A-Za-z]+) http://" + _HOST + rb"(?::([0-9]{1,5}))?([/?][^\s#]*)? (HTTP/1\.[01])", re.I)
_OF_THIS_HOP: Final = (b"connection:", b"proxy-connection:", b"proxy-authorization:", b"keep-alive:", b"host:")


class Refusal(Exception):
    """What the client is told instead, with an HTTP status."""

    def __init__(self, status: str, why: str) -> None:
        super().__init__(why)
        self.status = status


class EgressProxy:
    def __init__(self, rules: Sequence[HostRule], private_networks: Sequence[str], clock: Clock) -> None:
        self._rules = rules
        self._networks = [ip_network(network, strict=False) for network in private_networks]
        self._clock = clock
        self._open = 0

    async def serve(self, path: Path) -> asyncio.Server:
        """Listen at that path, for every user that can reach it."""
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        _bind(bound, path)
        return await asyncio.start_unix_server(self._answer, sock=bound, limit=_MOST_HEAD_BYTES, backlog=_BACKLOG)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open > _MOST_CONNECTIONS:
                raise Refusal(
                    "503 Service Unavailable", f"{_MOST_CONNECTIONS} connections are open, which is the most."
                )
            await self._relay(reader, writer)
        except Refusal as refusal:
            with suppress(OSError):  # TimeoutError is one
                writer.write(_told(refusal))
                writer.write_eof()
                async with self._clock.timeout(_LINGER_SECONDS, timer="egress refusal"):
                    while await reader.read(_CHUNK_BYTES):
                        pass  # closed over what was not read, the refusal would be lost
        except OSError:
            return  # whoever went away knows
        finally:
            self._open -= 1
            writer.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await self._head(reader)
        line, _, headers = head.partition(b"\r\n")
        if found := _CONNECT.fullmatch(line):
            host, port, first = found[1].decode("latin-1"), int(found[2]), b""
        elif found := _PLAIN.fullmatch(line):
            host, port = found[2].decode("latin-1"), int(found[3] or _HTTP_PORT)
            first = _as_for_origin(found, headers)
        else:
            raise Refusal("400 Bad Request", "This is a proxy for http:// addresses and for CONNECT.")
        remote_reader, remote_writer = await self._connect(host.strip("[]"), port)
        try:
            if first:
                remote_writer.write(first)
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            idle = _Idle(self._clock)
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(reader, remote_writer, idle), name="out")
                group.create_task(_pump(remote_reader, writer, idle), name="in")
        except* OSError:  # TimeoutError is one
            pass  # whoever went away knows
        finally:
            remote_writer.close()

    async def _head(self, reader: asyncio.StreamReader) -> bytes:
        try:
            async with self._clock.timeout(_HEAD_SECONDS, timer="egress head"):
                return (await reader.readuntil(b"\r\n\r\n"))[:-2]
        except asyncio.LimitOverrunError:
            raise Refusal("431 Request Header Fields Too Large", "The request's head is too large.") from None
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError from error

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connected to an address that was judged, whatever the name may mean by now."""
        if not is_listed(self._rules, host, port):
            raise Refusal(
                "403 Forbidden",
                f"{host}, port {port}, is not on the list of hosts that this workspace may connect to. "
                "An administrator can add it to the template.",
            )
        try:
            async with self._clock.timeout(_CONNECT_SECONDS, timer="egress connect"):
                return await self._dial(host, port)
        except TimeoutError:
            raise Refusal("504 Gateway Timeout", f"{host}, port {port}, did not answer in time.") from None

    async def _dial(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError, OverflowError):
            raise Refusal("502 Bad Gateway", f"There is no host {host}.") from None
        addresses = [str(entry[4][0]) for entry in found]
        allowed = [address for address in addresses if may_be_asked(address, self._networks)]
        if not allowed:
            raise Refusal("403 Forbidden", f"{host} is not at a public address. Workspaces reach public ones only.")
        for address in allowed:
            try:
                return await asyncio.open_connection(address, port, limit=_CHUNK_BYTES)
            except OSError:
                continue
        raise Refusal("502 Bad Gateway", f"{host}, port {port}, can't be reached.")


def _bind(bound: socket.socket, path: Path) -> None:
    """By the folder's descriptor, for a path that is too long for a socket."""
    path.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        bound.bind(f"/proc/self/fd/{folder}/{path.name}")
        path.chmod(0o666)
    finally:
        os.close(folder)


class _Idle:
    """One bound for both directions: a long download is not idle because nothing is sent."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = clock.monotonic()

    async def read(self, reader: asyncio.StreamReader) -> bytes:
        while True:
            left = self._last + _IDLE_SECONDS - self._clock.monotonic()
            if left <= 0:
                raise TimeoutError
            with suppress(TimeoutError):
                async with self._clock.timeout(left, timer="egress idle"):
                    chunk = await reader.read(_CHUNK_BYTES)
                self._last = self._clock.monotonic()
                return chunk


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, idle: _Idle) -> None:
    """Until one side says no more; the other direction goes on."""
    while chunk := await idle.read(reader):
        writer.write(chunk)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def _as_for_origin(found: re.Match[bytes], headers: bytes) -> bytes:
    """The request as the host wants it. One request per connection: a second one might be for another host."""
    kept = [line for line in headers.split(b"\r\n") if line and not line.lower().startswith(_OF_THIS_HOP)]
    host = found[2] + (b":" + found[3] if found[3] else b"")
    path = found[4] or b"/"
    first = b" ".join((found[1], path if path.startswith(b"/") else b"/" + path, found[5]))
    return b"\r\n".join((first, b"Host: " + host, *kept, b"Connection: close", b"", b""))


def _told(refusal: Refusal) -> bytes:
    body = f"{refusal}\n".encode()
    head = f"HTTP/1.1 {refusal.status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
