"""Tasks that run chats: cancelled when they must be, whatever they are at."""

import asyncio
import contextvars

from chatd.core.states import Status
from chatd.engine.owned import Owned
from chatd.engine.pauses import Pauses
from chatd.engine.runners import Runners
from chatd.stoppable import Stoppable, Stopped
from chatd.testing.fake_clock import FakeClock
from engine.deployment import new_id


async def test_a_lost_lease_cancels_a_runner_whose_tools_are_just_being_stopped():
    tidying, tidied, went_on = asyncio.Event(), asyncio.Event(), asyncio.Event()
    block = Stoppable()

    async def run(owned: Owned) -> None:
        try:
            async with block:
                try:
                    await asyncio.Event().wait()
                finally:
                    tidying.set()
                    await tidied.wait()  # a tool that ends what it started
        except Stopped:
            pass
        went_on.set()  # asks the model, say
        await asyncio.Event().wait()

    runners = Runners(run, clock=FakeClock(), pauses=Pauses())
    owned = Owned(new_id(), new_id(), Status.RUNNING, 1, 1, 1)
    async with asyncio.TaskGroup() as group:
        runners.start(owned, group, contextvars.copy_context(), later=lambda: None)
        await FakeClock().advance(0)
        block.stop()
        await tidying.wait()
        runners.cancel_all()
        await FakeClock().advance(0)
        tidied.set()
        await FakeClock().advance(0)
        left = bool(runners.running)
        runners.cancel_all()
    assert not went_on.is_set()
    assert not left
