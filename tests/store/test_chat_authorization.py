"""Who may do what to whose chat, decided by roles: the owner, a stranger, an owner of the site, a worker."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from chatd.core.access import WORKER, Kind, OwnedBy
from chatd.core.errors import NotAuthorized
from chatd.core.transitions import Transition
from chatd.store.actor import acting_as
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.queries import User
from store.authorization_cases import CASES, UPDATE
from store.world import World, add_chat, new_id, open_sql, person, populate

pytestmark = pytest.mark.behaviour("STORE-2")


@pytest_asyncio.fixture
async def world(database: Any) -> AsyncIterator[World]:
    async with open_sql(database.dsn) as sql:
        yield await populate(sql)


BORN = ("create_chat", "fork_chat")  # of one's own; a fork reads another one besides
ASKED = [method for method, case in CASES.items() if case.filtered is Kind.CHAT and case.raises and method not in BORN]
# What only a machine does: it names no owner whose chat it would have to be.
WORKERS = [
    *("release_overdue", "acquire", "abandon", "hand_over", "give_up", "record_attempt", "record_retry", "save_draft"),
    *("commit_step", "enter_requires_action", "cancel_requires_action", "finish_turn", "finish_interruption"),
    *("finish_error", "list_owned_chats", "list_chat_versions", "write_checkpoints"),
]
NO_TRANSITIONS = {"list_owned_chats", "list_chat_versions", "write_checkpoints"}


def found(result: Any) -> bool:
    """Whether there was such a chat for the actor; a refusal of the chat itself says that there was."""
    return result not in (None, [])


def test_every_transition_is_asked_for_or_a_workers():
    transitions = {str(transition) for transition in Transition} | {"release_overdue", "hand_over"}

    assert transitions == {"create_chat", *ASKED, *WORKERS} - NO_TRANSITIONS


@pytest.mark.parametrize("method", ASKED)
async def test_the_chat_of_someone_else_looks_missing(method: str, world: World):
    store, args = AuthorizedStore(world.sql, RoleAuthorizer()), CASES[method].args(world)

    with acting_as(person(world.stranger)):
        assert not found(await getattr(store, method)(**args))
        assert not found(await getattr(store, method)(**{**args, "only_owner": world.stranger.id}))
        with pytest.raises(NotAuthorized):
            await getattr(store, method)(**{**args, "only_owner": world.member.id})
    with acting_as(world.member_person):
        assert not found(await getattr(store, method)(**{**args, "chat_id": new_id()}))
        assert found(await getattr(store, method)(**args))


@pytest.mark.parametrize("method", ASKED)
async def test_an_owner_of_the_site_stops_and_tidies_the_chats_of_others_but_makes_none_run(method: str, world: World):
    store, args = AuthorizedStore(world.sql, RoleAuthorizer()), CASES[method].args(world)

    with acting_as(person(world.owner)):
        assert found(await getattr(store, method)(**args)) == (CASES[method].action is UPDATE)


async def test_whoever_may_read_a_chat_forks_it_for_themselves_and_for_nobody_else(world: World):
    store, args = AuthorizedStore(world.sql, RoleAuthorizer()), CASES["fork_chat"].args(world)

    async def forked(user: User, owner: User) -> bool:
        asked: dict[str, Any] = {**args, "chat_id": new_id(), "owner_id": owner.id}
        with acting_as(person(user)):
            return found(await store.fork_chat(**asked))

    assert await forked(world.member, world.member)
    assert await forked(world.owner, world.owner)
    assert not await forked(world.stranger, world.stranger)
    for user in (world.owner, world.stranger):
        with pytest.raises(NotAuthorized):
            await forked(user, world.member)
    with acting_as(person(world.member, scopes=frozenset({"chat:create"}))), pytest.raises(NotAuthorized):
        await store.fork_chat(**args)


async def test_an_owner_of_the_site_runs_their_own_chats(world: World):
    store, mine = AuthorizedStore(world.sql, RoleAuthorizer()), await add_chat(world.sql, world.owner)

    with acting_as(person(world.owner)):
        args: dict[str, Any] = {**CASES["send_message"].args(world), "chat_id": mine.chat_id}
        assert found(await store.send_message(**args))


@pytest.mark.parametrize("method", ASKED)
async def test_a_token_for_reading_changes_no_chat(method: str, world: World):
    store, args = AuthorizedStore(world.sql, RoleAuthorizer()), CASES[method].args(world)

    with acting_as(person(world.member, scopes=frozenset({"chat:read"}))), pytest.raises(NotAuthorized):
        await getattr(store, method)(**args)


@pytest.mark.parametrize("method", WORKERS)
async def test_what_a_runner_does_is_for_machines_only(method: str, world: World):
    store, args = AuthorizedStore(world.sql, RoleAuthorizer()), CASES[method].args(world)

    refused = [world.member] if method.startswith("list_") else [world.member, world.owner]
    for user in refused:
        with acting_as(person(user)), pytest.raises(NotAuthorized):
            await getattr(store, method)(**args)
    with acting_as(WORKER):
        await getattr(store, method)(**args)


LISTS = ("list_chats", "list_labeled_chats")
OF_USERS = ("sum_cost_by_user",)  # a row for each user whose chats one may see, oneself too
SHOWN = [
    method
    for method, case in CASES.items()
    if case.filtered in (Kind.CHAT, Kind.FILE, Kind.WORKSPACE) and not case.raises and method not in LISTS + OF_USERS
]
EMPTY = (
    *("list_pinned_chats", "list_child_chats", "list_chat_files", "list_queued_messages", "get_draft", "has_unread"),
    "list_checkpoints",
    "get_send",
    *("get_chat_context", "get_diff_status", "list_diff_statuses", "list_workspace_chats"),
    "list_chats_in_workspace",
    *("set_workspace_deadline", "insert_workspace_build", "get_workspace_build_by_key", "list_build_logs"),
)
EMPTY_SUMS = ("sum_cost_by_model", "sum_cost_by_chat", "sum_cost_by_day", "sum_runtime_ms")


@pytest.mark.parametrize("method", SHOWN)
async def test_nothing_of_someone_elses_chats_files_and_workspaces_is_seen_or_changed(method: str, world: World):
    store, args = AuthorizedStore(world.sql, RoleAuthorizer()), CASES[method].args(world)

    with acting_as(person(world.stranger)):
        assert not await getattr(store, method)(**args)
    with acting_as(world.member_person):
        assert bool(await getattr(store, method)(**args)) == (method not in EMPTY + EMPTY_SUMS)


@pytest.mark.parametrize("method", LISTS)
async def test_everyone_lists_their_own_chats_and_an_owner_of_the_site_anyones(method: str, world: World):
    store, args = AuthorizedStore(world.sql, RoleAuthorizer()), CASES[method].args(world)
    other = await add_chat(world.sql, world.stranger)

    async def listed(user: User, **more: Any) -> set[UUID]:
        with acting_as(person(user)):
            return {chat.id for chat in await getattr(store, method)(**args, **more)}

    assert await listed(world.member) == {world.chat.chat_id}
    assert await listed(world.stranger) == {other.chat_id}
    assert await listed(world.owner) == {world.chat.chat_id, other.chat_id}
    assert await listed(world.owner, authorize=OwnedBy(world.stranger.id)) == {other.chat_id}
    assert await listed(world.member, authorize=OwnedBy(world.stranger.id)) == set()


async def idle(world: World) -> UUID:
    """The chat, after its turn."""
    sql, runner = world.sql, new_id()
    (taken,) = await sql.acquire(
        taker=new_id(), runner_ids=[runner], root_capacity=None, child_capacity=None, most_takeovers=3, error="{}"
    )
    done = await sql.finish_turn(chat_id=taken.chat_id, runner_id=runner, history_version=taken.history_version)
    assert done is not None
    assert done.state_after == "W"
    return taken.chat_id


@pytest.mark.parametrize("method", ASKED)
async def test_an_idle_chat_of_someone_else_looks_missing_and_does_not_change(method: str, world: World):
    chat_id, args = await idle(world), CASES[method].args(world)
    store, look = AuthorizedStore(world.sql, RoleAuthorizer()), "SELECT s::text FROM chat_state s WHERE chat_id = $1"
    before = await world.sql._db.fetchval(look, chat_id)

    with acting_as(person(world.stranger)):
        assert not found(await getattr(store, method)(**args))
    assert not found(await getattr(world.sql, method)(**{**args, "only_owner": world.stranger.id}))

    assert await world.sql._db.fetchval(look, chat_id) == before
    assert await world.sql._db.fetchval("SELECT count(*) FROM messages") == 1


@pytest.mark.parametrize("method", OF_USERS)
async def test_of_users_one_sees_oneself_and_an_owner_of_the_site_everyone(method: str, world: World):
    store, args = AuthorizedStore(world.sql, RoleAuthorizer()), CASES[method].args(world)

    async def listed(user: User) -> set[UUID]:
        with acting_as(person(user)):
            return {row.user_id for row in await getattr(store, method)(**args)}

    assert await listed(world.stranger) == {world.stranger.id}
    assert await listed(world.member) == {world.member.id}
    assert await listed(world.owner) > {world.member.id, world.stranger.id}


@pytest.mark.parametrize("method", ["create_chat", "bind_workspace"])
async def test_a_token_for_chats_alone_binds_no_workspace(method: str, world: World):
    store = AuthorizedStore(world.sql, RoleAuthorizer())
    args: dict[str, Any] = {**CASES[method].args(world), "workspace_id": world.build.workspace_id}

    with acting_as(person(world.member, scopes=frozenset({"chat:*"}))), pytest.raises(NotAuthorized):
        await getattr(store, method)(**args)
    with acting_as(person(world.member, scopes=frozenset({"chat:*", "workspace:run"}))):
        assert await getattr(store, method)(**args) is not None
