"""The fake clock keeps the same promises as the real one, and moves only when told to."""

import asyncio
from datetime import UTC, timedelta

import pytest

from chatd.clock import Clock, SystemClock
from chatd.testing import fake_clock
from chatd.testing.fake_clock import FakeClock

SOON = 0.001  # a real wait as short as the loop can measure; the fake clock takes it literally


async def pass_time(clock: Clock, seconds: float) -> None:
    if isinstance(clock, FakeClock):
        await clock.sleep(0, timer="let it start")
        await clock.advance(seconds)


@pytest.fixture(params=[SystemClock, FakeClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    return request.param()


# What both clocks promise


async def test_a_sleep_ends_after_its_time_has_passed(clock: Clock):
    before = clock.monotonic()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(clock.sleep(SOON, timer="nap"))
        await pass_time(clock, SOON)
    assert clock.monotonic() - before >= SOON


async def test_a_sleep_of_zero_only_lets_others_run(clock: Clock):
    ran: list[str] = []

    async def other() -> None:
        ran.append("other")

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(other())
        await clock.sleep(0, timer="yield")
        ran.append("sleeper")
    assert ran == ["other", "sleeper"]


async def test_now_is_in_utc_and_moves_with_time(clock: Clock):
    before = clock.now()
    await pass_time(clock, 1)
    assert before.tzinfo is UTC
    assert clock.now() >= before


async def test_a_block_that_is_too_slow_raises_timeout_error(clock: Clock):
    async def slow() -> None:
        async with clock.timeout(SOON, timer="limit"):
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(_outcome(slow()))
        await pass_time(clock, SOON)
    assert isinstance(task.result(), TimeoutError)


async def test_a_block_that_ends_in_time_is_left_alone(clock: Clock):
    async with clock.timeout(60, timer="limit"):
        await clock.sleep(0, timer="yield")


async def test_a_timeout_of_zero_ends_the_block_at_its_first_wait(clock: Clock):
    with pytest.raises(TimeoutError):
        async with clock.timeout(0, timer="limit"):
            await asyncio.Event().wait()


async def test_an_error_in_the_block_comes_out_as_it_is(clock: Clock):
    with pytest.raises(KeyError):
        async with clock.timeout(60, timer="limit"):
            raise KeyError


async def test_a_cancellation_from_outside_is_not_turned_into_a_timeout(clock: Clock):
    inside = asyncio.Event()

    async def waits() -> None:
        async with clock.timeout(60, timer="limit"):
            inside.set()
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(waits())
        await inside.wait()
        task.cancel()
    assert task.cancelled()


async def test_a_timeout_and_a_cancellation_at_once_stay_a_cancellation(clock: Clock):
    inside = asyncio.Event()

    async def waits() -> None:
        async with clock.timeout(0, timer="limit"):
            asyncio.current_task().cancel()  # pyright: ignore[reportOptionalMemberAccess]
            inside.set()
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(waits())
        await inside.wait()
    assert task.cancelled()


async def test_an_outer_timeout_is_not_caught_by_the_inner_one(clock: Clock):
    caught: list[str] = []

    async def nested() -> None:
        try:
            async with clock.timeout(SOON, timer="outer"):
                try:
                    async with clock.timeout(60, timer="inner"):
                        await asyncio.Event().wait()
                except TimeoutError:
                    caught.append("inner")
        except TimeoutError:
            caught.append("outer")

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(nested())
        await pass_time(clock, SOON)
    assert caught == ["outer"]


async def test_after_an_inner_timeout_the_outer_block_goes_on(clock: Clock):
    went_on: list[bool] = []

    async def nested() -> None:
        async with clock.timeout(60, timer="outer"):
            try:
                async with clock.timeout(SOON, timer="inner"):
                    await asyncio.Event().wait()
            except TimeoutError:
                await clock.sleep(0, timer="yield")
                went_on.append(True)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(nested())
        await pass_time(clock, SOON)
    assert went_on == [True]


# What only the fake one can do


async def test_fake_time_stands_still_until_it_is_advanced():
    clock = FakeClock()
    before = clock.now()
    await clock.sleep(0, timer="yield")
    assert (clock.now(), clock.monotonic()) == (before, 0)
    await clock.advance(90)
    assert clock.now() - before == timedelta(seconds=90)
    assert clock.monotonic() == 90


async def test_a_loop_that_sleeps_again_ticks_at_each_of_its_times():
    clock = FakeClock()
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            await clock.sleep(10, timer="tick")
            ticks.append(clock.monotonic())

    async with asyncio.TaskGroup() as tasks:
        ticking = tasks.create_task(tick())
        await clock.wait_for("tick")
        await clock.advance(35)
        ticking.cancel()
    assert ticks == [10, 20, 30]


async def test_timers_fire_in_the_order_in_which_they_are_due():
    clock = FakeClock()
    woken: list[str] = []

    async def nap(seconds: float, name: str) -> None:
        await clock.sleep(seconds, timer=name)
        woken.append(name)

    async with asyncio.TaskGroup() as tasks:
        for seconds, name in [(3, "late"), (1, "early"), (1, "early too")]:
            tasks.create_task(nap(seconds, name))
        await clock.wait_for("late")
        assert clock.parked() == ["early", "early too", "late"]
        await clock.advance(3)
    assert woken == ["early", "early too", "late"]


async def test_wait_for_returns_only_when_that_many_are_parked():
    clock = FakeClock()
    gate = asyncio.Event()

    async def nap() -> None:
        await gate.wait()
        await clock.sleep(1, timer="nap")

    async with asyncio.TaskGroup() as tasks:
        for _ in range(2):
            tasks.create_task(nap())
        barrier = tasks.create_task(clock.wait_for("nap", count=2))
        await clock.sleep(0, timer="yield")
        assert not barrier.done()
        gate.set()
        await barrier
        assert clock.parked() == ["nap", "nap"]
        await clock.advance(1)


async def test_wait_for_gives_up_and_names_what_is_parked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fake_clock, "WAIT_SECONDS", 0.01)
    clock = FakeClock()
    with pytest.raises(AssertionError, match="'beat'; parked: poll"):
        async with clock.timeout(5, timer="poll"):
            await clock.wait_for("beat")


async def test_a_cancelled_sleep_and_an_ended_timeout_are_no_longer_parked():
    clock = FakeClock()
    async with asyncio.TaskGroup() as tasks:
        sleeping = tasks.create_task(clock.sleep(5, timer="nap"))
        await clock.wait_for("nap")
        sleeping.cancel()
    async with clock.timeout(5, timer="limit"):
        assert clock.parked() == ["limit"]
    assert clock.parked() == []


async def test_time_does_not_run_backwards():
    with pytest.raises(ValueError, match="backwards"):
        await FakeClock().advance(-1)


async def _outcome(work: object) -> BaseException | None:
    try:
        await work  # pyright: ignore[reportGeneralTypeIssues]
    except TimeoutError as error:
        return error
    return None
