"""A message that is sent with a key is sent once, whatever became of it since and however many send it at a time."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from chatd.core.outcomes import Refusal, Refused
from chatd.core.states import State
from chatd.store.transitions import Applied, Outcome, Repeated, SendKey
from chatd.testing.postgres import Database
from store.transition_driver import Chats, Shape, applied, fence, open_chats, prepare
from store.world import new_id


@pytest_asyncio.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as chats:
        yield chats


def first(outcome: Outcome | Repeated) -> Applied:
    assert not isinstance(outcome, Repeated)
    return applied(outcome)


@pytest.mark.behaviour("API-7")
@pytest.mark.parametrize("state", [State.W, State.E0, State.E1, State.R0, State.A0])
async def test_a_message_sent_again_adds_nothing_and_is_told_the_first_outcome(chats: Chats, state: State):
    chat, key = await prepare(chats, state, Shape(owned=False)), SendKey(new_id(), new_id())
    sent = first(await chats.transitions.send_once(chat.id, chats.user("once"), key, take=chats.take()))
    before = await chats.look(chat.id)

    again = await chats.transitions.send_once(chat.id, chats.user("once"), key, take=chats.take())

    ids = sent.change.inserted_ids
    assert again == Repeated(
        ids[0] if ids else None, sent.change.queued_id, sent.change.snapshot_version, sent.change.happened_at
    )
    assert await chats.look(chat.id) == before


@pytest.mark.behaviour("API-7")
async def test_what_became_of_the_message_since_makes_no_difference(chats: Chats):
    chat, do = await prepare(chats, State.R0, Shape()), chats.transitions
    keys = [SendKey(new_id(), new_id()) for _ in range(2)]
    sent = [first(await do.send_once(chat.id, chats.user(text), key)) for text, key in zip("ab", keys, strict=True)]
    promoted = applied(await do.finish_turn(fence(sent[1])))
    applied(await do.delete_queued(chat.id, sent[1].change.queued_id or 0))
    applied(await do.finish_turn(fence(promoted)))
    assert _family(await do.archive(chat.id))

    again = [await do.send_once(chat.id, chats.user(text), key) for text, key in zip("ab", keys, strict=True)]

    assert [one.queued_id for one in again if isinstance(one, Repeated)] == [one.change.queued_id for one in sent]
    assert (await chats.texts(chat.id)).count("a") == 1


@pytest.mark.behaviour("API-7")
async def test_the_same_key_with_another_message_is_refused_and_another_chat_does_not_know_it(chats: Chats):
    one, other = [await prepare(chats, State.W, Shape(owned=False)) for _ in range(2)]
    key = SendKey(new_id(), new_id())
    first(await chats.transitions.send_once(one.id, chats.user("a"), key))

    reused = await chats.transitions.send_once(one.id, chats.user("b"), SendKey(key.key, new_id()))

    assert isinstance(reused, Refused)
    assert reused.reason is Refusal.KEY_REUSED
    first(await chats.transitions.send_once(other.id, chats.user("b"), SendKey(key.key, new_id())))


@pytest.mark.behaviour("API-7")
async def test_of_many_at_the_same_moment_one_is_sent(chats: Chats):
    chat, key = await prepare(chats, State.W, Shape(owned=False)), SendKey(new_id(), new_id())

    async with asyncio.TaskGroup() as tasks:
        sends = [
            tasks.create_task(chats.transitions.send_once(chat.id, chats.user("once"), key, take=chats.take()))
            for _ in range(8)
        ]

    outcomes = [send.result() for send in sends]
    assert sum(isinstance(outcome, Applied) for outcome in outcomes) == 1
    assert len({outcome.message_id for outcome in outcomes if isinstance(outcome, Repeated)}) == 1
    assert (await chats.texts(chat.id)).count("once") == 1
    assert await chats.queue(chat.id) == []


def _family(outcome: list[Applied] | Refused) -> list[Applied]:
    assert not isinstance(outcome, Refused)
    return outcome


@pytest.mark.behaviour("API-7")
async def test_old_keys_are_forgotten_a_few_at_a_time(chats: Chats):
    chat, keys = await prepare(chats, State.R0, Shape()), [SendKey(new_id(), new_id()) for _ in range(4)]
    for key in keys:
        first(await chats.transitions.send_once(chat.id, chats.user("once"), key))
    await chats.raw(
        "UPDATE chat_sends SET created_at = now() - interval '40 days' WHERE key = ANY ($1)",
        [key.key for key in keys[:3]],
    )

    gone = [await chats.sql.delete_old_sends(older_than=timedelta(days=30), max_rows=2) for _ in range(3)]

    assert gone == [2, 1, 0]
    assert isinstance(await chats.transitions.send_once(chat.id, chats.user("once"), keys[3]), Repeated)
    assert not isinstance(await chats.transitions.send_once(chat.id, chats.user("once"), keys[0]), Repeated)
