"""Hints about a chat come in any order with its runner's own commits; none that matters is missed."""

import asyncio
from uuid import UUID

import msgspec
import pytest

from chatd.core.states import Status
from chatd.engine.news import News
from chatd.engine.ways_out import Changed
from chatd.store.chat_hints import ChatHint

CHAT, RUNNER, OTHER = UUID(int=1), UUID(int=2), UUID(int=3)
AT_5 = ChatHint(CHAT, 5, 4, 0, 0, 1, Status.RUNNING, False, OTHER, RUNNER)


def at(snapshot: int, **changed: object) -> ChatHint:
    return msgspec.structs.replace(AT_5, snapshot_version=snapshot, **changed)


def relying(on: ChatHint = AT_5) -> News:
    news = News(RUNNER)
    news.rely_on(on)
    return news


@pytest.mark.parametrize(
    "hint",
    [
        at(6, status=Status.INTERRUPTING),
        at(6, history_version=6),
        at(6, runner_id=OTHER),
        at(6, runner_id=None, replica_id=None),
        at(6, archived=True),
    ],
)
async def test_what_matters_ends_the_block(hint: ChatHint):
    news = relying()

    async def work() -> None:
        async with news.unless_changed():
            asyncio.get_running_loop().call_soon(news.hear, hint)
            await asyncio.Event().wait()

    with pytest.raises(Changed):
        await asyncio.wait_for(work(), 20)
    with pytest.raises(Changed):  # and it stays so until it was looked at
        async with news.unless_changed():
            pass
    news.rely_on(hint)
    if hint.runner_id == RUNNER and not hint.archived:
        async with news.unless_changed():
            pass


async def test_a_longer_queue_and_what_is_known_already_end_nothing():
    news = relying()

    async with news.unless_changed():
        for hint in (at(6, queue_version=6), at(5, status=Status.INTERRUPTING), at(3, history_version=2)):
            news.hear(hint)
        await asyncio.get_running_loop().run_in_executor(None, lambda: None)


async def test_a_hint_that_overtakes_the_answer_to_our_own_commit_is_not_forgotten():
    news = relying()
    news.hear(at(7, history_version=6, status=Status.INTERRUPTING))  # someone stops the chat right after our commit
    news.rely_on(at(6, history_version=6))  # now we learn of the commit

    with pytest.raises(Changed):
        async with news.unless_changed():
            pass


async def test_a_cancellation_stays_one():
    news, entered = relying(), asyncio.Event()

    async def work() -> None:
        async with news.unless_changed():
            entered.set()
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(work())
        await entered.wait()
        task.cancel()
    assert task.cancelled()


async def test_an_older_hint_that_comes_late_does_not_hide_a_newer_one():
    news = relying()
    news.hear(at(7, status=Status.INTERRUPTING))
    news.hear(at(6))

    with pytest.raises(Changed):
        async with news.unless_changed():
            pass
