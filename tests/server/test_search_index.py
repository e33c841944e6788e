"""The index behind a search keeps up: what was noted is not lost by a failure, and what nobody noted is found."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from chatd.background import beside
from chatd.core.errors import StoreUnavailable
from chatd.server import search_index
from chatd.server.search_index import EVERY_SECONDS, MOST_NOTED, PAGE_EVERY, SearchIndex
from chatd.store.queries import IndexMessagesRow, ListUnindexedChatsRow
from chatd.store.transitions import Applied
from chatd.testing.fake_clock import FakeClock


class Change(msgspec.Struct):
    chat_id: UUID
    history_version: int = 5
    snapshot_version: int = 5
    is_child: bool = False


class Index:
    """Answers as the database would: `more` are the chats that are not done yet, `all` those that there are."""

    def __init__(self) -> None:
        self.asked: list[list[UUID]] = []
        self.looked: list[UUID] = []
        self.more: set[UUID] = set()
        self.all: list[tuple[UUID, bool]] = []
        self.is_busy = False
        self.fails = False
        self.meanwhile: Any = lambda: None

    async def index_messages(self, *, chat_ids: Sequence[UUID], most: int) -> list[IndexMessagesRow]:
        self.asked.append(list(chat_ids))
        self.meanwhile()
        if self.fails:
            raise StoreUnavailable("The database is away.")
        if self.is_busy:
            return [IndexMessagesRow(id, True) for id in chat_ids]
        return [IndexMessagesRow(id, False) for id in chat_ids if id in self.more]

    async def list_unindexed_chats(self, *, after_id: UUID, max_rows: int) -> list[ListUnindexedChatsRow]:
        self.looked.append(after_id)
        page = [ListUnindexedChatsRow(*row) for row in self.all if row[0] > after_id][:max_rows]
        return [row for row in page if row.is_due or row is page[-1]]


def applied(number: int, **fields: Any) -> Applied:
    change: Any = Change(UUID(int=number), **fields)
    return Applied(change, ())


def started(*numbers: int) -> tuple[SearchIndex, Index, FakeClock]:
    store, clock = Index(), FakeClock()
    given: Any = store
    index = SearchIndex(given, clock)
    for number in numbers:
        index.note(applied(number))
    return index, store, clock


async def test_what_changed_a_history_is_indexed_once():
    index, store, _ = started(1, 2, 1)
    index.note(applied(3, history_version=4))  # an attempt, say
    index.note(applied(4, is_child=True))

    await index.catch_up()
    await index.catch_up()

    assert store.asked == [[UUID(int=1), UUID(int=2)]]


async def test_nothing_is_asked_while_nothing_happens():
    index, store, _ = started()
    for _ in range(2 * PAGE_EVERY):
        await index.catch_up()

    assert store.asked == []
    assert len(store.looked) == 3, "once to learn that there is nothing, then now and then"


async def test_what_failed_or_was_left_to_another_replica_is_tried_again():
    index, store, _ = started(1)
    store.fails = True
    try:
        await index.catch_up()
    except StoreUnavailable:
        store.fails = False
    store.is_busy = True
    await index.catch_up()
    store.is_busy = False
    await index.catch_up()
    await index.catch_up()

    assert store.asked == [[UUID(int=1)]] * 3


async def test_a_long_history_is_gone_on_with_and_what_is_said_meanwhile_is_not_forgotten():
    index, store, _ = started(1)
    store.more = {UUID(int=1)}

    def meanwhile() -> None:
        index.note(applied(2))
        store.more, store.meanwhile = set(), lambda: None

    store.meanwhile = meanwhile
    await index.catch_up()
    index.note(applied(3))
    store.meanwhile = lambda: index.note(applied(3)) if len(store.asked) == 3 else None
    await index.catch_up()

    assert [sorted(id.int for id in batch) for batch in store.asked] == [[1], [2], [3], [3]]


async def test_all_chats_are_gone_round_after_a_start(monkeypatch: Any):
    monkeypatch.setattr(search_index, "PAGE", 2)
    index, store, _ = started()
    store.all = [(UUID(int=number), number in (2, 5)) for number in range(1, 6)]

    for _ in range(5):
        await index.catch_up()

    assert [id.int for batch in store.asked for id in batch] == [2, 5]
    assert [id.int for id in store.looked] == [0, 2, 4, 5]


async def test_it_goes_on_after_a_failure_and_says_so_once(capsys: Any):
    index, store, clock = started(1)
    store.fails = True
    async with beside({"index": index.run()}):
        for _ in range(3):
            await clock.wait_for("search index")
            await clock.advance(EVERY_SECONDS)
        await clock.wait_for("search index")
        failed = len(store.asked)
        store.fails = False
        await clock.advance(EVERY_SECONDS)
        await clock.wait_for("search index")

    assert failed == 3
    assert len(store.asked) == 4
    assert capsys.readouterr().out.count("can't be made searchable") == 1


def test_what_is_noted_is_bounded():
    index, _, _ = started(*range(MOST_NOTED + 10))

    assert len(index._noted) == MOST_NOTED
