"""What agents said is kept for five minutes, and nobody waits for another one's request."""

import asyncio
from uuid import UUID

import pytest

from chatd.testing.fake_clock import FakeClock
from chatd.wire.agent.context import ContextKind, ContextResource, ContextStatus, WorkspaceContext
from chatd.workspaces.contexts.cache import KEPT_SECONDS, ContextCache

ONE, TWO = UUID(int=1), UUID(int=2)


def context(hash: str = "h", *, content: str = "") -> WorkspaceContext:
    file = ContextResource(
        id="i", kind=ContextKind.INSTRUCTION_FILE, source="/AGENTS.md", status=ContextStatus.OK, content=content
    )
    return WorkspaceContext(version=hash, hash=hash, os="linux", directory="/", resources=(file,))


class Agent:
    """Answers when it is let, with what it is told."""

    def __init__(self, *answers: WorkspaceContext | Exception) -> None:
        self.answers = list(answers)
        self.asked = 0
        self.was_asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def read(self) -> WorkspaceContext:
        self.asked += 1
        self.was_asked.set()
        await self.may_answer.wait()
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.behaviour("WORKSPACE-3")
async def test_an_agent_is_asked_once_in_five_minutes():
    clock = FakeClock()
    cache, agent = ContextCache(clock), Agent(context("a"), context("b"))
    assert (await cache.get(ONE, agent.read)).hash == "a"
    await clock.advance(KEPT_SECONDS - 1)
    assert (await cache.get(ONE, agent.read)).hash == "a"
    assert agent.asked == 1
    await clock.advance(1)
    assert cache.fresh(ONE) is None
    assert (await cache.get(ONE, agent.read)).hash == "b"


@pytest.mark.behaviour("WORKSPACE-3")
async def test_readers_share_one_request_and_wait_for_no_other_workspace():
    cache, slow, quick = ContextCache(FakeClock()), Agent(context("a")), Agent(context("b"))
    slow.may_answer.clear()
    async with asyncio.TaskGroup() as tasks:
        waiting = [tasks.create_task(cache.get(ONE, slow.read)) for _ in range(5)]
        await slow.was_asked.wait()
        assert (await cache.get(TWO, quick.read)).hash == "b"
        slow.may_answer.set()
    assert [task.result().hash for task in waiting] == ["a"] * 5
    assert slow.asked == 1


@pytest.mark.behaviour("WORKSPACE-3")
async def test_who_has_a_copy_does_not_wait_for_who_reads_anew():
    cache, agent = ContextCache(FakeClock()), Agent(context("a"), context("b"))
    await cache.get(ONE, agent.read)
    agent.may_answer.clear()
    agent.was_asked.clear()
    async with asyncio.TaskGroup() as tasks:
        anew = tasks.create_task(cache.read_now(ONE, agent.read))
        await agent.was_asked.wait()
        assert (await cache.get(ONE, agent.read)).hash == "a"
        agent.may_answer.set()
    assert anew.result().hash == "b"
    assert (await cache.get(ONE, agent.read)).hash == "b"


async def test_a_reader_who_leaves_leaves_the_others_an_answer():
    cache, agent = ContextCache(FakeClock()), Agent(context("a"))
    agent.may_answer.clear()
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(cache.get(ONE, agent.read))
        await agent.was_asked.wait()
        second = tasks.create_task(cache.get(ONE, agent.read))
        await asyncio.sleep(0)  # noqa: TID251 - it waits for the first
        agent.was_asked.clear()
        first.cancel()
        await agent.was_asked.wait()
        agent.may_answer.set()
    assert second.result().hash == "a"


async def test_a_failure_is_told_to_all_who_waited_and_not_kept():
    cache, agent = ContextCache(FakeClock()), Agent(OSError("away"), context("a"))
    agent.may_answer.clear()

    async def get() -> str:
        try:
            return (await cache.get(ONE, agent.read)).hash
        except OSError as error:
            return str(error)

    async with asyncio.TaskGroup() as tasks:
        waiting = [tasks.create_task(get()) for _ in range(3)]
        await agent.was_asked.wait()
        agent.may_answer.set()
    assert [task.result() for task in waiting] == ["away"] * 3
    assert await get() == "a"


async def test_what_is_kept_is_bounded_and_the_oldest_goes_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("chatd.workspaces.contexts.cache._MOST_BYTES", 25)
    cache = ContextCache(FakeClock())
    for number in range(3):
        await cache.get(UUID(int=number), Agent(context(content="x" * 10)).read)
    assert [cache.fresh(UUID(int=number)) is not None for number in range(3)] == [False, True, True]
