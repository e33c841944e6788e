"""The way out of a sandbox without a network: a port of its own that leads to a proxy's socket outside.

Inside there is only loopback, so programs are told of an HTTP proxy there. Its bytes are passed on as they are: what is
allowed is decided outside, by the proxy at the other end of the Unix socket. At most `MOST_CONNECTIONS` are open; more
wait until one is closed.
"""

import asyncio
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from chatd.clock import Clock

MOST_CONNECTIONS: Final = 256  # two descriptors and twice 64 KiB each; a busy build opens some dozens
_CHUNK_BYTES: Final = 64 * 1024
_AGAIN_SECONDS: Final = 0.1  # after a connection that could not be accepted
_NO_PROXY: Final = "localhost,127.0.0.1,::1"  # what the workspace serves to itself
_NO_WAY_OUT: Final = (
    b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"The proxy through which this workspace reaches the network does not answer.\n"
)


class EgressForwarder:
    """Accepts on a socket that listens, and connects each to the Unix socket at `target`."""

    def __init__(self, listening: socket.socket, target: Path, clock: Clock) -> None:
        self._clock = clock
        self._listening = listening
        self._target = target

    @property
    def environment(self) -> Mapping[str, str]:
        """What tells programs of it. Some read the names in capitals, some the others."""
        url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        named = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url, "NO_PROXY": _NO_PROXY}
        return named | {name.lower(): value for name, value in named.items()}

    async def run(self) -> None:
        """Until it is cancelled; connections end with it."""
        loop = asyncio.get_running_loop()
        free = asyncio.Semaphore(MOST_CONNECTIONS)
        self._listening.setblocking(False)
        with self._listening:
            async with asyncio.TaskGroup() as relays:
                while True:
                    await free.acquire()
                    try:
                        accepted, _ = await loop.sock_accept(self._listening)
                    except OSError:  # who came has left, or no descriptor is free
                        free.release()
                        await self._clock.sleep(_AGAIN_SECONDS, timer="egress")
                        continue
                    relays.create_task(self._relay(accepted), name="egress").add_done_callback(
                        lambda _ended: free.release()
                    )

    async def _relay(self, accepted: socket.socket) -> None:
        try:
            inner = await asyncio.open_connection(sock=accepted, limit=_CHUNK_BYTES)
        except OSError:
            accepted.close()
            return
        try:
            try:
                outer = await asyncio.open_unix_connection(self._target, limit=_CHUNK_BYTES)
            except OSError:
                with suppress(OSError):
                    await inner[0].read(_CHUNK_BYTES)  # closed over what was not read, the answer would be lost
                    inner[1].write(_NO_WAY_OUT)
                    await inner[1].drain()
                return
            try:
                async with asyncio.TaskGroup() as directions:
                    directions.create_task(_pass_on(inner[0], outer[1]), name="egress out")
                    directions.create_task(_pass_on(outer[0], inner[1]), name="egress in")
            except* OSError:
                pass  # one end is gone, and with it the connection
            finally:
                outer[1].close()
        finally:
            inner[1].close()


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Never more at once than what the other end takes; an end of one direction leaves the other open."""
    while chunk := await source.read(_CHUNK_BYTES):
        target.write(chunk)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()
