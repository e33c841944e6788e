"""Chats of one replica, watched on another: the same parts with the same numbers, and the same picture."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from chatd.core.states import Status
from chatd.core.stream_picture import Picture
from chatd.store.chat_hints import ChatHint
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Fail, Hold, Say, Script, Turn
from server.relay.relaying import started
from server.running import Running, running_server
from server.scripted import scripted_server, send
from server.streaming import Reader, reading
from server.test_engine_room import PATIENCE, begin

WORDS = [f"word{number} " for number in range(40)]


class Two(msgspec.Struct, frozen=True):
    """`one` runs the chats. `other` knows the same people."""

    one: Running
    other: Running


@asynccontextmanager
async def two_replicas(dsn: str, data_dir: Path, script: Script, **more: Any) -> AsyncIterator[Two]:
    async with (
        scripted_server(dsn, data_dir, script) as one,
        running_server(dsn, data_dir, first_user=False, **more) as other,
    ):
        here = other.api.with_token(one.owner.token)
        yield Two(one, msgspec.structs.replace(other, owner=here))


def parts_of(reader: Reader) -> list[Any]:
    return [event for event in reader.seen if event["type"] == "message_part" and "id" in event]


def picture_of(reader: Reader) -> dict[str, Any]:
    picture = Picture()
    for event in reader.seen:
        picture.apply(event)
    return picture.shown()


class Post:
    """The hints that a replica gets about its chats, in the hands of the test."""

    def __init__(self, running: Running) -> None:
        self._watch: Any = running.replica.engine.parts.watch
        self._deliver = self._watch._deliver
        self.held: list[ChatHint] = []
        self.came = asyncio.Event()

    def hold(self) -> None:
        self._watch._deliver = self._keep

    def let_through(self) -> None:
        self._watch._deliver = self._deliver
        for hint in self.held:
            self._deliver(hint)

    async def until(self, holds: Callable[[ChatHint], bool]) -> None:
        while not any(holds(hint) for hint in self.held):
            self.came.clear()
            await self.came.wait()

    def _keep(self, hint: ChatHint) -> None:
        self.held.append(hint)
        self.came.set()


@pytest.mark.behaviour("STREAM-3")
async def test_parts_come_from_the_replica_that_runs_the_chat(database: Any, tmp_path: Path):
    go_on = asyncio.Event()

    def script(_: Any) -> Turn:
        return Turn(Say(*WORDS), faults=[Hold(go_on, before_event=10)])

    async with asyncio.timeout(PATIENCE), two_replicas(database.dsn, tmp_path, script) as two:
        chat = await begin(two.one, "hello")
        async with reading(two.one.owner, chat, "websocket") as here, reading(two.other.owner, chat, "sse") as there:
            await here.until("message_part")
            await there.until("message_part")
            go_on.set()
            await here.resting()
            await there.resting()
            await send(two.one, chat, "again")
            for reader in (here, there):
                await reader.until("status", status={"status": "running"})
                await reader.resting()

    assert len(parts_of(here)) == 2 * len(WORDS)
    assert parts_of(there) == parts_of(here)
    assert picture_of(there) == picture_of(here)


@pytest.mark.behaviour("STREAM-3")
async def test_parts_that_are_slower_than_the_word_that_their_turn_is_over_are_shown_before_it(
    database: Any, tmp_path: Path
):
    go_on = asyncio.Event()

    def script(_: Any) -> Turn:
        return Turn(Say(*WORDS), faults=[Hold(go_on, before_event=10)])

    async with asyncio.timeout(PATIENCE), two_replicas(database.dsn, tmp_path, script) as two:
        chat = await begin(two.one, "hello")
        async with reading(two.one.owner, chat, "websocket") as here, reading(two.other.owner, chat, "sse") as there:
            await here.until("message_part")
            await there.until("message_part")
            relay: Any = two.other.replica.engine.relay
            (peer,) = relay._peers.values()
            (remote,) = peer._chats.values()
            hear, late = peer._hear, list[Any]()
            peer._hear = late.append
            go_on.set()
            while not remote._waiting:  # the stream waits for what is on its way
                await started()
            peer._hear = hear
            for told in late:
                hear(told)
            for reader in (here, there):
                await reader.resting()

    assert parts_of(there) == parts_of(here)
    assert picture_of(there) == picture_of(here)


@pytest.mark.behaviour("STREAM-3")
async def test_a_replica_that_was_given_up_in_the_middle_of_an_answer_is_heard_to_its_end(
    database: Any, tmp_path: Path
):
    go_on = asyncio.Event()

    def script(asked: Asked) -> Turn:
        return Turn(Say(*WORDS), faults=[Hold(go_on, before_event=10)])

    async with asyncio.timeout(PATIENCE), two_replicas(database.dsn, tmp_path, script) as two:
        chat = await begin(two.one, "first")
        async with reading(two.one.owner, chat, "websocket") as here, reading(two.other.owner, chat, "sse") as there:
            for reader in (here, there):
                await reader.until("message_part")
            relay: Any = two.other.replica.engine.relay
            (peer,) = relay._peers.values()
            for remote in peer._chats.values():
                remote.leave()  # as after a minute without an answer
            peer._chats.clear()
            await send(two.one, chat, "second")  # which the other replica is told of
            await there.until("queue_update")
            go_on.set()
            await here.until("message_part", id="3.1.1")
            await there.until("message_part", id="3.1.1")
            for reader in (here, there):
                await reader.resting()

    assert parts_of(there) == parts_of(here)
    assert picture_of(there) == picture_of(here)


@pytest.mark.behaviour("STREAM-3")
@pytest.mark.behaviour("ERR-7")
async def test_attempts_that_came_and_went_before_anyone_heard_of_them_are_shown_one_by_one(
    database: Any, tmp_path: Path
):
    go_on, fail, is_cut = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def script(asked: Asked) -> Turn:
        if asked.last_text == "second" and not is_cut.is_set():
            is_cut.set()
            return Turn(Say(*WORDS), faults=[Hold(fail, before_event=8), Fail("Overloaded.", after_events=12)])
        if asked.last_text == "first":
            return Turn(Say(*WORDS), faults=[Hold(go_on, before_event=10)])
        return Turn(Say(*reversed(WORDS)))

    async with asyncio.timeout(PATIENCE), two_replicas(database.dsn, tmp_path, script) as two:
        post = Post(two.other)
        chat = await begin(two.one, "first")
        async with reading(two.one.owner, chat, "websocket") as here, reading(two.other.owner, chat, "sse") as there:
            for reader in (here, there):
                await reader.until("message_part")
            post.hold()
            await send(two.one, chat, "second")  # it waits for the first turn
            go_on.set()
            await here.until("message_part", id="3.1.1")
            fail.set()
            await here.until("retry")
            await here.resting()
            await post.until(lambda hint: hint.status is Status.WAITING)
            # Both turns are over, and nobody has told the other replica: the newest hint is all that it gets.
            post.held = post.held[-1:]
            post.let_through()
            await there.resting()

    assert len({part["id"].rpartition(".")[0] for part in parts_of(here)}) == 3, "attempts"
    assert parts_of(there) == parts_of(here)
    assert picture_of(there) == picture_of(here)
    assert not any(event["type"] == "retry" for event in there.seen), "it is over: superseded ones may be skipped"


@pytest.mark.behaviour("STREAM-3")
@pytest.mark.parametrize("trouble", ["lost", "doubled", "reordered"])
async def test_hints_that_are_lost_doubled_or_reordered_change_nothing_in_the_end(
    trouble: str, database: Any, tmp_path: Path
):
    def script(asked: Asked) -> Turn:
        return Turn(Say(f"You said {asked.last_text}, ", *WORDS))

    async with asyncio.timeout(PATIENCE), two_replicas(database.dsn, tmp_path, script) as two:
        watch: Any = two.other.replica.engine.parts.watch
        receive, waiting = watch._receive, []

        def mishear(chat_id: UUID, what: Any) -> None:
            if trouble == "doubled":
                receive(chat_id, what)
                receive(chat_id, what)
            elif trouble == "reordered":
                waiting.append((chat_id, what))
                if len(waiting) == 3:
                    for late in reversed(waiting):
                        receive(*late)
                    waiting.clear()

        watch._receive = mishear
        chat = await begin(two.one, "one")
        async with reading(two.one.owner, chat, "websocket") as here, reading(two.other.owner, chat, "sse") as there:
            await here.resting()
            for words in ("two", "three"):
                await send(two.one, chat, words)
                await here.until("status", status={"status": "running"})
                await here.resting()
            while (shown := picture_of(there))["status"] != "waiting" or len(shown["messages"]) < 6 or shown["parts"]:
                await there.next()

    assert picture_of(there) == picture_of(here)
    seen = {part["id"]: part for part in parts_of(here)}
    assert all(seen[part["id"]] == part for part in parts_of(there))
    assert [part["id"] for part in parts_of(there)] == sorted(
        {part["id"] for part in parts_of(there)}, key=list(seen).index
    )
