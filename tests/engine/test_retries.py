"""A vendor that fails: told apart, announced, tried again, and in the end given up."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from chatd.background import beside
from chatd.core.model import FinishReason
from chatd.core.parts import TextPart
from chatd.core.provider_kind import ProviderKind
from chatd.core.retry import MOST_ATTEMPTS, backoff_seconds
from chatd.core.states import Status
from chatd.core.usage import Usage
from chatd.engine.runner import ChatRunner
from chatd.engine.step import MOST_EMPTY
from chatd.engine.worker import Worker, WorkerOptions
from chatd.store.chat_hints import chat_topic, read_hint
from chatd.store.heartbeat import Lease
from chatd.testing.vendors.script import Cut, Fail, Refuse, Say, Silence, Turn
from engine.chatting import Chatting, chatting
from engine.deployment import new_id

BUSY = Refuse(529, "Overloaded.", type="overloaded_error")


@pytest.mark.behaviour("ERR-6", "ERR-9")
async def test_a_failed_call_is_announced_and_tried_again_after_the_wait_that_was_told(
    database: Any, capfd: pytest.CaptureFixture[str]
):
    slow_down = Refuse(429, "Slow down.", headers={"retry-after": "7"})
    async with chatting(database.dsn, [slow_down, Turn(Say("Now."))]) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        waiting = await chats.deployment.state(chat)
        announced = [
            hint
            for one in chats.deployment.hints.published  # type: ignore[attr-defined]
            if one.topic == chat_topic(chat) and (hint := read_hint(one.payload))
        ]
        now = chats.clock.now()
        await chats.fake_clock.advance(6.999)
        asked_early = len(chats.vendor.asked)
        await chats.fake_clock.advance(0.001)
        after = await chats.resting(chat)

    told = msgspec.json.decode(waiting["retry_state"])
    assert told == {
        "attempt": 1,
        "delay_ms": 7000,
        "error": "Scripted is rate limiting requests.",
        "kind": "rate_limit",
        "provider": "Scripted",
        "retrying_at": (now + timedelta(seconds=7)).isoformat().replace("+00:00", "Z"),
        "status_code": 429,
    } | {"error": told["error"]}
    assert "Scripted" in told["error"]
    assert "429" not in told["error"]
    assert waiting["status"] == Status.RUNNING
    assert announced[-1].retry_version == waiting["retry_version"] == waiting["snapshot_version"]
    assert asked_early == 1
    assert (after["status"], after["retry_state"]) == (Status.WAITING, None)
    said = capfd.readouterr()
    assert "delay_ms=7000" in said.out + said.err


@pytest.mark.behaviour("ERR-8")
async def test_attempts_are_bounded_and_the_last_failure_is_what_the_chat_shows(database: Any):
    asked = 0

    def busy(_: object) -> Refuse:
        nonlocal asked
        asked += 1
        return BUSY

    async with chatting(database.dsn, busy) as chats:
        chat = await chats.begin()
        for attempt in range(1, MOST_ATTEMPTS):
            await chats.fake_clock.wait_for("retry")
            state = await chats.deployment.state(chat)
            assert state["generation_attempt"] == attempt
            await chats.fake_clock.advance(backoff_seconds(attempt))
        state = await chats.resting(chat)

    assert asked == MOST_ATTEMPTS
    assert state["status"] == Status.ERROR
    error = msgspec.json.decode(state["last_error"])
    assert (error["kind"], error["provider"], error["retryable"], error["status_code"]) == (
        "overloaded",
        "Scripted",
        True,
        529,
    )
    assert "Traceback" not in error["message"] + error.get("detail", "")


@pytest.mark.behaviour("ERR-6")
async def test_a_failure_that_no_retry_can_mend_ends_the_turn_at_once(database: Any):
    async with chatting(database.dsn, [Refuse(401, "invalid x-api-key", type="authentication_error")]) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)

    error = msgspec.json.decode(state["last_error"])
    assert state["status"] == Status.ERROR
    assert (error["kind"], error["retryable"], error["status_code"]) == ("auth", False, 401)


@pytest.mark.parametrize(
    "fault",
    [Cut(after_events=4), Cut(after_events=4, reset=True), Fail("Overloaded.", after_events=4)],
    ids=["cut", "reset", "error"],
)
async def test_half_an_answer_is_thrown_away_and_the_next_attempt_is_the_answer(database: Any, fault: Any):
    script = [Turn(Say("Half", " of it"), faults=[fault]), Turn(Say("All of it."))]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        await chats.fake_clock.advance(1)
        await chats.resting(chat)

        assert await chats.shown(chat) == ["user: hello", "assistant: All of it."]


async def test_a_vendor_that_says_nothing_is_asked_again(database: Any):
    script = [Turn(Say("Never."), faults=[Silence()]), Turn(Say("Here."))]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("model first event")
        await chats.vendor.wait_asked()
        await chats.fake_clock.advance(60)
        await chats.fake_clock.wait_for("retry")
        state = await chats.deployment.state(chat)
        await chats.fake_clock.advance(1)
        await chats.resting(chat)

        assert '"startup_timeout"' in state["retry_state"]
        assert await chats.shown(chat) == ["user: hello", "assistant: Here."]


DENIED = Refuse(401, "invalid x-api-key", type="authentication_error")
HALF = Turn(Say("Half", " of it"), faults=[Cut(after_events=4)])


@pytest.mark.behaviour("LOOP-5")
async def test_what_an_attempt_had_said_is_stored_when_the_next_is_refused_before_its_first_word(database: Any):
    async with chatting(database.dsn, [HALF, DENIED]) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        await chats.fake_clock.advance(1)
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.ERROR
    assert shown[1].startswith("assistant: Half")


@pytest.mark.behaviour("LOOP-5")
async def test_what_an_attempt_had_said_is_stored_when_the_next_is_stopped_before_its_first_word(database: Any):
    async with chatting(database.dsn, [HALF, Turn(Say("never"), faults=[Silence()])]) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        await chats.fake_clock.advance(1)
        await chats.vendor.wait_asked(2)
        await chats.interrupt(chat)
        await chats.resting(chat)
        shown = await chats.shown(chat)

    assert shown[1].startswith("assistant: Half")


@pytest.mark.behaviour("ERR-6")
async def test_an_answer_that_ends_with_nothing_and_for_no_reason_is_asked_for_again(database: Any):
    empty = Turn(finish=FinishReason.OTHER, usage=Usage(input_tokens=100, output_tokens=0))
    full = Turn(Say("Now."), usage=Usage(input_tokens=100, output_tokens=10))
    async with chatting(database.dsn, [empty, full], kind=ProviderKind.GOOGLE) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        await chats.fake_clock.advance(1)
        await chats.resting(chat)
        answer = (await chats.messages(chat))[-1]

    assert answer.parts == (TextPart(text="Now."),)
    assert answer.usage.input_tokens == 100, "how full the context is"
    assert answer.cost_microdollars == 100 + 100 + 2 * 10, "what both were paid"


async def test_what_failed_attempts_used_is_paid_with_the_answer(database: Any):
    used = Usage(input_tokens=100, output_tokens=10)
    half = Turn(Say("Half", " of it"), usage=used, faults=[Cut(after_events=4)])
    async with chatting(database.dsn, [half, Turn(Say("Now."), usage=used)]) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        await chats.fake_clock.advance(1)
        await chats.resting(chat)
        answer = (await chats.messages(chat))[-1]

    # A stream that is cut has told what its prompt was, and hardly anything of what it wrote.
    once = 100 + 2 * 10
    assert answer.usage.input_tokens == 100
    assert answer.cost_microdollars is not None
    assert once + 100 <= answer.cost_microdollars < 2 * once


async def test_an_answer_that_ends_with_nothing_is_not_asked_for_for_ever(database: Any):
    empty = Turn(finish=FinishReason.OTHER)
    async with chatting(database.dsn, [empty] * MOST_EMPTY, kind=ProviderKind.GOOGLE) as chats:
        chat = await chats.begin()
        for attempt in range(1, MOST_EMPTY):
            await chats.fake_clock.wait_for("retry")
            await chats.fake_clock.advance(backoff_seconds(attempt))
        state = await chats.resting(chat)

    assert state["status"] == Status.ERROR
    assert "without saying anything" in state["last_error"]
    assert len(chats.vendor.asked) == MOST_EMPTY


@pytest.mark.behaviour("ERR-6")
async def test_a_wait_is_let_go_when_the_replica_stops_and_waited_out_by_the_next(database: Any):
    slow_down = Refuse(429, "Slow down.", headers={"retry-after": "30"})
    async with chatting(database.dsn, [slow_down, Turn(Say("Now."))]) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        await chats.worker.drain(60)
        handed_over = await chats.deployment.state(chat)
        chats.parts.draining.clear()
        async with another_worker(chats):
            await chats.fake_clock.wait_for("retry")
            asked_early = len(chats.vendor.asked)
            await chats.fake_clock.advance(30)
            state = await chats.resting(chat)

    assert (handed_over["runner_id"], handed_over["status"]) == (None, Status.RUNNING)
    assert asked_early == 1
    assert (state["status"], state["retry_state"], state["generation_attempt"]) == (Status.WAITING, None, 0)


@asynccontextmanager
async def another_worker(chats: Chatting) -> AsyncIterator[None]:
    parts, replica_id, lease = chats.parts, new_id(), Lease()
    await chats.deployment.beat(replica_id)
    worker = Worker(
        parts.store,
        parts.transitions,
        chats.deployment.hints,
        lease,
        run=ChatRunner(parts),
        clock=parts.clock,
        options=WorkerOptions(replica_id=replica_id),
        draining=parts.draining,
    )
    lease.change(True)
    async with beside({"worker": worker.run()}):
        yield
