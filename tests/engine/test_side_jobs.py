"""Work around turns: bounded, cancelled with the replica, and of no consequence when it fails."""

import asyncio
import contextvars

import pytest

from chatd.background import beside
from chatd.core.access import WORKER
from chatd.core.side_kind import SideKind
from chatd.engine.side_jobs import SideJobs
from chatd.store.actor import acting_as, require_actor
from chatd.testing.fake_clock import FakeClock
from engine.deployment import new_id

SECONDS = 30.0


class Held:
    """Work that waits until it is let go."""

    def __init__(self) -> None:
        self.running = 0
        self.done = 0
        self.cancelled = 0
        self.go = asyncio.Event()

    async def __call__(self) -> None:
        self.running += 1
        try:
            await self.go.wait()
            self.done += 1
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1


async def settle() -> None:
    """Whatever can go on does."""
    await FakeClock().advance(0)


async def test_so_many_run_at_once_and_the_rest_waits_or_is_dropped():
    jobs, held = SideJobs(clock=FakeClock(), most_running=2, most_waiting=3), Held()
    async with beside({"jobs": jobs.run()}):
        await settle()
        started = [jobs.start(SideKind.TITLE, new_id(), held, seconds=SECONDS) for _ in range(7)]
        await settle()

        assert started == [True] * 5 + [False] * 2
        assert held.running == 2
        held.go.set()
        await settle()
        assert held.done == 5
        assert jobs.alive == 0


async def test_the_end_of_the_replica_cancels_what_is_left():
    jobs, held = SideJobs(clock=FakeClock()), Held()
    async with beside({"jobs": jobs.run()}):
        await settle()
        jobs.start(SideKind.TITLE, new_id(), held, seconds=SECONDS)
        await settle()

    assert held.cancelled == 1
    assert jobs.alive == 0
    assert not jobs.start(SideKind.TITLE, new_id(), held, seconds=SECONDS)


async def test_before_the_replica_runs_nothing_is_started():
    assert not SideJobs(clock=FakeClock()).start(SideKind.TITLE, new_id(), Held(), seconds=SECONDS)


async def test_a_job_that_takes_too_long_is_cancelled():
    clock = FakeClock()
    jobs, held = SideJobs(clock=clock), Held()
    async with beside({"jobs": jobs.run()}):
        await settle()
        jobs.start(SideKind.LABEL, new_id(), held, seconds=SECONDS)
        await clock.wait_for("side label")
        await clock.advance(SECONDS)
        await settle()

        assert held.cancelled == 1
        assert jobs.alive == 0


@pytest.mark.parametrize("error", [RuntimeError("broken"), TimeoutError(), ExceptionGroup("several", [ValueError()])])
async def test_a_job_that_fails_does_no_harm(error: Exception):
    jobs, held = SideJobs(clock=FakeClock()), Held()

    async def fail() -> None:
        raise error

    async with beside({"jobs": jobs.run()}):
        await settle()
        jobs.start(SideKind.LABEL, new_id(), held, seconds=SECONDS)
        jobs.start(SideKind.LABEL, new_id(), fail, seconds=SECONDS)
        await settle()

        assert held.running == 1
        assert jobs.alive == 1


async def test_a_newer_job_of_a_chat_takes_the_place_of_the_last_of_its_kind():
    jobs, old, new, other = SideJobs(clock=FakeClock()), Held(), Held(), Held()
    chat = new_id()
    async with beside({"jobs": jobs.run()}):
        await settle()
        jobs.start(SideKind.LABEL, chat, old, seconds=SECONDS)
        jobs.start(SideKind.SUMMARY, chat, other, seconds=SECONDS)
        await settle()
        jobs.start(SideKind.LABEL, chat, new, seconds=SECONDS)
        await settle()

        assert (old.cancelled, new.running, other.running) == (1, 1, 1)


async def test_jobs_act_as_the_worker_whoever_began_the_turn():
    jobs = SideJobs(clock=FakeClock())
    actors: list[object] = []
    request: contextvars.ContextVar[str] = contextvars.ContextVar("request", default="none")
    seen: list[str] = []

    async def look() -> None:
        actors.append(require_actor("test"))
        seen.append(request.get())

    async with beside({"jobs": jobs.run()}):
        await settle()
        request.set("somebody's")
        with acting_as(None):
            jobs.start(SideKind.TITLE, new_id(), look, seconds=SECONDS)
        await settle()

    assert actors == [WORKER]
    assert seen == ["none"]


async def test_a_job_that_was_replaced_leaves_the_place_to_the_newer_one_when_it_ends():
    jobs, old, new, newest = SideJobs(clock=FakeClock()), Held(), Held(), Held()
    chat = new_id()
    async with beside({"jobs": jobs.run()}):
        await settle()
        for job in (old, new, newest):
            jobs.start(SideKind.LABEL, chat, job, seconds=SECONDS)
            await settle()

        assert (old.cancelled, new.cancelled, newest.running) == (1, 1, 1)
        assert jobs.alive == 1
