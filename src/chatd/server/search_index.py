"""Brings the words that a search looks at up to date, behind the turns: about a second after what was said.

What this replica commits is noted in memory, which costs a turn nothing; the database does the rest, a few chats at a
time. What nobody has noted (a process that was killed, a database that was away) is found by going round all chats by
their ids: without pause after a start, and a page now and then later on.
"""

from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import INDEXER
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.store import Store
from chatd.store.transitions import Applied

EVERY_SECONDS: Final = 1.0  # how old an answer is until it is found
AT_ONCE: Final = 20  # chats in a statement: milliseconds for the messages of a turn each
MESSAGES_AT_ONCE: Final = 100  # of one of them, so that a statement never takes long; a long history takes several
MOST_BATCHES: Final = 50  # of a round, so that a thousand turns a second can end
MOST_SECONDS: Final = 0.25  # of a round: a database that has years to catch up with has time for turns too
MOST_NOTED: Final = 20_000  # chats, about 2 MB; more are left to be found
PAGE: Final = 2000  # chats to look at, by their key: a few milliseconds
PAGE_EVERY: Final = 10  # rounds, once all were looked at
_FIRST: Final = UUID(int=0)
_log = get_logger("chatd.search_index")


class SearchIndex:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._noted: dict[UUID, None] = {}
        self._looked_through = _FIRST
        self._is_first_time = True
        self._rounds = 0
        self._is_failing = False

    def note(self, applied: Applied) -> None:
        """A transition was committed. Returns at once."""
        change = applied.change
        if change.history_version == change.snapshot_version and not change.is_child and len(self._noted) < MOST_NOTED:
            self._noted[change.chat_id] = None

    async def run(self) -> None:
        while True:
            await self._clock.sleep(EVERY_SECONDS, timer="search index")
            try:
                await self.catch_up()
            except Exception as error:  # noqa: BLE001 - whatever the database has: the next round tries again
                if not self._is_failing:  # once, and not every second
                    _log.warning("messages can't be made searchable", error=str(error) or type(error).__name__)
                self._is_failing = True
            else:
                self._is_failing = False

    async def catch_up(self) -> None:
        """One round."""
        with acting_as(INDEXER):
            self._rounds += 1
            if self._is_first_time or self._rounds % PAGE_EVERY == 0:
                await self._look_around()
            ends = self._clock.monotonic() + MOST_SECONDS
            for _ in range(MOST_BATCHES):
                if not self._noted or self._clock.monotonic() >= ends or not await self._index_some():
                    return

    async def _index_some(self) -> bool:
        """Whether to go on: not while another replica is at it."""
        batch = dict.fromkeys(list(self._noted)[:AT_ONCE])
        for chat_id in batch:
            del self._noted[chat_id]  # before: what is committed meanwhile is noted anew
        try:
            more = await self._store.index_messages(chat_ids=list(batch), most=MESSAGES_AT_ONCE)
        except BaseException:
            self._noted.update(batch)
            raise
        self._noted.update(dict.fromkeys(row.chat_id for row in more))
        return not any(row.is_busy for row in more)

    async def _look_around(self) -> None:
        """The next page of all chats."""
        if len(self._noted) >= PAGE:
            return  # first what is known
        page = await self._store.list_unindexed_chats(after_id=self._looked_through, max_rows=PAGE)
        self._noted.update(dict.fromkeys(row.chat_id for row in page if row.is_due))
        if page:
            self._looked_through = page[-1].chat_id
        else:
            self._looked_through, self._is_first_time = _FIRST, False
