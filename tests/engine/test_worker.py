"""A worker runs what it owns and only that, whatever gets lost on the way."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

import msgspec
import pytest
import pytest_asyncio

from chatd.core.access import Person, Role
from chatd.core.states import Status
from chatd.engine.owned import Owned
from chatd.store.actor import acting_as, require_actor
from chatd.store.chat_hints import FREE_TOPIC
from chatd.store.transitions import Applied, Fence, Transitions
from engine.deployment import (
    PATIENCE,
    Deployment,
    LocalHints,
    Script,
    answer,
    applied,
    new_id,
    open_deployment,
    replica,
    result,
    said,
)


@pytest_asyncio.fixture
async def deployment(database: Any) -> AsyncIterator[Deployment]:
    async with open_deployment(database.dsn) as deployment:
        yield deployment


@pytest.fixture
def hints(deployment: Deployment) -> LocalHints:
    assert isinstance(deployment.hints, LocalHints)
    return deployment.hints


class CountedTransitions(Transitions):
    """Remembers how many chats each call of acquire brought."""

    def __init__(self, deployment: Deployment) -> None:
        super().__init__(deployment.guarded, deployment.hints)
        self.asked: list[int] = []
        self.batches: list[int] = []

    async def acquire(self, replica_id: UUID, runner_ids: Sequence[UUID], **rest: Any) -> list[Applied]:
        taken = await super().acquire(replica_id, runner_ids, **rest)
        self.asked.append(len(runner_ids))
        self.batches.append(len(taken))
        return taken


async def test_free_chats_are_taken_at_the_start(deployment: Deployment):
    chats = [await deployment.new_chat() for _ in range(3)]

    async with replica(deployment) as one:
        assert set(one.script.running) == set(chats)
        assert {await deployment.owner(chat) for chat in chats} == {one.id}


async def test_a_hint_makes_a_worker_take_a_chat_at_once(deployment: Deployment):
    async with replica(deployment) as one:
        chat = await deployment.new_chat()
        await one.script.until_running(chat)

        assert one.clock.monotonic() == 0


@pytest.mark.behaviour("STATE-6")
async def test_a_lost_hint_costs_one_second(deployment: Deployment, hints: LocalHints):
    async with replica(deployment) as one:
        hints.lost = True
        chat = await deployment.new_chat()
        await one.pass_time(1)

        assert set(one.script.running) == {chat}


@pytest.mark.behaviour("STATE-5")
async def test_chats_are_taken_in_batches_until_one_is_not_full(deployment: Deployment):
    chats = [await deployment.new_chat() for _ in range(5)]
    counted = CountedTransitions(deployment)

    async with replica(deployment, transitions=counted, batch_size=2) as one:
        assert set(one.script.running) == set(chats)
        assert (counted.asked, counted.batches) == ([2, 2, 2], [2, 2, 1])


@pytest.mark.behaviour("STATE-5")
async def test_the_largest_batch_size_makes_no_endless_list_of_ids(deployment: Deployment):
    counted = CountedTransitions(deployment)

    async with replica(deployment, transitions=counted, batch_size=2**31 - 1):
        assert counted.asked == [1000]


async def test_a_chat_that_a_message_made_run_is_run_at_once_by_who_accepted_it(deployment: Deployment):
    chat = await deployment.idle_chat()
    async with replica(deployment) as one:
        take = one.worker.new_take()
        assert take is not None
        sent = applied(await deployment.transitions.send_message(chat, said("more", deployment.user_id), take=take))
        assert sent.took(take)
        one.worker.adopt(sent)
        await one.script.until_running(chat)

        [owned] = one.script.started
        assert (owned.runner_id, owned.status, owned.fence) == (take.runner_id, Status.RUNNING, sent.fence)


async def test_a_chat_that_was_not_given_is_not_adopted(deployment: Deployment):
    chat = await deployment.idle_chat()
    async with replica(deployment) as one:
        sent = applied(await deployment.transitions.send_message(chat, said("more", deployment.user_id)))
        one.worker.adopt(sent)

        assert one.worker.running == frozenset()


async def test_runners_act_as_the_worker_when_a_person_started_them(deployment: Deployment):
    actors: list[object] = []

    async def act(_: Owned) -> None:
        actors.append(require_actor("test"))

    chat = await deployment.idle_chat()
    async with replica(deployment, Script(act)) as one:
        with acting_as(Person(deployment.user_id, Role.OWNER, "olga")):
            take = one.worker.new_take()
            message = said("more", deployment.user_id)
            one.worker.adopt(applied(await deployment.transitions.send_message(chat, message, take=take)))
        await one.script.until(lambda: bool(actors))

    assert [getattr(actor, "name", actor) for actor in actors] == ["worker"]


async def test_a_lost_reply_strands_no_chat(deployment: Deployment):
    """A handler was cancelled after the database had given the chat to this replica."""
    chat = await deployment.idle_chat()
    async with replica(deployment) as one:
        take = one.worker.new_take()
        await deployment.transitions.send_message(chat, said("more", deployment.user_id), take=take)
        await one.pass_time(2)

        assert set(one.script.running) == {chat}
        assert one.script.started[0].generation_attempt == 1


async def test_a_runner_that_was_robbed_is_cancelled(deployment: Deployment):
    chat = await deployment.new_chat()
    async with replica(deployment) as one, replica(deployment) as two:
        await one.script.until_running(chat)
        await deployment.silence(one.id)
        await two.pass_time(1)
        assert set(two.script.running) == {chat}
        await one.pass_time(2)

        assert one.script.cancelled == [chat]
        assert one.worker.running == frozenset()
        assert await deployment.owner(chat) == two.id


async def test_a_runner_that_fails_is_started_again_with_growing_pauses(deployment: Deployment):
    starts: list[float] = []

    async def fail(_: Owned) -> None:
        starts.append(one.clock.monotonic())
        raise RuntimeError("a runner's mistake")

    async with replica(deployment, Script(fail)) as one:
        chat = await deployment.new_chat()
        await one.script.until(lambda: starts == [0])
        await one.pass_time(40)

        assert starts == [0, 2, 6, 14, 30]
        assert await deployment.owner(chat) == one.id


async def test_a_runner_that_gets_on_before_it_fails_does_not_wait_longer(deployment: Deployment):
    starts: list[float] = []

    async def step_and_fail(owned: Owned) -> None:
        starts.append(one.clock.monotonic())
        await deployment.transitions.commit_step(owned.fence, [answer(f"step {len(starts)}")])
        raise RuntimeError("a runner's mistake")

    async with replica(deployment, Script(step_and_fail)) as one:
        await deployment.new_chat()
        for expected in ([0], [0, 2], [0, 2, 4], [0, 2, 4, 6]):
            await one.script.until(lambda expected=expected: starts == expected and not one.script.running)
            await one.pass_time(2)


async def test_a_runner_task_that_is_cancelled_alone_goes_on(deployment: Deployment):
    async def cancel_itself(_: Owned) -> None:
        if len(one.script.started) == 1:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        await asyncio.Event().wait()

    async with replica(deployment, Script(cancel_itself)) as one:
        chat = await deployment.new_chat()
        await one.script.until(lambda: one.script.cancelled == [chat])
        await one.pass_time(2)

        assert set(one.script.running) == {chat}
        assert (await deployment.state(chat))["takeovers"] == 0


async def test_a_chat_that_came_to_rest_is_not_run_again(deployment: Deployment):
    async def finish(owned: Owned) -> None:
        applied(await deployment.transitions.commit_step(owned.fence, [answer("done")], finish=True))

    await deployment.new_chat()
    async with replica(deployment, Script(finish)) as one:
        await one.pass_time(10)

        assert len(one.script.started) == 1


async def test_a_lost_lease_stops_all_runners_and_nothing_is_taken_until_it_is_won_again(deployment: Deployment):
    chats = [await deployment.new_chat() for _ in range(3)]
    async with replica(deployment) as one:
        one.lease.change(False)
        await one.script.until_running()
        free = await deployment.new_chat()
        await one.pass_time(4)
        assert one.script.running == {}
        assert one.worker.new_take() is None
        assert await deployment.owner(free) is None

        one.lease.change(True)
        await one.script.until_running(*chats, free)
        assert {await deployment.owner(chat) for chat in chats} == {one.id}


async def test_what_another_took_meanwhile_is_not_resumed(deployment: Deployment):
    chat = await deployment.new_chat()
    async with replica(deployment) as one, replica(deployment) as two:
        await one.script.until_running(chat)
        one.lease.change(False)
        await one.script.until_running()
        await deployment.silence(one.id)
        await two.pass_time(1)
        await deployment.beat(one.id)
        one.lease.change(True)
        await one.pass_time(4)

        assert (set(one.script.running), set(two.script.running)) == (set(), {chat})


async def test_a_runner_that_will_not_end_keeps_its_chat_from_a_second_one(deployment: Deployment):
    ending = asyncio.Event()

    async def linger(_: Owned) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await ending.wait()
            raise

    chat = await deployment.new_chat()
    async with replica(deployment, Script(linger)) as one:
        one.lease.change(False)
        one.lease.change(True)
        await one.pass_time(4)
        assert len(one.script.started) == 1  # the script itself refuses a second one of the same chat
        ending.set()
        await one.script.until(lambda: one.script.cancelled == [chat])
        await one.pass_time(2)

        assert len(one.script.started) == 2


async def test_a_runner_that_was_robbed_is_left_in_peace_to_end(deployment: Deployment):
    ended_well: list[UUID] = []
    ending = asyncio.Event()

    async def linger(owned: Owned) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await ending.wait()
            ended_well.append(owned.chat_id)

    chat = await deployment.new_chat()
    async with replica(deployment, Script(linger)) as one, replica(deployment) as two:
        await one.script.until_running(chat)
        await deployment.silence(one.id)
        await two.pass_time(1)
        await one.pass_time(6)  # each time it is seen to run what it does not own
        one.lease.change(False)
        assert set(one.script.running) == {chat}
        ending.set()
        await one.script.until_running()

    assert ended_well == [chat]


async def test_holds_whose_time_is_up_are_released(deployment: Deployment):
    chat = await deployment.new_chat()
    async with replica(deployment) as one:
        await one.script.until_running(chat)
        queued = applied(await deployment.transitions.send_message(chat, said("later", deployment.user_id)))
        assert queued.change.queued_id is not None
        await deployment.transitions.hold_queued(chat, queued.change.queued_id, holder=new_id(), seconds=0)
        assert (await deployment.state(chat))["held_length"] == 1
        await one.pass_time(2)

        assert (await deployment.state(chat))["queue_length"] == 1


async def test_draining_lets_runners_end_and_hands_over_what_is_left(deployment: Deployment):
    """One runner finishes its step in time and the other one does not."""
    may_finish = asyncio.Event()

    async def act(owned: Owned) -> None:
        if owned.chat_id == stuck:
            await asyncio.Event().wait()
        await may_finish.wait()
        applied(await deployment.transitions.commit_step(owned.fence, [answer("done")], finish=True))

    good, stuck = await deployment.new_chat(), await deployment.new_chat()
    async with replica(deployment, Script(act)) as one:
        await one.script.until_running(good, stuck)
        async with asyncio.TaskGroup() as tasks:
            draining = tasks.create_task(one.worker.drain(30))
            await one.clock.wait_for("drain")
            assert one.worker.new_take() is None
            late = await deployment.new_chat()
            may_finish.set()
            await one.script.until_running(stuck)
            await one.clock.advance(30)
            await draining

    assert one.script.cancelled == [stuck]
    assert [await deployment.owner(chat) for chat in (good, stuck, late)] == [None, None, None]
    assert (await deployment.state(stuck))["takeovers"] == 0
    async with replica(deployment, beating_for=0) as two:  # what was handed over needs no waiting
        await two.script.until_running(stuck, late)


async def test_a_hand_over_tries_again_while_someone_has_a_chat_locked(deployment: Deployment):
    chat = await deployment.new_chat()
    async with replica(deployment) as one:
        await one.script.until_running(chat)
        async with asyncio.TaskGroup() as tasks, deployment.pool.acquire() as connection:
            transaction = connection.transaction()
            await transaction.start()
            await connection.execute("SELECT FROM chat_state WHERE chat_id = $1 FOR UPDATE", chat)
            draining = tasks.create_task(one.worker.drain(0))
            await one.clock.wait_for("hand-over")
            await transaction.rollback()
            await one.clock.advance(1)
            async with asyncio.timeout(PATIENCE):
                await draining

    assert await deployment.owner(chat) is None


async def test_the_database_being_away_ends_nothing(deployment: Deployment):
    async with replica(deployment) as one:
        await deployment.pool.execute("ALTER TABLE chat_state RENAME TO away")
        await one.pass_time(4)
        await deployment.pool.execute("ALTER TABLE away RENAME TO chat_state")
        chat = await deployment.new_chat()
        await one.script.until_running(chat)


@pytest.mark.behaviour("STATE-12")
async def test_a_chat_taken_over_again_and_again_without_a_commit_is_given_up(deployment: Deployment):
    chat = await deployment.new_chat()
    owners: list[UUID] = []
    for _ in range(5):  # the first owner, three takeovers, and one who was to store what there is
        async with replica(deployment) as one:
            await one.script.until_running(chat)
            owners.append(one.id)
            takeovers = (await deployment.state(chat))["takeovers"]
            fence = Fence(chat, one.script.started[0].runner_id, one.script.started[0].history_version)
        await deployment.silence(*owners)
        assert takeovers == len(owners) - 1
        if len(owners) == 5:
            applied(await deployment.transitions.save_draft(fence, answer("half an answer", calls=["call-1"])))

    async with replica(deployment) as last:
        state = await deployment.state(chat)
        error = msgspec.json.decode(state["last_error"])
        assert last.script.started == []
        assert (state["status"], state["replica_id"]) == ("error", None)
        assert (error["kind"], error["retryable"]) == ("gave_up", True)
        assert "Send a message" in error["message"]
        texts = await deployment.texts(chat)
        assert "half an answer" in texts[1]
        assert len(texts) == 3  # and the call that nobody answers has a result

        message = said("try again", deployment.user_id)
        applied(await deployment.transitions.send_message(chat, message, take=last.worker.new_take()))
        assert (await deployment.state(chat))["takeovers"] == 0


async def test_a_commit_clears_the_count_of_takeovers(deployment: Deployment):
    chat = await deployment.new_chat()
    owners: list[UUID] = []
    for turn in range(6):
        async with replica(deployment) as one:
            await one.script.until_running(chat)
            owners.append(one.id)
            if turn % 2:
                rows = [answer(f"step {turn}", calls=["c"]), result("c")]
                applied(await deployment.transitions.commit_step(one.script.started[0].fence, rows))
        await deployment.silence(*owners)

    assert (await deployment.state(chat))["status"] == "running"


async def test_a_hint_of_a_free_chat_comes_with_every_one(deployment: Deployment, hints: LocalHints):
    await deployment.new_chat()

    assert FREE_TOPIC in [hint.topic for hint in hints.published]
