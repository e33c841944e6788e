"""What clients saw survives the replica that showed it: checkpointed once a second, for all chats in one statement."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from chatd.background import beside
from chatd.core.access import JANITOR, WORKER, Person
from chatd.core.access import Role as UserRole
from chatd.core.parts import ReasoningPart, TextPart, ToolResultPart
from chatd.core.preview import CallPiece, Preview, merged
from chatd.core.roles import Role
from chatd.engine import checkpoints
from chatd.engine.checkpoints import Checkpoints
from chatd.engine.episodes import Episode, Episodes
from chatd.store.actor import acting_as
from chatd.store.migrate import shipped_functions
from chatd.store.pool import connect
from chatd.store.queries import CheckpointRow
from chatd.store.store import Store
from chatd.store.transitions import Fence, Take
from chatd.testing.fake_clock import FakeClock
from chatd.testing.statements import Statements
from chatd.testing.vendors.script import Hold, Say, Turn
from engine.chatting import chatting
from engine.deployment import Deployment, answer, applied, new_id, open_deployment

pytestmark = pytest.mark.behaviour("STATE-11")


@pytest_asyncio.fixture
async def deployment(database: Any) -> AsyncIterator[Deployment]:
    async with open_deployment(database.dsn) as deployment:
        yield deployment


class Showing:
    """A replica that shows parts of chats which it owns."""

    def __init__(self, deployment: Deployment, store: Store | None = None) -> None:
        self.id = new_id()
        self.clock = FakeClock()
        self.episodes = Episodes()
        self._deployment = deployment
        store = store or deployment.guarded
        self.checkpoints = Checkpoints(store, self.episodes, self.clock, replica_id=self.id)

    async def chat(self) -> UUID:
        return await self._deployment.new_chat(take=Take(self.id, new_id()))

    async def episode(self, chat_id: UUID, attempt: int = 1) -> Episode:
        state = await self._deployment.state(chat_id)
        return self.episodes.open(chat_id, state["history_version"], attempt)

    async def fence(self, chat_id: UUID) -> Fence:
        state = await self._deployment.state(chat_id)
        return Fence(chat_id, state["runner_id"], state["history_version"])


async def read(deployment: Deployment, chat_id: UUID) -> list[Preview]:
    """What another replica finds."""
    state = await deployment.state(chat_id)
    other = Checkpoints(deployment.guarded, Episodes(), FakeClock(), replica_id=new_id())
    with acting_as(WORKER):
        return await other.checkpointed(chat_id, state["history_version"])


async def stored(deployment: Deployment) -> list[tuple[UUID, int, int]]:
    rows = await deployment.pool.fetch("SELECT chat_id, first_seq, last_seq FROM chat_checkpoints ORDER BY 1, 2")
    return [tuple(row) for row in rows]


def text(said: str) -> Preview:
    return Preview(Role.ASSISTANT, TextPart(text=said))


def show(episode: Episode, *previews: Preview) -> None:
    for preview in previews:
        episode.add(preview)


async def test_another_replica_reads_back_what_was_shown(deployment: Deployment):
    one = Showing(deployment)
    chat = await one.chat()
    episode = await one.episode(chat)
    shown = [
        Preview(Role.ASSISTANT, ReasoningPart(text="Hm", created_at="t")),
        Preview(Role.ASSISTANT, ReasoningPart(text=", so.", created_at="t")),
        text("One, "),
        text("two\0 \U0001f600"),
        Preview(Role.ASSISTANT, CallPiece(tool_call_id="c", tool_name="look", args_delta='{"pa')),
        Preview(Role.ASSISTANT, CallPiece(tool_call_id="c", tool_name="look", args_delta='th"')),
        Preview(Role.TOOL, ToolResultPart(tool_call_id="c", tool_name="look", result="{}")),
        text("three."),
    ]
    for second in range(0, len(shown), 3):  # in the middle of texts and calls
        show(episode, *shown[second : second + 3])
        assert await one.checkpoints.flush()

    assert await read(deployment, chat) == merged(shown)
    assert await stored(deployment) == [(chat, 1, 3), (chat, 4, 6), (chat, 7, 8)]


async def test_the_newest_attempt_that_has_shown_anything_counts(deployment: Deployment):
    one = Showing(deployment)
    chat = await one.chat()
    for attempt, said in ((1, "first"), (2, "second")):
        show(await one.episode(chat, attempt), text(said))
        await one.checkpoints.flush()
    await one.episode(chat, 3)
    await one.checkpoints.flush()

    assert await read(deployment, chat) == [text("second")]


async def test_a_chat_taken_over_shows_its_new_owners_parts_even_under_the_same_attempt(deployment: Deployment):
    one, two = Showing(deployment), Showing(deployment)
    chat = await one.chat()
    show(await one.episode(chat), text("one, "), text("two, "))
    await one.checkpoints.flush()
    await deployment.raw("UPDATE chat_state SET replica_id = $1, runner_id = $2", two.id, new_id())
    show(await two.episode(chat), text("ONE"))
    await two.checkpoints.flush()

    assert await read(deployment, chat) == [text("ONE")]


async def test_only_who_may_see_the_chat_reads_its_checkpoint(deployment: Deployment):
    one = Showing(deployment)
    chat = await one.chat()
    episode = await one.episode(chat)
    show(episode, text("secret"))
    await one.checkpoints.flush()

    async def seen_by(user_id: UUID) -> list[Preview]:
        with acting_as(Person(user_id, UserRole.MEMBER, "someone")):
            return await one.checkpoints.checkpointed(chat, episode.history_version)

    assert await seen_by(deployment.user_id) == [text("secret")]
    assert await seen_by(new_id()) == []


async def test_a_second_is_one_statement_for_200_chats_and_none_when_nothing_was_shown(
    statements: Statements, deployment: Deployment
):
    one = Showing(deployment)
    chats = [await one.chat() for _ in range(200)]
    episodes = [await one.episode(chat) for chat in chats]
    counted: list[int] = []

    async def pass_a_second() -> None:
        await one.clock.advance(1)
        await one.clock.wait_for("checkpoint")

    async with beside({"checkpoints": one.checkpoints.run()}):
        await one.clock.wait_for("checkpoint")
        show(await one.episode(await one.chat()), text("first"))
        await pass_a_second()  # the connection learns the types
        before = await statements.count()
        for shown in (["One, ", "two, "], ["three"], []):
            for episode in episodes:
                show(episode, *map(text, shown))
            await pass_a_second()
            counted.append(await statements.count() - before)
        assert len(await stored(deployment)) == 401
        for chat in chats[:100]:
            fence = await one.fence(chat)
            applied(await deployment.transitions.commit_step(fence, [answer("One, two, three")], finish=True))
            one.episodes.end(chat)
        for episode in episodes[100:]:
            show(episode, text("!"))
        before = await statements.count()
        await pass_a_second()
        # The new ranges and the end of the old ones go together.
        counted.append(await statements.count() - before)

    assert counted == [1, 2, 2, 1]
    rows = [chat for chat, _, _ in await stored(deployment) if chat in chats]
    assert set(rows) == set(chats[100:])
    assert len(rows) == 300


async def test_what_another_owns_by_now_or_whose_history_has_moved_is_not_written(deployment: Deployment):
    one = Showing(deployment)
    taken, moved, kept = [await one.chat() for _ in range(3)]
    for chat in (taken, moved, kept):
        show(await one.episode(chat), text("One"))
    await deployment.raw("UPDATE chat_state SET replica_id = $2, runner_id = $2 WHERE chat_id = $1", taken, new_id())
    applied(await deployment.transitions.commit_step(await one.fence(moved), [answer("One")]))
    await one.checkpoints.flush()

    assert [chat for chat, _, _ in await stored(deployment)] == [kept]


async def test_what_the_next_owner_needs_is_not_deleted(deployment: Deployment):
    one = Showing(deployment)
    chat = await one.chat()
    show(await one.episode(chat), text("One"))
    await one.checkpoints.flush()
    fence = await one.fence(chat)
    applied(await deployment.transitions.abandon(chat, fence.runner_id))
    one.episodes.end(chat)
    await one.checkpoints.flush()

    assert await read(deployment, chat) == [text("One")]


async def test_no_chat_is_locked_or_waited_for(deployment: Deployment):
    one = Showing(deployment)
    chat = await one.chat()
    show(await one.episode(chat), text("One"))
    async with deployment.pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT FROM chat_state WHERE chat_id = $1 FOR UPDATE", chat)
        assert await one.checkpoints.flush()

    assert await read(deployment, chat) == [text("One")]


async def test_only_checkpoints_do_without_waiting_for_the_disk(database: Any):
    connection = await connect(database.dsn, function_schema=shipped_functions().schema)
    await connection.execute("SET synchronous_commit = on")
    await connection.execute("SELECT write_checkpoints($1, '{}', '{}')", new_id())
    assert await connection.fetchval("SHOW synchronous_commit") == "on"
    async with connection.transaction():
        await connection.execute("SELECT write_checkpoints($1, '{}', '{}')", new_id())
        assert await connection.fetchval("SHOW synchronous_commit") == "off"
    await connection.close()


class Failing:
    """The database goes away: before a write, or after it, so that only its answer is lost."""

    def __init__(self, inner: Store, failures: Sequence[str]) -> None:
        self._inner = inner
        self._failures = list(failures)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def write_checkpoints(self, **args: Any) -> int:
        failure = self._failures.pop(0) if self._failures else ""
        if failure == "before":
            raise ConnectionResetError
        written = await self._inner.write_checkpoints(**args)
        if failure == "after":
            raise ConnectionResetError
        return written


@pytest.mark.parametrize("failure", ["before", "after"])
async def test_what_could_not_be_written_is_written_with_the_next_second(deployment: Deployment, failure: str):
    failing: Any = Failing(deployment.guarded, ["", failure, failure])
    one = Showing(deployment, failing)
    chat, over = await one.chat(), await one.chat()
    episode = await one.episode(chat)
    said = ["One, ", "two, ", "three, ", "four"]
    for place, word in enumerate(said):
        show(episode, text(word))
        if place == 1:
            show(await one.episode(over), text("gone"))
        if place == 2:
            one.episodes.end(over)
        assert await one.checkpoints.flush() == (place not in (1, 2))

    assert await read(deployment, chat) == [text("".join(said))]
    rows = [row[1:] for row in await stored(deployment) if row[0] == chat]
    assert rows == [(1, 1), (2, 4)]


async def test_what_an_attempt_could_not_write_is_not_the_next_ones(deployment: Deployment):
    failing: Any = Failing(deployment.guarded, ["before"])
    one = Showing(deployment, failing)
    chat = await one.chat()
    show(await one.episode(chat, 1), text("first, "))
    assert not await one.checkpoints.flush()
    show(await one.episode(chat, 2), text("second"))
    assert await one.checkpoints.flush()

    assert await read(deployment, chat) == [text("second")]
    assert await stored(deployment) == [(chat, 1, 1)]


async def test_what_a_commit_made_stale_is_deleted_once_by_who_wrote_it(deployment: Deployment):
    counting: Any = Failing(deployment.guarded, [])
    one = Showing(deployment, counting)
    chat = await one.chat()
    show(await one.episode(chat), text("One, "))
    assert await one.checkpoints.flush()
    applied(await deployment.transitions.commit_step(await one.fence(chat), [answer("One.")]))
    await one.episode(chat)  # of the next step, which has said nothing yet
    assert await one.checkpoints.flush()
    assert await stored(deployment) == []

    counting.write_checkpoints = None  # nothing is left to write or to delete
    assert await one.checkpoints.flush()


async def test_parts_that_are_shown_during_a_write_go_with_the_next_one(deployment: Deployment):
    one = Showing(deployment)
    chat = await one.chat()
    episode = await one.episode(chat)
    show(episode, text("One, "))
    async with asyncio.TaskGroup() as tasks:
        writing = tasks.create_task(one.checkpoints.flush())
        await asyncio.sleep(0)  # noqa: TID251 - lets the task begin
        show(episode, text("two"))
        await writing
        assert [row[1:] for row in await stored(deployment)] == [(1, 1)]
        # One after the other, whoever asks.
        await asyncio.gather(one.checkpoints.flush(), one.checkpoints.flush())

    assert await read(deployment, chat) == [text("One, two")]


async def test_a_statement_carries_only_so_much(deployment: Deployment, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checkpoints, "MOST_CHARACTERS", 100)
    one = Showing(deployment)
    chats = [await one.chat() for _ in range(3)]
    for chat in chats:
        show(await one.episode(chat), text("x" * 200))

    complete = [await one.checkpoints.flush() for _ in range(3)]

    assert complete == [False, False, True]
    assert [await read(deployment, chat) for chat in chats] == [[text("x" * 200)]] * 3


async def test_what_can_not_be_read_ends_what_was_shown(deployment: Deployment):
    one = Showing(deployment)
    chat = await one.chat()
    history = (await one.fence(chat)).history_version
    good = '[{"role":"assistant","part":{"type":"text","text":"One"}}]'
    ranges = [
        CheckpointRow(chat, history, 1, first, first, said)
        for first, said in ((1, good), (2, '[{"role":"assistant","part":{"type":"newer"}}]'), (3, good))
    ]
    await deployment.sql.write_checkpoints(writer=one.id, ranges=ranges, done=[])

    assert await read(deployment, chat) == [text("One")]


async def test_the_janitor_deletes_what_nobody_needs(deployment: Deployment):
    one = Showing(deployment)
    running, moved, resting = [await one.chat() for _ in range(3)]
    for chat in (running, moved, resting):
        show(await one.episode(chat), text("One"))
    await one.checkpoints.flush()
    applied(await deployment.transitions.commit_step(await one.fence(moved), [answer("One")]))
    applied(await deployment.transitions.finish_error(await one.fence(resting), error="{}"))
    orphan = "INSERT INTO chat_checkpoints SELECT $1, 1, 1, $1, 1, 1, '[]'"
    await deployment.pool.execute(orphan, new_id())

    with acting_as(JANITOR):
        assert await deployment.guarded.delete_stale_checkpoints() == 3
    assert [chat for chat, _, _ in await stored(deployment)] == [running]


async def test_a_turn_is_checkpointed_while_it_runs_and_leaves_nothing(database: Any):
    go = asyncio.Event()
    script = [Turn(Say("One, ", "two, ", "three"), faults=[Hold(go, before_event=5)])]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        replica_id = (await chats.deployment.state(chat))["replica_id"]
        kept = Checkpoints(chats.parts.store, chats.parts.episodes, chats.clock, replica_id=replica_id)
        await chats.streamed(chat, "two, ")
        await kept.flush()
        meanwhile = await read(chats.deployment, chat)
        go.set()
        await chats.resting(chat)
        await chats.worker.drain(0)
        await kept.flush()
        left = await stored(chats.deployment)

    assert meanwhile == [text("One, two, ")]
    assert left == []


async def test_what_follows_a_gap_is_not_what_was_shown(deployment: Deployment):
    one = Showing(deployment)
    chat = await one.chat()
    history = (await one.fence(chat)).history_version
    good = '[{"role":"assistant","part":{"type":"text","text":"One"}}]'
    ranges = [CheckpointRow(chat, history, 1, first, first, good) for first in (1, 3)]
    await deployment.sql.write_checkpoints(writer=one.id, ranges=ranges, done=[])

    assert await read(deployment, chat) == [text("One")]
