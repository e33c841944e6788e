"""Whoever watches a chat learns of each change, however badly hints travel."""

import random
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest_asyncio

from chatd.background import beside
from chatd.clock import SystemClock
from chatd.store.chat_hints import ChatHint, chat_topic
from chatd.store.chat_watch import ChatWatch
from chatd.store.hints import Hint, postgres_hints
from chatd.store.queries import ListChatVersionsRow
from chatd.store.store import SqlStore
from chatd.testing.fake_clock import FakeClock
from engine.deployment import Deployment, LocalHints, Notes, open_deployment, said


@pytest_asyncio.fixture
async def deployment(database: Any) -> AsyncIterator[Deployment]:
    async with open_deployment(database.dsn) as deployment:
        yield deployment


class Ear(Notes):
    """What a watcher heard."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[ChatHint] = []

    def __call__(self, hint: ChatHint) -> None:
        self.heard.append(hint)
        self.note()

    @property
    def versions(self) -> list[int]:
        return [hint.snapshot_version for hint in self.heard]


class CountingStore(SqlStore):
    def __init__(self, deployment: Deployment) -> None:
        super().__init__(deployment.pool)
        self.polls = 0

    async def list_chat_versions(self, *, chat_ids: Any) -> list[ListChatVersionsRow]:
        self.polls += 1
        return await super().list_chat_versions(chat_ids=chat_ids)


def local_hints(deployment: Deployment) -> LocalHints:
    assert isinstance(deployment.hints, LocalHints)
    return deployment.hints


async def grow(deployment: Deployment, chat_id: UUID, times: int = 1) -> int:
    """Change the chat; its newest snapshot."""
    for _ in range(times):
        await deployment.transitions.send_message(chat_id, said("more", deployment.user_id))
    return (await deployment.state(chat_id))["snapshot_version"]


async def test_a_hint_is_heard_at_once_and_says_what_changed(deployment: Deployment):
    chat = await deployment.new_chat()
    ear = Ear()
    watch = ChatWatch(deployment.guarded, deployment.hints, FakeClock())
    watch.watch(chat, 1, ear)

    newest = await grow(deployment, chat)

    assert ear.versions == [newest]
    assert ear.heard[0].queue_version == newest
    assert ear.heard[0].history_version == 1


async def test_hints_that_are_doubled_or_come_in_any_order_are_heard_once_and_never_backwards(deployment: Deployment):
    hints = local_hints(deployment)
    chat = await deployment.new_chat()
    hints.lost = True
    newest = await grow(deployment, chat, 10)
    sent = [hint for hint in hints.published if hint.topic == chat_topic(chat)] * 3
    random.Random(7).shuffle(sent)
    ear = Ear()
    ChatWatch(deployment.guarded, hints, FakeClock()).watch(chat, 1, ear)

    for hint in sent:
        hints.deliver(hint)

    assert ear.versions == sorted(set(ear.versions))
    assert ear.versions[-1] == newest


async def test_what_is_known_already_is_no_news(deployment: Deployment):
    chat = await deployment.new_chat()
    ear = Ear()
    watching = ChatWatch(deployment.guarded, deployment.hints, FakeClock()).watch(chat, 2, ear)
    await grow(deployment, chat)  # 2
    watching.knows(4)
    await grow(deployment, chat, 2)  # 3, 4
    assert ear.versions == []

    assert await grow(deployment, chat) == 5
    assert ear.versions == [5]


async def test_one_poll_for_all_chats_repairs_lost_hints_within_two_seconds(deployment: Deployment):
    hints, clock, store = local_hints(deployment), FakeClock(), CountingStore(deployment)
    chats = [await deployment.new_chat() for _ in range(5)]
    ears = {chat: Ear() for chat in chats}
    watch = ChatWatch(store, hints, clock)
    for chat, ear in ears.items():
        watch.watch(chat, 1, ear)
    async with beside({"watch": watch.run()}):
        await clock.wait_for("chat-versions")
        hints.lost = True
        newest = {chat: await grow(deployment, chat, 2) for chat in chats[:3]}
        await clock.advance(2)
        await clock.wait_for("chat-versions")

    assert {chat: ear.versions for chat, ear in ears.items() if ear.versions} == {
        chat: [version] for chat, version in newest.items()
    }
    assert store.polls == 1


async def test_a_gap_makes_it_look_at_once_and_once_for_all(deployment: Deployment):
    hints, clock, store = local_hints(deployment), FakeClock(), CountingStore(deployment)
    chats = [await deployment.new_chat() for _ in range(3)]
    ear = Ear()
    watch = ChatWatch(store, hints, clock)
    for chat in chats:
        watch.watch(chat, 1, ear)
    async with beside({"watch": watch.run()}):
        await clock.wait_for("chat-versions")
        hints.lost = True
        await grow(deployment, chats[0])
        hints.gap()
        await ear.until(lambda: ear.versions == [2])
        await clock.wait_for("chat-versions")

    assert (store.polls, clock.monotonic()) == (1, 0)


async def test_a_hint_that_can_not_be_read_makes_it_look(deployment: Deployment):
    hints, clock = local_hints(deployment), FakeClock()
    chat = await deployment.new_chat()
    ear = Ear()
    watch = ChatWatch(deployment.guarded, hints, clock)
    watch.watch(chat, 1, ear)
    async with beside({"watch": watch.run()}):
        await clock.wait_for("chat-versions")
        hints.lost = True
        await grow(deployment, chat)
        hints.deliver(Hint(chat_topic(chat), b"of another version"))
        await ear.until(lambda: ear.versions == [2])


async def test_who_has_closed_hears_nothing_and_nobody_is_asked_about(deployment: Deployment):
    chat = await deployment.new_chat()
    one, two, store = Ear(), Ear(), CountingStore(deployment)
    watch = ChatWatch(store, deployment.hints, FakeClock())
    first, second = watch.watch(chat, 1, one), watch.watch(chat, 1, two)
    first.close()
    await grow(deployment, chat)
    assert (one.versions, two.versions) == ([], [2])

    second.close()
    second.close()
    await watch.poll()
    assert store.polls == 0


async def test_a_listener_that_fails_harms_no_other(deployment: Deployment):
    def fail(_: ChatHint) -> None:
        raise RuntimeError("a listener's mistake")

    chat, ear = await deployment.new_chat(), Ear()
    watch = ChatWatch(deployment.guarded, deployment.hints, FakeClock())
    watch.watch(chat, 1, fail)
    watch.watch(chat, 1, ear)
    await grow(deployment, chat)

    assert ear.versions == [2]


async def test_a_poll_that_fails_is_made_again(deployment: Deployment):
    hints, clock = local_hints(deployment), FakeClock()
    chat, ear = await deployment.new_chat(), Ear()
    watch = ChatWatch(deployment.guarded, hints, clock)
    watch.watch(chat, 1, ear)
    hints.lost = True
    await grow(deployment, chat)
    async with beside({"watch": watch.run()}):
        await deployment.pool.execute("ALTER TABLE chat_state RENAME TO away")
        await clock.wait_for("chat-versions")
        await clock.advance(2)
        await clock.wait_for("chat-versions")
        await deployment.pool.execute("ALTER TABLE away RENAME TO chat_state")
        await clock.advance(2)
        await ear.until(lambda: ear.versions == [2])


async def test_changes_are_heard_across_processes_over_the_database(database: Any):
    clock = SystemClock()
    async with (
        postgres_hints(lambda: database.dsn, clock=clock) as there,
        postgres_hints(lambda: database.dsn, clock=clock) as here,
        open_deployment(database.dsn, there) as deployment,
    ):
        await here.wait_connected()
        chat, ear = await deployment.new_chat(), Ear()
        watch = ChatWatch(deployment.guarded, here, FakeClock())
        watch.watch(chat, 1, ear)
        await grow(deployment, chat)
        await ear.until(lambda: ear.versions == [2])
