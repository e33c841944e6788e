"""The live parts of all attempts into the database, once a second, so that they survive the process that shows them."""

import asyncio
from collections.abc import Iterable
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.access import WORKER
from chatd.core.preview import Preview, merged
from chatd.core.stored_previews import decode_previews, encode_previews
from chatd.engine.episodes import Episode, Episodes
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.queries import CheckpointRow
from chatd.store.store import Store

CHECKPOINT_SECONDS: Final = 1.0  # what readers saw within this time may be lost with the replica
# Of one statement: two thousand chats say about 2 MB in a second. What does not fit waits for the next second.
MOST_CHARACTERS: Final = 32 * 1024 * 1024
_log = get_logger("chatd.checkpoints")


class _Range(msgspec.Struct, frozen=True):
    """What an episode has shown and is not known to be stored; `first` is the number of its first part."""

    episode: Episode
    first: int
    last: int
    previews: list[Preview]

    def row(self) -> CheckpointRow:
        episode = self.episode
        text = encode_previews(self.previews)
        return CheckpointRow(episode.chat_id, episode.history_version, episode.attempt, self.first, self.last, text)


class Checkpoints:
    """`run` beside the worker. What is kept for the next second belongs to open episodes, which are bounded."""

    def __init__(self, store: Store, episodes: Episodes, clock: Clock, *, replica_id: UUID) -> None:
        self._store = store
        self._episodes = episodes
        self._clock = clock
        self._replica_id = replica_id
        self._waiting: dict[UUID, _Range] = {}  # by chat: what could not be written
        self._written: dict[UUID, int] = {}  # the history version of which the database has something, by chat
        self._writing = asyncio.Lock()

    async def run(self) -> None:
        while True:
            await self._clock.sleep(CHECKPOINT_SECONDS, timer="checkpoint")
            await self.flush()

    async def flush(self) -> bool:
        """Write what is new, in one statement, if there is anything. Whether all of it is written; never raises."""
        async with self._writing:
            try:
                return await self._write()
            except Exception as error:  # noqa: BLE001 - the next second tries again
                _log.warning("live parts can't be checkpointed", error=str(error) or type(error).__name__)
                return False

    async def checkpointed(self, chat_id: UUID, history_version: int) -> list[Preview]:
        """What readers were shown of this step by the newest attempt, here or on another replica. Acts as its caller.

        It ends where a row can't be read or is missing: what follows a gap is not what was shown.
        """
        rows = await self._store.list_checkpoints(chat_id=chat_id, history_version=history_version)
        previews: list[Preview] = []
        last = 0
        for row in rows:
            if row.first_seq != last + 1:
                break
            try:
                previews += decode_previews(row.parts)
            except (msgspec.DecodeError, ValueError) as error:
                _log.warning("a checkpoint can't be read", chat_id=str(chat_id), error=str(error))
                break
            last = row.last_seq
        return merged(previews)

    async def _write(self) -> bool:
        done = [chat_id for chat_id, version in self._written.items() if not self._is_open(chat_id, version)]
        self._take()
        rows, later = _fitting(self._waiting.values())
        if not rows and not done:
            return True
        with acting_as(WORKER):
            await self._store.write_checkpoints(writer=self._replica_id, ranges=rows, done=done)
        for chat_id in done:
            del self._written[chat_id]
        for row in rows:
            self._written[row.chat_id] = row.history_version
            del self._waiting[row.chat_id]
        return not later

    def _take(self) -> None:
        """Move what is fresh to what waits; what waits of an episode that is over is of no use to anyone."""
        waiting, self._waiting = self._waiting, {}
        for episode in self._episodes.open_episodes():
            before = waiting.get(episode.chat_id)
            if before is not None and before.episode is not episode:
                before = None
            fresh, last = episode.fresh, episode.last
            if not fresh:
                if before is not None:
                    self._waiting[episode.chat_id] = before
                continue
            episode.fresh = []
            first = before.first if before else last - len(fresh) + 1
            previews = merged([*before.previews, *fresh] if before else fresh)
            self._waiting[episode.chat_id] = _Range(episode, first, last, previews)

    def _is_open(self, chat_id: UUID, history_version: int) -> bool:
        episode = self._episodes.current(chat_id)
        return episode is not None and not episode.is_closed and episode.history_version == history_version


def _fitting(ranges: Iterable[_Range]) -> tuple[list[CheckpointRow], bool]:
    """Those that one statement carries, and whether some are left. One always fits: an episode is bounded."""
    rows: list[CheckpointRow] = []
    size = 0
    for waiting in ranges:
        row = waiting.row()
        if rows and size + len(row.parts) > MOST_CHARACTERS:
            return rows, True
        size += len(row.parts)
        rows.append(row)
    return rows, False
