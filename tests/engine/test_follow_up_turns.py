"""The next turn of a chat comes to a worker while the task of the last one still tidies up."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest_asyncio

from chatd.engine.owned import Owned
from engine.deployment import (
    PATIENCE,
    Deployment,
    Replica,
    Script,
    answer,
    applied,
    open_deployment,
    replica,
    said,
)


@pytest_asyncio.fixture
async def deployment(database: Any) -> AsyncIterator[Deployment]:
    async with open_deployment(database.dsn) as deployment:
        yield deployment


class Tidying:
    """Ends its first turn at once and then takes its time; runs any later turn until cancelled."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._first = True
        self.committed = asyncio.Event()
        self.tidy = asyncio.Event()

    async def __call__(self, owned: Owned) -> None:
        if not self._first:
            await asyncio.Event().wait()
        self._first = False
        applied(await self._deployment.transitions.commit_step(owned.fence, [answer("hi")], finish=True))
        self.committed.set()
        try:
            await self.tidy.wait()
        except asyncio.CancelledError:
            await self.tidy.wait()
            raise


async def send_more(deployment: Deployment, one: Replica, chat: UUID) -> None:
    """A message that gives the chat to this replica again."""
    take = one.worker.new_take()
    assert take is not None
    sent = applied(await deployment.transitions.send_message(chat, said("more", deployment.user_id), take=take))
    assert sent.took(take)
    one.worker.adopt(sent)


async def test_a_turn_that_comes_while_the_last_task_ends_starts_as_soon_as_it_has_ended(deployment: Deployment):
    chat, tidying = await deployment.new_chat(), Tidying(deployment)
    async with replica(deployment, Script(tidying)) as one:
        await tidying.committed.wait()
        await send_more(deployment, one, chat)
        assert len(one.script.started) == 1  # the script itself refuses a second one of the same chat
        tidying.tidy.set()
        await one.script.until(lambda: len(one.script.started) == 2 and chat in one.script.running)

        first, second = one.script.started
        assert first.runner_id != second.runner_id == (await deployment.state(chat))["runner_id"]
        assert one.clock.monotonic() == 0


async def test_a_turn_that_waits_for_the_last_task_is_not_started_without_a_lease(deployment: Deployment):
    chat, tidying = await deployment.new_chat(), Tidying(deployment)
    async with replica(deployment, Script(tidying)) as one:
        await tidying.committed.wait()
        await send_more(deployment, one, chat)
        one.lease.change(False)
        tidying.tidy.set()
        await one.script.until_running()
        await one.settled()
        assert len(one.script.started) == 1

        one.lease.change(True)
        await one.script.until_running(chat)


async def test_a_turn_that_waits_for_the_last_task_is_handed_over_by_a_worker_that_drains(deployment: Deployment):
    chat, tidying = await deployment.new_chat(), Tidying(deployment)
    async with replica(deployment, Script(tidying)) as one:
        await tidying.committed.wait()
        await send_more(deployment, one, chat)
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
            tasks.create_task(one.worker.drain(30))
            await one.clock.wait_for("drain")
            tidying.tidy.set()

        assert (len(one.script.started), await deployment.owner(chat)) == (1, None)


async def test_a_worker_that_ends_while_a_turn_waits_for_the_last_task_ends(deployment: Deployment):
    chats, tidying = [await deployment.new_chat() for _ in range(2)], Tidying(deployment)
    async with asyncio.timeout(PATIENCE):
        async with replica(deployment, Script(tidying)) as one:
            await tidying.committed.wait()
            first = one.script.started[0].chat_id
            await one.script.until_running(*chats)
            await send_more(deployment, one, first)
            tidying.tidy.set()  # it goes on when the worker is cancelled already: no await until then

    assert len(one.script.started) == 2
    assert one.script.running == {}
