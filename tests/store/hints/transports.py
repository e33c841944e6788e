"""The two transports of hints as a test needs them: open, watch, break, go silent."""

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import asyncpg
import nats

from chatd.clock import Clock
from chatd.store.hints import CHANNEL, Hints, postgres_hints
from chatd.store.hints.nats import SUBJECT, nats_hints

PATIENCE = 10  # real seconds that a test waits for something that must happen


class Transport(Protocol):
    def open(self, clock: Clock) -> AbstractAsyncContextManager[Hints]: ...

    async def cut(self) -> None:
        """End every connection of hints; the next one will succeed."""
        ...

    def tap(self, seen: Callable[[object], None]) -> AbstractAsyncContextManager[None]:
        """Call `seen` with every message on the wire."""
        ...

    def through_proxy(self, clock: Clock) -> AbstractAsyncContextManager[tuple[Hints, "Proxy"]]: ...


class PostgresTransport:
    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def open(self, clock: Clock) -> AbstractAsyncContextManager[Hints]:
        return postgres_hints(lambda: self._dsn, clock=clock)

    async def cut(self) -> None:
        connection = await asyncpg.connect(self._dsn)
        try:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'chatd hints' AND datname = current_database()"
            )
        finally:
            await connection.close()

    @asynccontextmanager
    async def tap(self, seen: Callable[[object], None]) -> AsyncGenerator[None]:
        connection = await asyncpg.connect(self._dsn)
        try:
            await connection.add_listener(CHANNEL, lambda *event: seen(event[3]))
            yield
        finally:
            await connection.close()

    @asynccontextmanager
    async def through_proxy(self, clock: Clock) -> AsyncGenerator[tuple[Hints, "Proxy"]]:
        connection = await asyncpg.connect(self._dsn)
        address, parameters = connection._addr, connection._params
        await connection.close()

        async def upstream() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            if isinstance(address, str):
                return await asyncio.open_unix_connection(address)
            return await asyncio.open_connection(*address)

        async with Proxy(upstream) as proxy:
            who = f"{quote(parameters.user)}:{quote(parameters.password or '')}"
            dsn = f"postgresql://{who}@127.0.0.1:{proxy.port}/{quote(parameters.database)}?sslmode=disable"
            async with postgres_hints(lambda: dsn, clock=clock) as hints:
                yield hints, proxy


class NatsTransport:
    """A NATS server of its own."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port: int = probe.getsockname()[1]
        self._server = self._start()

    @property
    def url(self) -> str:
        return f"nats://someone:hunter2@127.0.0.1:{self._port}"

    def _start(self) -> "subprocess.Popen[str]":
        program = Path(sys.executable).parent / "nats-server"
        command = [
            program,
            "-a",
            "127.0.0.1",
            "-p",
            str(self._port),
            "--user",
            "someone",
            "--pass",
            "hunter2",
        ]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert server.stderr
        said: list[str] = []
        for line in server.stderr:
            said.append(line)
            if "Server is ready" in line:
                return server
        raise AssertionError("nats-server did not start:\n" + "".join(said))

    def stop(self) -> None:
        self._server.kill()
        self._server.wait(PATIENCE)
        assert self._server.stderr
        self._server.stderr.close()

    def open(self, clock: Clock) -> AbstractAsyncContextManager[Hints]:
        return nats_hints(self.url, clock=clock)

    async def cut(self) -> None:
        self.stop()
        self._server = self._start()

    @asynccontextmanager
    async def tap(self, seen: Callable[[object], None]) -> AsyncGenerator[None]:

        async def saw(message: object) -> None:
            seen(message)

        echoed = asyncio.Event()

        async def echo(_message: object) -> None:
            echoed.set()

        client = await nats.connect(self.url)
        try:
            await client.subscribe(SUBJECT, cb=saw)
            # The client's flush overtakes what it has not written yet; a message to ourselves does not.
            await client.subscribe("tap.echo", cb=echo)
            await client.publish("tap.echo", b"")
            await echoed.wait()
            yield
        finally:
            await client.close()

    @asynccontextmanager
    async def through_proxy(self, clock: Clock) -> AsyncGenerator[tuple[Hints, "Proxy"]]:
        async with (
            Proxy(lambda: asyncio.open_connection("127.0.0.1", self._port)) as proxy,
            nats_hints(f"nats://someone:hunter2@127.0.0.1:{proxy.port}", clock=clock) as hints,
        ):
            yield hints, proxy


class Proxy:
    """Passes bytes on. Silenced, its connections stay open and nothing moves, as when a cable is cut."""

    def __init__(self, upstream: Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]) -> None:
        self._upstream = upstream
        self._silences = 0
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def silence(self) -> None:
        """Swallow what comes on the connections of this moment; later ones work."""
        self._silences += 1

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await self._upstream()
        self._writers += [writer, there_writer]
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._pass_on(reader, there_writer, self._silences))
            tasks.create_task(self._pass_on(there_reader, writer, self._silences))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, silences: int) -> None:
        with contextlib.suppress(OSError):
            while read := await reader.read(65536):
                if self._silences == silences:
                    writer.write(read)
                    await writer.drain()
        writer.close()
