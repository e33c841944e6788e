"""Histories that are kept: extended by what a transition added, read anew when anything else happened."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest_asyncio

from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.engine.histories import Histories
from chatd.store.store import Store
from chatd.store.transitions import Fence, Take
from engine.counting import Counting
from engine.deployment import Deployment, answer, applied, new_id, open_deployment, said


@pytest_asyncio.fixture
async def deployment(database: Any) -> AsyncIterator[Deployment]:
    async with open_deployment(database.dsn) as deployment:
        yield deployment


class Kept:
    def __init__(self, deployment: Deployment, *, most_bytes: int = 1_000_000) -> None:
        self.store = Counting(deployment.sql)
        as_store: Store = self.store  # type: ignore[assignment]
        self.histories = Histories(as_store, most_bytes=most_bytes)

    @property
    def reads(self) -> int:
        return self.store.asked["list_prompt_messages"]


async def running_chat(deployment: Deployment) -> tuple[UUID, Fence]:
    take = Take(new_id(), new_id())
    chat = await deployment.new_chat("hello", take=take)
    return chat, Fence(chat, take.runner_id, (await deployment.state(chat))["history_version"])


async def test_what_was_committed_here_is_not_read_again(deployment: Deployment):
    chat, fence = await running_chat(deployment)
    kept = Kept(deployment)
    await kept.histories.load(chat, fence.history_version)
    committed = applied(await deployment.transitions.commit_step(fence, [answer("hi")], finish=True))
    kept.histories.note(committed)
    sent = applied(await deployment.transitions.send_message(chat, said("more", deployment.user_id)))
    kept.histories.note(sent)
    held = await kept.histories.load(chat, sent.change.history_version)
    fresh = await Histories(deployment.sql).load(chat, sent.change.history_version)

    assert kept.reads == 1
    assert held == fresh
    assert kept.histories.known(chat, sent.change.history_version) == held
    assert kept.histories.known(chat, fence.history_version) == ()


async def test_what_happened_behind_our_back_makes_it_be_read_again(deployment: Deployment):
    chat, fence = await running_chat(deployment)
    kept = Kept(deployment)
    await kept.histories.load(chat, fence.history_version)
    applied(await deployment.transitions.commit_step(fence, [answer("hi")], finish=True))  # nobody tells us
    sent = applied(await deployment.transitions.send_message(chat, said("more", deployment.user_id)))
    noted = kept.histories.note(sent)
    held = await kept.histories.load(chat, sent.change.history_version)

    assert noted is None
    assert kept.reads == 2
    assert [message.role for message in held] == [Role.USER, Role.ASSISTANT, Role.USER]


async def test_an_edit_makes_it_be_read_again(deployment: Deployment):
    chat, fence = await running_chat(deployment)
    kept = Kept(deployment)
    (first,) = await kept.histories.load(chat, fence.history_version)
    edited = applied(await deployment.transitions.edit_message(chat, first.id, said("better", deployment.user_id)))
    kept.histories.note(edited)
    (held,) = await kept.histories.load(chat, edited.change.history_version)

    assert kept.reads == 2
    assert held.parts == (TextPart(text="better"),)


async def test_the_oldest_ones_go_when_there_is_no_more_room(deployment: Deployment):
    kept = Kept(deployment, most_bytes=25_000)
    chats = [await running_chat(deployment) for _ in range(3)]
    long = NewMessage(role=Role.ASSISTANT, parts=(TextPart(text="x" * 10_000),))
    versions: list[int] = []
    for chat, fence in chats:
        done = applied(await deployment.transitions.commit_step(fence, [long], finish=True))
        versions.append(done.change.history_version)
        await kept.histories.load(chat, done.change.history_version)

    assert [bool(kept.histories.known(chat, version)) for (chat, _), version in zip(chats, versions, strict=True)] == [
        False,
        True,
        True,
    ]


async def test_one_that_was_read_lately_stays_longer_than_an_older_one(deployment: Deployment):
    kept = Kept(deployment, most_bytes=2000)  # two messages and a little
    chats = [await running_chat(deployment) for _ in range(3)]
    for place in (0, 1, 0, 2):
        chat, fence = chats[place]
        await kept.histories.load(chat, fence.history_version)

    assert [bool(kept.histories.known(chat, fence.history_version)) for chat, fence in chats] == [True, False, True]
