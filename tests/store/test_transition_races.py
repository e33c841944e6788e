"""Many writers on one chat or family at once: nobody waits for ever, every refusal is typed, nothing is stranded."""

import asyncio
import random
from collections.abc import Awaitable, Sequence
from uuid import UUID

import pytest

from chatd.clock import SystemClock
from chatd.core.outcomes import Refusal, Refused
from chatd.core.states import State
from chatd.core.transitions import Transition
from chatd.store.transitions import Applied, Outcome, Take
from chatd.testing.postgres import Database
from store.transition_driver import (
    ERROR,
    Chats,
    Shape,
    answer,
    applied,
    fence,
    held_open,
    open_chats,
    prepare,
    result,
    until_blocked,
)
from store.transition_programs import BATCHES, Program, Step, check_view
from store.world import new_id

WRITERS = 8
CALLS = 40  # of each writer: some thousand waits for the same row in all
PATIENCE = 60.0  # seconds; a writer that still waits then waits for ever


async def _together(*calls: Awaitable[object]) -> list[object]:
    """All of them at once; none may fail or hang."""

    async def one(call: Awaitable[object]) -> object:
        return await call

    async with SystemClock().timeout(PATIENCE, timer="test.races"), asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(call)) for call in calls]
    return [task.result() for task in tasks]


@pytest.mark.behaviour("STATE-8")
async def test_eight_writers_on_one_chat_all_get_an_answer_and_every_refusal_is_typed(database: Database):
    random_source = random.Random(8)  # the same calls every time
    actions = [*Transition, *BATCHES]
    steps = [
        Step(
            client=at % WRITERS,
            action=random_source.choice(actions),
            first=random_source.randrange(6),
            second=random_source.randrange(6),
            stale=random_source.random() < 0.8,
            flag=random_source.random() < 0.5,
            choice=random_source.randrange(60),
        )
        for at in range(WRITERS * CALLS)
    ]
    async with open_chats(database.dsn, connections=WRITERS) as chats:
        chat = await prepare(chats, State.R0, Shape())
        program = Program(chats, chat.id, [], tuple(new_id() for _ in range(WRITERS)))
        for replica in program.replicas:
            await chats.beat(replica)
        await program.look()

        await _together(program.run(steps))

        answered = [record.outcome for record in program.records]
        assert {type(outcome) for outcome in answered} == {Applied, Refused}
        versions = [outcome.change.snapshot_version for outcome in answered if isinstance(outcome, Applied)]
        assert len(versions) == len(set(versions))
        check_view(await program.look())


async def _finishing(chats: Chats, outcome: Outcome, sent_all: asyncio.Event) -> None:
    """A runner that ends each turn at once, until everything was sent and the chat rests."""
    current = applied(outcome)
    number = 0
    while True:
        number += 1
        if current.fence is None:
            if sent_all.is_set():
                return
            taken = await chats.transitions.acquire(chats.replica_id, [new_id()], error=ERROR)
            if taken:
                current = taken[0]
            continue
        step = await chats.transitions.commit_step(current.fence, [answer(f"answer {number}")], finish=True)
        current = applied(step)


@pytest.mark.behaviour("STATE-1")
async def test_no_message_that_is_sent_while_turns_end_is_stranded(database: Database):
    sent_all = asyncio.Event()
    async with open_chats(database.dsn, connections=WRITERS) as chats:
        born = await chats.transitions.create_chat(chats.new_chat(), [chats.user("first")], take=chats.take())
        id = applied(born).change.chat_id
        sent: list[str] = ["first"]

        async def send(writer: int) -> None:
            for at in range(15):
                text = f"{writer}.{at}"
                while isinstance(outcome := await chats.transitions.send_message(id, chats.user(text)), Refused):
                    assert outcome.reason is Refusal.QUEUE_FULL
                sent.append(text)

        async def send_all() -> None:
            await _together(*(send(writer) for writer in range(5)))
            sent_all.set()

        await _together(_finishing(chats, born, sent_all), send_all())

        row = (await chats.look(id))["state"]
        texts = [text for text in await chats.texts(id) if not text.startswith("answer")]
        queue = await chats.queue(id)
        # The runner may have gone when the last ones came: then they run, or wait behind one that does.
        assert row["status"] == "running" or (row["status"], queue) == ("waiting", [])
        assert sorted(texts + queue) == sorted(sent)


@pytest.mark.behaviour("STATE-5")
async def test_a_chat_that_two_replicas_want_gets_one_owner(database: Database):
    async with open_chats(database.dsn, connections=WRITERS) as chats:
        for _ in range(20):
            id = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user()])).change.chat_id
            replicas = [new_id() for _ in range(4)]

            taken = await _together(
                *(chats.transitions.acquire(replica, [new_id()], error=ERROR) for replica in replicas)
            )

            owners = [one.change.replica_id for found in taken if isinstance(found, list) for one in _mine(found, id)]
            stored = (await chats.look(id))["state"]["replica_id"]
            assert len(owners) == 1
            assert str(owners[0]) == stored


def _mine(found: Sequence[object], id: UUID) -> list[Applied]:
    return [one for one in found if isinstance(one, Applied) and one.change.chat_id == id]


