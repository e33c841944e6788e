"""Tasks beside a block: they end with it, and errors come out as they are."""

import asyncio

import pytest

from chatd.background import beside


async def wait_for_ever(started: asyncio.Event, ended: asyncio.Event) -> None:
    try:
        started.set()
        await asyncio.Event().wait()
    finally:
        ended.set()


async def fail() -> None:
    raise ZeroDivisionError


async def test_tasks_end_with_the_block():
    started, ended = asyncio.Event(), asyncio.Event()
    async with beside({"wait": wait_for_ever(started, ended)}):
        await started.wait()

    assert ended.is_set()


async def test_what_the_block_raises_is_not_wrapped():
    started, ended = asyncio.Event(), asyncio.Event()
    with pytest.raises(KeyError):  # noqa: PT012
        async with beside({"wait": wait_for_ever(started, ended)}):
            await started.wait()
            raise KeyError

    assert ended.is_set()


async def test_a_task_that_fails_ends_the_block_with_its_error():
    with pytest.raises(ZeroDivisionError):
        async with beside({"fail": fail()}):
            await asyncio.Event().wait()


async def test_a_cancelled_block_is_cancelled():
    started, ended = asyncio.Event(), asyncio.Event()

    async def run() -> None:
        async with beside({"wait": wait_for_ever(started, ended)}):
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(run())
        await started.wait()
        task.cancel()
    assert task.cancelled()
    assert ended.is_set()
