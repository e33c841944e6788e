"""A family is archived and opened whole or not at all, through its root."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from chatd.core.outcomes import Refusal
from chatd.core.states import State
from chatd.testing.postgres import Database
from store.transition_driver import (
    DYNAMIC,
    ERROR,
    LOCAL,
    Chats,
    Prepared,
    Shape,
    answer,
    applied,
    fence,
    open_chats,
    prepare,
    refused,
)
from store.world import add_user


@pytest.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as opened:
        yield opened


async def family(chats: Chats) -> tuple[Prepared, Prepared, Prepared]:
    """A root that rests, a child that rests, and a child that runs."""
    root = await prepare(chats, State.W, Shape(owned=False))
    children: list[Prepared] = []
    for _ in range(2):
        born = applied(
            await chats.transitions.create_chat(
                chats.new_chat(parent=root.id), [chats.user("child")], take=chats.take()
            )
        )
        children.append(Prepared(born.change.chat_id, fence(born), born.messages[0].id))
    applied(await chats.transitions.finish_turn(children[0].fence))
    return root, children[0], children[1]


@pytest.mark.behaviour("STATE-8")
async def test_a_family_with_a_child_that_runs_is_not_archived_and_nothing_of_it_changes(chats: Chats):
    members = await family(chats)
    root, _, busy = members
    before = [await chats.whole(member.id) for member in members]

    outcome = refused(await chats.transitions.archive(root.id))

    assert (outcome.reason, outcome.state, outcome.subject) == (Refusal.NOT_ALLOWED, State.R0, str(busy.id))
    assert [await chats.whole(member.id) for member in members] == before


@pytest.mark.behaviour("STATE-8")
async def test_a_family_is_archived_and_opened_together_and_each_member_moves_its_version(chats: Chats):
    root, idle, busy = await family(chats)
    applied(await chats.transitions.finish_error(busy.fence, error=ERROR))
    await chats.raw(  # one that is archived already
        "UPDATE chat_state SET archived = true, snapshot_version = snapshot_version + 1 WHERE chat_id = $1", idle.id
    )

    archived = await chats.transitions.archive(root.id)
    again = refused(await chats.transitions.archive(root.id))
    opened = await chats.transitions.unarchive(root.id)

    assert isinstance(archived, list)
    assert isinstance(opened, list)
    assert archived[0].change.chat_id == root.id
    assert {one.change.chat_id: one.state for one in archived} == {
        root.id: State.XW,
        idle.id: State.XW,
        busy.id: State.XE0,
    }
    assert all(one.change.snapshot_version == one.change.snapshot_before + 1 for one in archived)
    assert again.reason is Refusal.NOT_ALLOWED
    assert {one.state for one in opened} == {State.W, State.E0}


@pytest.mark.behaviour("STATE-8")
async def test_a_child_is_archived_through_its_root_only(chats: Chats):
    _, idle, _ = await family(chats)

    assert refused(await chats.transitions.archive(idle.id)).reason is Refusal.NOT_ROOT


@pytest.mark.behaviour("STATE-8")
async def test_a_family_with_an_invalid_member_is_not_archived(chats: Chats):
    root, idle, busy = await family(chats)
    applied(await chats.transitions.finish_turn(busy.fence))
    await chats.raw(
        "UPDATE chat_state SET status = 'running', archived = true, snapshot_version = snapshot_version + 1"
        " WHERE chat_id = $1",
        idle.id,
    )

    outcome = refused(await chats.transitions.archive(root.id))

    assert (outcome.reason, outcome.subject) == (Refusal.INVALID_STATE, str(idle.id))
    assert not (await chats.look(root.id))["state"]["archived"]


@pytest.mark.behaviour("STATE-8")
async def test_no_child_is_born_below_an_archived_root_or_of_a_stranger(chats: Chats):
    root = await prepare(chats, State.XW, Shape(owned=False))

    outcome = refused(await chats.transitions.create_chat(chats.new_chat(parent=root.id), [chats.user()]))

    assert (outcome.reason, outcome.subject) == (Refusal.PARENT_NOT_OPEN, str(root.id))


@pytest.mark.behaviour("STATE-8")
async def test_a_chat_begins_with_a_message_and_versions_one_one_zero(chats: Chats):
    with pytest.raises(ValueError, match="begins with a message"):
        await chats.transitions.create_chat(chats.new_chat(), [])
    born = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user()]))

    change = born.change
    assert born.state is State.R0
    assert (change.snapshot_version, change.history_version, change.queue_version, change.retry_version) == (1, 1, 0, 0)


@pytest.mark.behaviour("STATE-8")
async def test_an_invalid_chat_is_repaired_to_an_open_error_with_its_queue(chats: Chats):
    chat = await prepare(chats, State.INVALID, Shape(waiting=2))
    await chats.raw(
        "UPDATE chat_state SET archived = true, snapshot_version = snapshot_version + 1 WHERE chat_id = $1", chat.id
    )

    repaired = applied(await chats.transitions.reconcile_invalid(chat.id, error=ERROR))

    assert repaired.state is State.E1
    assert await chats.queue(chat.id) == ["queued 0", "queued 1"]


@pytest.mark.behaviour("STATE-8")
async def test_nobody_has_a_child_in_the_family_of_another(chats: Chats):
    root = await prepare(chats, State.W, Shape(owned=False))
    stranger = await add_user(chats.sql, "sam")
    theirs = msgspec.structs.replace(chats.new_chat(parent=root.id), owner_id=stranger.id)

    outcome = refused(await chats.transitions.create_chat(theirs, [chats.user()]))

    assert (outcome.reason, outcome.subject) == (Refusal.PARENT_NOT_OPEN, str(root.id))
    assert await chats.sql._db.fetchval("SELECT count(*) FROM chats") == 1


@pytest.mark.behaviour("STATE-8")
async def test_an_archived_chat_is_not_pinned_any_more(chats: Chats):
    root, other = [await prepare(chats, State.W, Shape(owned=False)) for _ in range(2)]
    for at, chat in enumerate((root, other), start=1):
        await chats.sql.pin_chat(place=at, id=chat.id)

    applied(await chats.transitions.archive(root.id))

    assert [(await chats.look(chat.id))["chat"]["pin_order"] for chat in (root, other)] == [0, 2]
    applied(await chats.transitions.unarchive(root.id))
    assert (await chats.look(root.id))["chat"]["pin_order"] == 0


@pytest.mark.behaviour("STATE-8")
async def test_the_repair_of_an_invalid_chat_answers_its_open_calls_whatever_it_says_of_itself(chats: Chats):
    chat = await prepare(chats, State.R0, Shape())
    calls = [("c1", LOCAL), ("c2", DYNAMIC)]
    applied(await chats.transitions.commit_step(chat.fence, [answer("thinking", calls=calls)]))
    await chats.raw(
        "UPDATE chat_state SET archived = true, has_open_calls = false, snapshot_version = snapshot_version + 1"
        " WHERE chat_id = $1",
        chat.id,
    )

    repaired = applied(await chats.transitions.reconcile_invalid(chat.id, error=ERROR))

    assert (repaired.state, repaired.change.has_open_calls) == (State.E0, False)
    assert await chats.texts(chat.id) == ["first", "thinking, call c1, call c2", "result c1", "result c2"]


@pytest.mark.behaviour("STATE-8")
@pytest.mark.parametrize("state", [State.W, State.E0, State.E1])
async def test_an_archived_chat_has_no_owner_whatever_it_had_before(chats: Chats, state: State):
    chat = await prepare(chats, state, Shape(waiting=int(state is State.E1), owned=True))

    archived = applied(await chats.transitions.archive(chat.id))

    row = (await chats.look(chat.id))["state"]
    assert (archived.change.replica_id, row["replica_id"], row["runner_id"]) == (None, None, None)
