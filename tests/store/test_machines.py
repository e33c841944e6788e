"""A chat whose workspace is on a machine runs there, and elsewhere only when that machine has been away for long."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
import pytest_asyncio

from chatd.core.outcomes import Refusal, Refused
from chatd.core.states import State
from chatd.store.transitions import Applied, Take
from chatd.testing.postgres import Database
from store.transition_driver import ERROR, Chats, Shape, answer, applied, fence, open_chats, prepare
from store.world import add_user, add_workspace, new_id


@pytest_asyncio.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as found:
        yield found


async def replica(chats: Chats, host_id: str) -> UUID:
    id = new_id()
    await chats.beat(id, host_id=host_id)
    return id


async def bound(chats: Chats, host_id: str | None, state: State = State.W) -> UUID:
    """A chat in that state that works on that machine, with nobody running it."""
    chat = await prepare(chats, state, Shape(owned=False))
    applied(await chats.transitions.bind_workspace(chat.id, await chats.workspace(host_id=host_id)))
    return chat.id


async def acquired(chats: Chats, replica_id: UUID) -> set[UUID]:
    taken = await chats.transitions.acquire(replica_id, [new_id() for _ in range(9)], error=ERROR)
    return {one.change.chat_id for one in taken}


async def test_a_chat_is_acquired_where_its_workspace_is(chats: Chats):
    here, there = await replica(chats, "here"), await replica(chats, "there")
    on_here, anywhere = await bound(chats, "here", State.R0), await bound(chats, None, State.R0)

    assert await acquired(chats, there) == {anywhere}
    assert await acquired(chats, here) == {on_here}


async def test_a_chat_of_a_replica_that_died_is_taken_over_on_its_machine_only(chats: Chats):
    dead, other = await replica(chats, "here"), await replica(chats, "here")
    there = await replica(chats, "there")
    chat = await bound(chats, "here", State.R0)
    assert await acquired(chats, dead) == {chat}
    await chats.sql.expire_replica(id=dead)

    assert await acquired(chats, there) == set()
    assert await acquired(chats, other) == {chat}


async def test_anyone_runs_the_chats_of_a_machine_that_has_been_away_for_five_minutes(chats: Chats):
    here, there = await replica(chats, "here"), await replica(chats, "there")
    chat = await bound(chats, "here", State.R0)
    await chats.sql.delete_replica(id=here)  # it has left in order: a minute later it may be back
    await chats.sql._db.execute("UPDATE hosts SET seen_at = now() - interval '4 minutes' WHERE id = 'here'")
    assert await acquired(chats, there) == set()

    await chats.sql._db.execute("UPDATE hosts SET seen_at = now() - interval '6 minutes' WHERE id = 'here'")
    assert await acquired(chats, there) == {chat}


@pytest.mark.parametrize("host_id", ["here", None])
async def test_who_sends_a_message_takes_the_chat_only_where_its_workspace_is(host_id: str | None, chats: Chats):
    here, there = Take(await replica(chats, "here"), new_id()), Take(await replica(chats, "there"), new_id())
    chat = await bound(chats, host_id)

    sent = applied(await chats.transitions.send_message(chat, chats.user(), take=there))
    assert sent.took(there) == (host_id is None)
    assert (sent.change.generation_attempt, sent.change.host_id) == (int(host_id is None), host_id)
    if host_id is not None:
        assert await acquired(chats, here.replica_id) == {chat}


async def test_the_machine_of_a_chat_stays_through_its_turns(chats: Chats):
    here = Take(await replica(chats, "here"), new_id())
    chat = await bound(chats, "here")
    sent = applied(await chats.transitions.send_message(chat, chats.user(), take=here))
    done = applied(await chats.transitions.commit_step(fence(sent), [answer("done")], finish=True))

    assert (sent.took(here), done.state, done.change.host_id) == (True, State.W, "here")
    state = await chats.sql.get_chat_state(chat_id=chat)
    assert state is not None
    assert state.host_id == "here"


async def test_a_chat_that_is_created_in_a_workspace_is_taken_on_its_machine(chats: Chats):
    here, there = Take(await replica(chats, "here"), new_id()), Take(await replica(chats, "there"), new_id())
    workspace = await chats.workspace(host_id="here")

    made = {
        take: applied(
            await chats.transitions.create_chat(chats.new_chat(workspace_id=workspace), [chats.user()], take=take)
        )
        for take in (here, there)
    }

    assert [one.took(take) for take, one in made.items()] == [True, False]
    assert {one.change.host_id for one in made.values()} == {"here"}


async def test_children_and_forks_begin_where_their_chat_works(chats: Chats):
    take = Take(await replica(chats, "here"), new_id())
    workspace = await chats.workspace(host_id="here")
    root = applied(
        await chats.transitions.create_chat(chats.new_chat(workspace_id=workspace), [chats.user()], take=take)
    )
    child = applied(await chats.transitions.create_chat(chats.new_chat(parent=root.change.chat_id), [chats.user()]))
    fork = applied(await chats.transitions.fork_chat(new_id(), root.change.chat_id, owner_id=chats.owner.id))
    applied(await chats.transitions.bind_workspace(root.change.chat_id, None, runner_id=take.runner_id))

    for one in (child, fork):
        stored = await chats.sql.get_chat(id=one.change.chat_id)
        assert stored is not None
        assert (stored.workspace_id, one.change.host_id) == (workspace, "here")
    rebound = await chats.sql.get_chat(id=root.change.chat_id)
    assert rebound is not None
    assert rebound.workspace_id is None


async def test_a_fork_for_someone_else_has_no_workspace(chats: Chats):
    other = await add_user(chats.sql, "other")
    chat = await bound(chats, "here")
    fork = applied(await chats.transitions.fork_chat(new_id(), chat, owner_id=other.id))

    assert fork.change.host_id is None


async def test_a_chat_that_runs_is_bound_only_to_what_its_machine_reaches(chats: Chats):
    here = Take(await replica(chats, "here"), new_id())
    await replica(chats, "there")
    running = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user()], take=here))
    id = running.change.chat_id
    refused = await chats.transitions.bind_workspace(id, await chats.workspace(host_id="there"))
    stale = await chats.transitions.bind_workspace(id, None, runner_id=new_id())
    own = await chats.transitions.bind_workspace(id, await chats.workspace(host_id="here"), runner_id=here.runner_id)

    assert isinstance(refused, Refused)
    assert isinstance(stale, Refused)
    assert (refused.reason, refused.subject, stale.reason) == (Refusal.RUNS_ELSEWHERE, "there", Refusal.NOT_OWNER)
    assert isinstance(own, Applied)
    # It is no news to the runner: its fence holds.
    assert own.fence == running.fence
    assert (own.change.status, own.change.updated_at) == (running.change.status, running.change.updated_at)
    applied(await chats.transitions.commit_step(fence(running), [answer("done")], finish=True))


async def test_only_a_workspace_of_the_chats_owner_that_is_there_is_bound(chats: Chats):
    chat = (await prepare(chats, State.W, Shape(owned=False))).id
    mine = await chats.workspace()
    other = await add_user(chats.sql, "other")
    template_id = (await chats.sql.list_templates(organization_id=chats.organization_id))[0].id
    theirs = (await add_workspace(chats.sql, other, template_id)).workspace_id
    gone = await chats.workspace()
    await chats.sql._db.execute("UPDATE workspaces SET deleted = true WHERE id = $1", gone)

    for wrong in (theirs, gone, new_id()):
        bound = await chats.transitions.bind_workspace(chat, wrong)
        assert isinstance(bound, Refused)
        assert (bound.reason, bound.subject) == (Refusal.WORKSPACE_NOT_FOUND, str(wrong))
        made = await chats.transitions.create_chat(chats.new_chat(workspace_id=wrong), [chats.user()])
        assert isinstance(made, Refused)
        assert made.reason is Refusal.WORKSPACE_NOT_FOUND
    applied(await chats.transitions.bind_workspace(chat, mine))