@pytest.mark.behaviour("STATE-8")
async def test_of_two_clients_that_answer_the_same_call_one_wins(database: Database):
    async with open_chats(database.dsn, connections=WRITERS) as chats:
        for _ in range(10):
            chat = await prepare(chats, State.A0, Shape())

            outcomes = await _together(
                *(chats.transitions.complete_requires_action(chat.id, [result("c1")]) for _ in range(3))
            )

            losers = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
            assert len(losers) == 2
            assert {(loser.reason, loser.state) for loser in losers} == {(Refusal.NOT_ALLOWED, State.R0)}
            assert await chats.texts(chat.id) == ["first", "thinking, call c1", "result c1"]


@pytest.mark.behaviour("STATE-8")
async def test_a_family_that_is_archived_while_its_children_live_is_archived_whole_or_not_at_all(database: Database):
    async with open_chats(database.dsn, connections=WRITERS) as chats:
        root = await prepare(chats, State.W, Shape(owned=False))
        done = asyncio.Event()

        async def child() -> None:
            """Is born, sends, ends its turn, again and again."""
            for _ in range(12):
                born = await chats.transitions.create_chat(
                    chats.new_chat(parent=root.id), [chats.user()], take=chats.take()
                )
                if isinstance(born, Refused):
                    assert (born.reason, born.subject) == (Refusal.PARENT_NOT_OPEN, str(root.id))
                    continue
                await chats.transitions.finish_turn(fence(born))
                await chats.transitions.send_message(born.change.chat_id, chats.user("more"), take=chats.take())
                await chats.transitions.give_up(born.change.chat_id, error=ERROR)

        async def children() -> None:
            await _together(*(child() for _ in range(4)))
            done.set()

        async def archivist(forth: bool) -> int:
            """Archives and opens the family; looks each time whether a child is open below an archived root."""
            changed = 0
            while not done.is_set():
                move = chats.transitions.archive if forth else chats.transitions.unarchive
                outcome = await move(root.id)
                if isinstance(outcome, Refused):
                    assert outcome.reason is Refusal.NOT_ALLOWED
                else:
                    changed += 1
                assert await chats.sql._db.fetchval(_OPEN_BELOW_ARCHIVED) == 0
            return changed

        _, archived, _ = await _together(children(), archivist(True), archivist(False))

        assert archived
        assert await chats.sql._db.fetchval(_OPEN_BELOW_ARCHIVED) == 0


_OPEN_BELOW_ARCHIVED = """
    SELECT count(*) FROM chats c JOIN chat_state child ON child.chat_id = c.id
    JOIN chat_state root ON root.chat_id = c.root_chat_id WHERE root.archived AND NOT child.archived
"""


@pytest.mark.behaviour("LOOP-8")
async def test_an_edit_that_races_with_a_step_leaves_nothing_of_the_old_turn_after_it(database: Database):
    async with open_chats(database.dsn, connections=WRITERS) as chats:
        for _ in range(15):
            chat = await prepare(chats, State.R0, Shape())

            stepped, edited = await _together(
                chats.transitions.commit_step(chat.fence, [answer("stale")]),
                chats.transitions.edit_message(chat.id, chat.first_message, chats.user("other")),
            )

            assert isinstance(edited, Applied)
            assert await chats.texts(chat.id) == ["other"]
            if isinstance(stepped, Refused):
                assert stepped.reason is Refusal.HISTORY_MOVED


@pytest.mark.behaviour("STATE-5")
@pytest.mark.parametrize("of_children", [False, True])
async def test_of_two_that_ask_for_the_last_slot_at_once_one_gets_it(database: Database, of_children: bool):
    async with open_chats(database.dsn, connections=WRITERS) as chats, asyncio.TaskGroup() as group:
        root = await prepare(chats, State.W, Shape(owned=False))
        parent = root.id if of_children else None
        idle: list[UUID] = []
        for _ in range(3):
            born = await chats.transitions.create_chat(chats.new_chat(parent=parent), [chats.user()], take=chats.take())
            await chats.transitions.finish_turn(fence(born))
            idle.append(applied(born).change.chat_id)

        takes = [Take(chats.replica_id, new_id(), 1, 1) for _ in idle]
        async with held_open(chats) as holder:
            # Everyone who asks for room has to wait here, so they are all under way when the first one may go on.
            await holder.execute("SELECT pg_advisory_xact_lock(1667788908, $1::integer)", int(of_children))
            sends = [
                group.create_task(chats.transitions.send_message(id, chats.user("more"), take=take))
                for id, take in zip(idle[:2], takes, strict=False)
            ]
            acquiring = group.create_task(
                chats.transitions.acquire(chats.replica_id, [new_id()], error=ERROR, root_capacity=1, child_capacity=1)
            )
            await until_blocked(chats, 3)
            await holder.execute("COMMIT")

        took = [applied(await send).took(take) for send, take in zip(sends, takes, strict=False)]
        acquired = await acquiring
        assert sum(took) + len(acquired) == 1
        assert await chats.sql._db.fetchval("SELECT count(*) FROM chat_state WHERE replica_id IS NOT NULL") == 1
