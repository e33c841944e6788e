"""A replica's private listener and another replica that asks it, over real sockets, without a database."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from chatd.background import beside
from chatd.clock import Clock, SystemClock
from chatd.core.parts import TextPart
from chatd.core.preview import Preview
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.engine.episodes import Episode, Episodes
from chatd.observe.metrics import Metrics
from chatd.server.relay.credentials import Credentials, issue, name_of
from chatd.server.relay.listener import RelayListener
from chatd.server.relay.relay import Relay
from chatd.server.relay.remote_chat import RemoteChat

OWNER, ASKER = UUID(int=1), UUID(int=2)
CHAT, OTHER = UUID(int=11), UUID(int=12)
LONG = 20.0  # seconds; for what happens at once

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def authority() -> Secret:
    key = ec.generate_private_key(ec.SECP256R1())
    return Secret(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())


AUTHORITY = authority()


def text(words: str) -> Preview:
    return Preview(Role.ASSISTANT, TextPart(text=words))


def say(episode: Episode, *words: str) -> None:
    for word in words:
        episode.add(text(word))
    episode.announce()


class Wire:
    """The owner's episodes, and the relay of who follows them. `cut` ends the connections that there are."""

    def __init__(self, clock: Clock, own: Credentials, asking: Credentials) -> None:
        self.episodes = Episodes()
        self.clock = clock
        self.is_up = True
        self.dialled = 0
        self._writers: list[asyncio.StreamWriter] = []
        self._asking = asking
        self.metrics = Metrics().streams
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.listener = RelayListener(self.socket, own.listening, self.episodes, clock, self.metrics)
        self.relay = Relay(ASKER, self.dial, clock, self.metrics)

    async def dial(self, replica_id: UUID) -> Streams:
        self.dialled += 1
        if not self.is_up:
            raise ConnectionRefusedError("down")
        reader, writer = await connect(self.socket.getsockname()[1], self._asking, replica_id)
        self._writers.append(writer)
        return reader, writer

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def follow(
        self, chat_id: UUID = CHAT, replica_id: UUID = OWNER
    ) -> tuple["Mirrors", RemoteChat, Callable[[], None]]:
        mirrors = Mirrors()
        remote, leave = self.relay.follow(chat_id, replica_id, (0, 0), mirrors.opened)
        return mirrors, remote, leave


class Mirrors:
    """What was told of one chat. Waiting is for changes, never for time."""

    def __init__(self) -> None:
        self.all: dict[tuple[int, int], Episode] = {}
        self._changed = asyncio.Event()

    def opened(self, mirror: Episode) -> None:
        assert mirror.key not in self.all, "no episode is told of twice"
        self.all[mirror.key] = mirror
        mirror.listen(self._changed.set)
        self._changed.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(LONG):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def like(self, original: Episode) -> Episode:
        """The mirror, once it has all parts of the original, and is closed if that is."""

        def holds() -> bool:
            mirror = self.all.get(original.key)
            return mirror is not None and mirror.last >= original.last and mirror.is_closed == original.is_closed

        await self.until(holds)
        return self.all[original.key]


async def connect(port: int, credentials: Credentials, replica_id: UUID) -> Streams:
    return await asyncio.open_connection(
        "127.0.0.1", port, ssl=credentials.dialling, server_hostname=name_of(replica_id)
    )


@asynccontextmanager
async def wired(
    *, clock: Clock | None = None, own: Credentials | None = None, asking: Credentials | None = None
) -> AsyncIterator[Wire]:
    wire = Wire(clock or SystemClock(), own or issue(AUTHORITY, OWNER), asking or issue(AUTHORITY, ASKER))
    async with beside({"listener": wire.listener.run(), "relay": wire.relay.run()}):
        await started()
        yield wire


async def started() -> None:
    """Let what was begun run up to its first wait."""
    for _ in range(3):
        await asyncio.get_running_loop().run_in_executor(None, lambda: None)
