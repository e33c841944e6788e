"""A way to the server that breaks: it cuts connections after so many bytes of the answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

_HEAD_END = b"\r\n\r\n"


class CuttingWay:
    """`streams` and `posts` are for the next connections that ask for that, one number each; then nothing is cut."""

    def __init__(self, to: str) -> None:
        parts = urlsplit(to)
        self._to = (parts.hostname, parts.port)
        self.url = ""
        self.streams: list[int] = []
        self.posts: list[int] = []
        self.cuts = 0
        self._carried: list[asyncio.StreamWriter] = []  # streams that go on
        self._open: set[asyncio.StreamWriter] = set()

    def cut_streams(self) -> bool:
        """All there are, now; whether there was one."""
        cut = len(self._carried)
        for writer in self._carried:
            writer.transport.abort()
        self._carried.clear()
        self.cuts += cut
        return cut > 0

    def cut_all(self) -> int:
        """Every connection there is; how many."""
        for writer in self._open:
            writer.transport.abort()
        return len(self._open)

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(*self._to)
        self._open.add(writer)
        try:
            head = await reader.readuntil(_HEAD_END)
            far_writer.write(head)
            limit = self._limit(head)
            if limit is None and b"/stream" in head:
                self._carried.append(writer)
            async with asyncio.TaskGroup() as tasks:
                up = tasks.create_task(_copy(reader, far_writer))
                await self._answer(far_reader, writer, limit)
                up.cancel()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._open.discard(writer)
            far_writer.close()
            writer.transport.abort()

    def _limit(self, head: bytes) -> int | None:
        line = head.split(b"\r\n")[0]
        limits = self.streams if b"/stream" in line else self.posts if line.startswith(b"POST") else []
        return limits.pop(0) if limits else None

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int | None) -> None:
        passed = 0
        while piece := await reader.read(2**16):
            if limit is not None and passed + len(piece) >= limit:
                writer.write(piece[: limit - passed])
                self.cuts += 1
                await writer.drain()
                writer.close()  # what was written arrives, and then no more
                with suppress(ConnectionError):
                    await writer.wait_closed()
                return
            passed += len(piece)
            writer.write(piece)
            await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(2**16):
            writer.write(piece)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def cutting_way(to: str) -> AsyncIterator[CuttingWay]:
    way = CuttingWay(to)
    async with asyncio.TaskGroup() as tasks:
        carried: list[asyncio.Task[None]] = []

        def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            carried.append(tasks.create_task(way.carry(reader, writer)))

        server = await asyncio.start_server(begin, "127.0.0.1", 0)
        way.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield way
        finally:
            server.close()
            for task in carried:
                task.cancel()
