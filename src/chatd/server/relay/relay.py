"""What other replicas run, followed from here: one peer for each of them, while there is something to follow."""

import asyncio
import ssl
from collections.abc import Callable
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import WORKER
from chatd.engine.commits import AWAY
from chatd.engine.drop_warnings import DropWarnings
from chatd.engine.episodes import Episode
from chatd.observe.logs import get_logger
from chatd.observe.stream_metrics import StreamMetrics
from chatd.server.relay.address import address_of
from chatd.server.relay.credentials import name_of
from chatd.server.relay.peer import Dial, Peer, Unreachable
from chatd.server.relay.remote_chat import Key, RemoteChat
from chatd.store.actor import acting_as
from chatd.store.store import Store

_log = get_logger("chatd.relay")


class Relay:
    """`run` once. Before and after that nothing can be followed."""

    def __init__(
        self, own_id: UUID, dial: Dial, clock: Clock, metrics: StreamMetrics, drops: DropWarnings | None = None
    ) -> None:
        self.own_id = own_id
        self._dial = dial
        self._clock = clock
        self._metrics = metrics
        self._drops = drops
        self._peers: dict[UUID, Peer] = {}
        self._tasks: asyncio.TaskGroup | None = None

    @property
    def peers(self) -> int:
        return len(self._peers)

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                await asyncio.get_running_loop().create_future()  # until cancelled
        finally:
            self._tasks = None

    def follow(
        self, chat_id: UUID, replica_id: UUID, begin: Key, told: Callable[[Episode], None]
    ) -> tuple[RemoteChat, Callable[[], None]]:
        """A chat that this replica runs, from an episode on, and what ends following it. `told` gets each mirror."""
        chat = RemoteChat(chat_id, begin, told, self._clock, self._metrics.received, self._drops)
        if self._tasks is None:
            chat.lose()
            return chat, chat.leave
        peer = self._peers.get(replica_id)
        if peer is not None:
            return chat, peer.follow(chat)
        peer = self._peers[replica_id] = Peer(replica_id, self._dial, self._clock, self._metrics)
        leave = peer.follow(chat)
        self._tasks.create_task(self._keep(replica_id, peer), name="relay peer")
        return chat, leave

    async def _keep(self, replica_id: UUID, peer: Peer) -> None:
        try:
            await peer.run()
        except Exception as error:  # noqa: BLE001 - trouble with one replica is not the end of this one
            _log.error("following another replica failed", other_replica=str(replica_id), exc_info=error)
        finally:
            del self._peers[replica_id]


def dialling(store: Store, context: ssl.SSLContext) -> Dial:
    """By the address that the database has of a replica."""

    async def dial(replica_id: UUID) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            with acting_as(WORKER):
                row = await store.get_replica(id=replica_id)
        except AWAY as error:
            raise Unreachable("the database can't say where it is") from error
        if row is None or not row.url:
            raise Unreachable("it is gone, or has no address")
        host, port = address_of(row.url)
        return await asyncio.open_connection(host, port, ssl=context, server_hostname=name_of(replica_id))

    return dial
