"""Every query is authorized, and every authorization is shown: allowed, refused, with nobody acting, cancelled.

A new query fails `test_every_method_has_a_case` until its case stands here.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from chatd.core.access import (
    EVERYTHING,
    NOTHING,
    OPERATOR,
    WORKER,
    Action,
    Actor,
    Filter,
    Kind,
    Resource,
)
from chatd.core.errors import Forbidden, NoActor, NotAuthorized
from chatd.core.secret import Secret
from chatd.core.transitions import Transition
from chatd.store.actor import acting_as
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.cipher import Cipher, EncryptionKey
from chatd.store.custom_queries import EncryptedColumn, SealedValue
from chatd.store.queries import (
    ChatClient,
    InsertGroupMembersItem,
    TokenKind,
    TouchTokensLastUsedItem,
    TouchUsersLastSeenItem,
    UserRole,
    UserStatus,
)
from chatd.store.store import Store
from store.world import MODEL, NOW, World, add_chat, new_id, open_sql, person, populate, row

pytestmark = pytest.mark.behaviour("STORE-2")

CIPHER = Cipher([EncryptionKey(b"k" * 32)])
SECRETS = EncryptedColumn("public.secrets", "value")


class Case(msgspec.Struct, frozen=True):
    """What a method is called with and which checks that makes, in order. Rows are checked by a filter for an action.

    When the filter leaves nothing, a method shows nothing, or `raises`.
    """

    args: Callable[[World], dict[str, Any]]
    checks: Callable[[World], Sequence[tuple[Action, Resource]]] = lambda _: ()
    filtered: Kind | None = None
    action: Action = Action.READ
    raises: bool = False


def checked(
    action: Action,
    kind: Kind,
    args: Callable[[World], dict[str, Any]] = lambda _: {},
    *,
    owner: str | None = None,
) -> Case:
    """One check of one resource, which may belong to a user of the world."""

    def checks(world: World) -> Sequence[tuple[Action, Resource]]:
        return [(action, Resource(kind, owner=getattr(world, owner).id if owner else None))]

    return Case(args, checks)


def on_group(action: Action, args: Callable[[World], dict[str, Any]]) -> Case:
    """A check of the group that the member is in, made as the member."""
    return Case(args, lambda w: [(action, Resource(Kind.GROUP, members=frozenset({w.member.id})))])


def asked(action: Action, args: Callable[[World], dict[str, Any]] = lambda _: {}) -> Case:
    """A transition that a person asks for: it takes the owner whose chat it may be."""
    return Case(
        lambda w: {"chat_id": w.chat.chat_id, "only_owner": None, **args(w)},
        filtered=Kind.CHAT,
        action=action,
        raises=True,
    )


def fenced(args: Callable[[World], dict[str, Any]] = lambda _: {}) -> Case:
    """What the runner of a chat reports."""
    return checked(
        Action.RUN,
        Kind.CHAT,
        lambda w: {"chat_id": w.chat.chat_id, "runner_id": new_id(), "history_version": 1, **args(w)},
    )


def _new_user(_: World) -> dict[str, Any]:
    return {
        "id": new_id(),
        "email": "n@example.com",
        "username": "n",
        "display_name": "",
        "password_hash": "x",
    }


CREATE, READ, UPDATE, DELETE = Action.CREATE, Action.READ, Action.UPDATE, Action.DELETE
RUN = Action.RUN
NOT_TAKEN: dict[str, Any] = {"taker": None, "taker_runner": None, "root_capacity": None, "child_capacity": None}
NO_FILES: dict[str, Any] = {"file_ids": (), "most_files": 1}
HOUR = timedelta(hours=1)

CASES: dict[str, Case] = {
    # groups
    "get_group_by_id": on_group(READ, lambda w: {"id": w.group.id}),
    "list_groups": Case(lambda _: {"after_id": None, "max_rows": 10}, filtered=Kind.GROUP),
    "insert_group": checked(CREATE, Kind.GROUP, lambda _: {"id": new_id(), "name": "g", "display_name": ""}),
    "update_group": checked(UPDATE, Kind.GROUP, lambda w: {"id": w.group.id, "name": "g", "display_name": ""}),
    "delete_group": checked(DELETE, Kind.GROUP, lambda w: {"id": w.group.id}),
    "insert_group_members": checked(
        UPDATE,
        Kind.GROUP,
        lambda w: {"group_id": w.group.id, "items": [InsertGroupMembersItem(w.stranger.id)]},
    ),
    "delete_group_member": checked(UPDATE, Kind.GROUP, lambda w: {"group_id": w.group.id, "user_id": w.member.id}),
    "list_group_members": on_group(READ, lambda w: {"group_id": w.group.id, "after_id": None, "max_rows": 5}),
    "list_group_ids_by_user": checked(READ, Kind.USER, lambda w: {"user_id": w.member.id}, owner="member"),
    # logins
    "admit_login": checked(
        CREATE,
        Kind.LOGIN,
        lambda _: {"subjects": ["a"], "free_failures": [1], "forget_after": HOUR, "longest": HOUR},
    ),
    "settle_login": checked(UPDATE, Kind.LOGIN, lambda _: {"cleared": ["a"], "refunded": ["b"]}),
    "delete_old_login_failures": checked(DELETE, Kind.LOGIN, lambda _: {"older_than": HOUR}),
    "insert_setup_code": checked(CREATE, Kind.LOGIN, lambda _: {"hash": b"h"}),
    # replicas
    "beat_replica": checked(
        UPDATE, Kind.REPLICA, lambda _: {"id": new_id(), "url": "", "host": "h", "pid": 1, "version": "1"}
    ),
    "get_replica": checked(READ, Kind.REPLICA, lambda _: {"id": new_id()}),
    "list_live_replicas": checked(READ, Kind.REPLICA),
    "expire_replica": checked(UPDATE, Kind.REPLICA, lambda _: {"id": new_id()}),
    "delete_replica": checked(DELETE, Kind.REPLICA, lambda _: {"id": new_id()}),
    "delete_dead_replicas": checked(DELETE, Kind.REPLICA, lambda _: {"silent_for": HOUR}),
    "list_owned_chats": checked(READ, Kind.CHAT, lambda _: {"replica_id": new_id()}),
    "list_chat_versions": checked(READ, Kind.CHAT, lambda w: {"chat_ids": [w.chat.chat_id]}),
    # site
    "get_default_organization": checked(READ, Kind.ORGANIZATION),
    "get_site_setting": checked(READ, Kind.SETTING, lambda _: {"key": "a"}),
    "upsert_site_setting": checked(UPDATE, Kind.SETTING, lambda _: {"key": "a", "value": "1"}),
    "list_versions": checked(READ, Kind.SETTING),
    "get_secret": checked(READ, Kind.SECRET, lambda _: {"name": "a"}),
    "insert_secret_if_absent": checked(
        CREATE, Kind.SECRET, lambda _: {"name": "a", "value": CIPHER.encrypt(Secret("s"))}
    ),
    "list_encryption_keys": checked(READ, Kind.ENCRYPTION_KEY),
    "insert_encryption_key": checked(CREATE, Kind.ENCRYPTION_KEY, lambda _: {"id": "0" * 16, "canary": "c"}),
    "revoke_encryption_keys_except": checked(UPDATE, Kind.ENCRYPTION_KEY, lambda _: {"id": "0" * 16}),
    # tokens
    "insert_token": checked(
        CREATE,
        Kind.TOKEN,
        lambda w: {
            "id": new_id(),
            "user_id": w.member.id,
            "kind": TokenKind.API,
            "name": "t",
            "hash": b"h" * 32,
            "scopes": ["*:*"],
            "expires_at": NOW,
            "client_ip": "",
            "user_agent": "",
        },
        owner="member",
    ),
    "insert_session": checked(
        CREATE,
        Kind.LOGIN,
        lambda w: {
            "id": new_id(),
            "user_id": w.member.id,
            "verified": "x",
            "hash": b"h" * 32,
            "scopes": ["*:*"],
            "expires_at": NOW,
            "client_ip": "",
            "user_agent": "",
        },
    ),
    "count_tokens_by_user": checked(
        READ, Kind.TOKEN, lambda w: {"user_id": w.member.id, "kind": TokenKind.API}, owner="member"
    ),
    "delete_oldest_sessions": checked(DELETE, Kind.LOGIN, lambda w: {"user_id": w.member.id, "keep": 1}),
    "get_token_by_id": checked(READ, Kind.TOKEN, lambda w: {"id": w.token.id}, owner="member"),
    "authenticate_token": checked(READ, Kind.LOGIN, lambda _: {"hash": b"h" * 32}),
    "list_tokens_by_user": checked(
        READ,
        Kind.TOKEN,
        lambda w: {"user_id": w.member.id, "kind": TokenKind.API, "before_id": None, "max_rows": 5},
        owner="member",
    ),
    "delete_token": checked(DELETE, Kind.TOKEN, lambda w: {"id": w.token.id}, owner="member"),
    "delete_user_sessions": checked(
        DELETE, Kind.TOKEN, lambda w: {"user_id": w.member.id, "except_id": None}, owner="member"
    ),
    "delete_user_tokens": checked(DELETE, Kind.TOKEN, lambda w: {"user_id": w.member.id}, owner="member"),
    "delete_expired_tokens": checked(DELETE, Kind.TOKEN, lambda _: {"expired_for": HOUR, "max_rows": 1}),
    "touch_tokens_last_used": checked(
        UPDATE, Kind.LOGIN, lambda w: {"items": [TouchTokensLastUsedItem(w.token.id, NOW)]}
    ),
    # transitions that a person asks for
    "create_chat": checked(
        CREATE,
        Kind.CHAT,
        lambda w: {
            "chat_id": new_id(),
            "organization_id": new_id(),
            "owner_id": w.member.id,
            "parent_id": new_id(),  # is not there, so nothing is created
            "title": "t",
            "labels": "{}",
            "mode": None,
            "plan_mode": False,
            "client": ChatClient.API,
            "mcp_server_ids": (),
            "dynamic_tools": "[]",
            "model_config_id": MODEL,
            "reasoning_effort": None,
            "rows": [row()],
            **NO_FILES,
            **NOT_TAKEN,
        },
        owner="member",
    ),
    "send_message": asked(
        RUN, lambda w: {"message": row(by=w.member.id), "interrupts": False, "most_queued": 1, **NO_FILES, **NOT_TAKEN}
    ),
    "edit_message": asked(RUN, lambda _: {"edited_id": 0, "message": row(), **NO_FILES, **NOT_TAKEN}),
    "interrupt": asked(UPDATE),
    "request_compaction": asked(RUN, lambda _: NOT_TAKEN),
    "complete_requires_action": asked(RUN, lambda _: {"rows": [row()]}),
    "archive": asked(UPDATE),
    "unarchive": asked(UPDATE),
    "reconcile_invalid": asked(UPDATE, lambda _: {"error": "{}"}),
    "delete_queued": asked(UPDATE, lambda _: {"queued_id": 0}),
    "promote_queued": asked(RUN, lambda _: {"queued_id": 0, **NOT_TAKEN}),
    "reorder_queued": asked(UPDATE, lambda _: {"queued_ids": []}),
    "hold_queued": asked(UPDATE, lambda w: {"queued_id": 0, "holder": w.member.id, "hold_for": HOUR}),
    "release_queued": asked(
        RUN, lambda w: {"queued_id": 0, "holder": w.member.id, "message": None, **NO_FILES, **NOT_TAKEN}
    ),
    # transitions that a worker makes
    "release_overdue": checked(RUN, Kind.CHAT, lambda _: {"most_chats": 1}),
    "acquire": checked(
        RUN,
        Kind.CHAT,
        lambda _: {
            "taker": new_id(),
            "runner_ids": [new_id()],
            "root_capacity": None,
            "child_capacity": None,
            "most_takeovers": 3,
            "error": "{}",
        },
    ),
    "abandon": checked(RUN, Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, "runner_id": new_id()}),
    "hand_over": checked(RUN, Kind.CHAT, lambda _: {"replica_id": new_id()}),
    "give_up": checked(RUN, Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, "error": "{}"}),
    "record_attempt": fenced(),
    "record_retry": fenced(lambda _: {"retry": "{}"}),
    "save_draft": fenced(lambda _: {"draft": row()}),
    "commit_step": fenced(lambda _: {"rows": [row()], "finish": False, "compacted": False}),
    "enter_requires_action": fenced(lambda _: {"wait_for": HOUR}),
    "cancel_requires_action": fenced(lambda _: {"reason": "r"}),
    "finish_turn": fenced(),
    "finish_interruption": fenced(lambda _: {"rows": [row()]}),
    "finish_error": fenced(lambda _: {"rows": [row()], "error": "{}"}),
    # users
    "get_user_by_id": checked(READ, Kind.USER, lambda w: {"id": w.member.id}, owner="member"),
    "get_user_by_login": checked(READ, Kind.LOGIN, lambda _: {"login": "mia"}),
    "get_user_by_username": checked(READ, Kind.USER, lambda _: {"username": "mia"}, owner="member"),
    "list_users": Case(lambda _: {"after_id": None, "search": None, "max_rows": 10}, filtered=Kind.USER),
    "count_users": Case(lambda _: {"search": None}, filtered=Kind.USER),
    "has_any_user": checked(READ, Kind.USER),
    "insert_user": checked(CREATE, Kind.USER, lambda w: {**_new_user(w), "role": UserRole.MEMBER}),
    "insert_first_user": checked(CREATE, Kind.USER, lambda w: {**_new_user(w), "code_hash": None}),
    "update_user_profile": checked(
        Action.UPDATE_PERSONAL,
        Kind.USER,
        lambda w: {"id": w.member.id, "email": "m@example.com", "username": "m", "display_name": ""},
        owner="member",
    ),
    "update_user_role": checked(
        UPDATE, Kind.USER, lambda w: {"id": w.member.id, "role": UserRole.AUDITOR}, owner="member"
    ),
    "update_user_status": checked(
        UPDATE, Kind.USER, lambda w: {"id": w.member.id, "status": UserStatus.SUSPENDED}, owner="member"
    ),
    "update_user_password": checked(
        Action.UPDATE_PERSONAL,
        Kind.USER,
        lambda w: {"id": w.member.id, "password_hash": "y"},
        owner="member",
    ),
    "rehash_password": checked(UPDATE, Kind.LOGIN, lambda w: {"id": w.member.id, "verified": "x", "stronger": "y"}),
    "delete_user": checked(DELETE, Kind.USER, lambda w: {"id": w.member.id}, owner="member"),
    "lock_active_owners": checked(UPDATE, Kind.USER),
    "touch_users_last_seen": checked(
        UPDATE, Kind.LOGIN, lambda w: {"items": [TouchUsersLastSeenItem(w.member.id, NOW)]}
    ),
    # hand-written
    "list_encrypted_columns": checked(READ, Kind.ENCRYPTION_KEY),
    "lock_values_under_other_keys": checked(
        UPDATE, Kind.ENCRYPTION_KEY, lambda _: {"column": SECRETS, "key_id": "0" * 16, "max_rows": 1}
    ),
    "replace_sealed_values": checked(
        UPDATE,
        Kind.ENCRYPTION_KEY,
        lambda _: {"column": SECRETS, "values": [SealedValue("(0,1)", Secret("x"))]},
    ),
    "list_announced_keys": checked(READ, Kind.ENCRYPTION_KEY),
    "hold_announcements": checked(UPDATE, Kind.ENCRYPTION_KEY),
}


class Recorder:
    """Allows everything and remembers what it was asked."""

    def __init__(self) -> None:
        self.checks: list[tuple[Actor, Action, Resource]] = []
        self.filters: list[tuple[Actor, Kind, Action]] = []

    def check(self, actor: Actor, action: Action, resource: Resource) -> None:
        self.checks.append((actor, action, resource))

    def filter(self, actor: Actor, kind: Kind, action: Action = Action.READ) -> Filter:
        self.filters.append((actor, kind, action))
        return EVERYTHING


class Refuser:
    def check(self, actor: Actor, action: Action, resource: Resource) -> None:
        raise NotAuthorized(action=action, resource=resource.kind)

    def filter(self, actor: Actor, kind: Kind, action: Action = Action.READ) -> Filter:
        return NOTHING


class Stuck:
    """A store in which every query waits for ever."""

    def __init__(self) -> None:
        self.waiting = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        async def wait(**_: Any) -> None:
            self.waiting.set()
            await asyncio.Event().wait()

        return wait


def store_methods() -> list[str]:
    """Every public name of the interface, wherever it is declared and whatever it is, but for what is no query."""
    names = {name for part in inspect.getmro(Store) for name in vars(part) if not name.startswith("_")}
    return sorted(names - {"transaction", "ping"})


@pytest_asyncio.fixture
async def world(database: Any) -> AsyncIterator[World]:
    async with open_sql(database.dsn) as sql:
        yield await populate(sql)


def test_every_method_has_a_case():
    assert sorted(CASES) == sorted(store_methods())


def test_every_method_is_in_every_layer():
    from chatd.store.encrypted import EncryptedStore
    from chatd.store.metered import MeteredStore

    for layer in (AuthorizedStore, EncryptedStore, MeteredStore):
        assert [name for name in store_methods() if not hasattr(layer, name)] == []


@pytest.mark.parametrize("method", CASES)
async def test_an_allowed_call_makes_exactly_the_declared_checks(method: str, world: World):
    case, recorder = CASES[method], Recorder()
    actor = world.member_person

    with acting_as(actor):
        await getattr(AuthorizedStore(world.sql, recorder), method)(**case.args(world))

    assert recorder.checks == [(actor, action, resource) for action, resource in case.checks(world)]
    assert recorder.filters == ([(actor, case.filtered, case.action)] if case.filtered else [])
    assert recorder.checks or recorder.filters, "a case must declare what is checked"


@pytest.mark.parametrize("method", CASES)
async def test_a_refused_call_is_not_authorized_or_shows_nothing(method: str, world: World):
    case, refusing = CASES[method], AuthorizedStore(world.sql, Refuser())

    with acting_as(world.member_person):
        if case.filtered and not case.raises:
            assert await getattr(refusing, method)(**case.args(world)) in ([], 0, None)
        else:
            with pytest.raises(NotAuthorized):
                await getattr(refusing, method)(**case.args(world))


@pytest.mark.parametrize("method", CASES)
async def test_a_call_with_nobody_acting_says_which(method: str, world: World):
    with pytest.raises(NoActor) as caught:
        await getattr(AuthorizedStore(world.sql, RoleAuthorizer()), method)(**CASES[method].args(world))

    assert caught.value.method == method


@pytest.mark.parametrize("method", CASES)
async def test_a_cancelled_call_ends_as_cancelled(method: str, world: World):
    stuck: Any = Stuck()

    async def call() -> None:
        with acting_as(OPERATOR):
            await getattr(AuthorizedStore(stuck, Recorder()), method)(**CASES[method].args(world))

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(call())
        await stuck.waiting.wait()
        task.cancel()
    assert task.cancelled()


async def test_a_transaction_hands_out_a_store_that_checks_too(world: World):
    store = AuthorizedStore(world.sql, RoleAuthorizer())

    with acting_as(world.member_person):
        async with store.transaction() as tx:
            with pytest.raises(NotAuthorized):
                await tx.get_user_by_id(id=world.stranger.id)


async def test_a_forbidden_row_and_a_missing_one_read_the_same(world: World):
    store = AuthorizedStore(world.sql, RoleAuthorizer())
    said: list[str] = []

    with acting_as(world.member_person):
        for id in (world.stranger.id, new_id()):
            with pytest.raises(NotAuthorized) as caught:
                await store.get_user_by_id(id=id)
            said.append(caught.value.message)

    assert said[0] == said[1]


async def test_a_member_lists_themselves_and_their_groups_and_an_owner_everyone(world: World):
    store = AuthorizedStore(world.sql, RoleAuthorizer())
    await world.sql.insert_group(id=new_id(), name="others", display_name="")

    async def seen() -> tuple[list[str], int, list[str]]:
        users = await store.list_users(after_id=None, search=None, max_rows=10)
        groups = await store.list_groups(after_id=None, max_rows=10)
        return (
            [user.username for user in users],
            await store.count_users(search=None),
            [g.name for g in groups],
        )

    with acting_as(world.member_person):
        assert await seen() == (["mia"], 1, ["crew"])
    with acting_as(person(world.stranger)):
        assert await seen() == (["sam"], 1, [])
    with acting_as(person(world.owner)):
        assert await seen() == (["olga", "mia", "sam"], 3, ["crew", "others"])


async def test_a_token_can_not_make_a_wider_one(world: World):
    store = AuthorizedStore(world.sql, RoleAuthorizer())
    narrow = person(world.member, scopes=frozenset({"token:*"}))
    asked = CASES["insert_token"].args(world)

    with acting_as(narrow):
        with pytest.raises(Forbidden):
            await store.insert_token(**asked)
        asked["scopes"] = ["token:read"]
        made = await store.insert_token(**asked)

    assert made.scopes == ["token:read"]


async def test_a_token_can_not_make_one_that_outlives_it(world: World):
    store = AuthorizedStore(world.sql, RoleAuthorizer())
    asked = CASES["insert_token"].args(world)

    with acting_as(msgspec.structs.replace(world.member_person, expires_at=NOW - HOUR)), pytest.raises(Forbidden):
        await store.insert_token(**asked)
    with acting_as(msgspec.structs.replace(world.member_person, expires_at=NOW)):
        await store.insert_token(**asked)


@pytest.mark.parametrize("method", ["insert_user", "update_user_role", "update_user_password"])
async def test_a_narrow_token_of_an_owner_can_not_give_rights_away(world: World, method: str):
    store = AuthorizedStore(world.sql, RoleAuthorizer())
    asked = CASES[method].args(world)
    if method == "insert_user":
        asked["role"] = UserRole.OWNER
    narrow = person(world.owner, scopes=frozenset({"user:*", "token:*"}))

    with acting_as(narrow), pytest.raises(Forbidden):
        await getattr(store, method)(**asked)
    with acting_as(person(world.owner)):
        await getattr(store, method)(**asked)


async def test_any_token_can_end_itself(world: World):
    narrow = person(world.member, scopes=frozenset({"group:read"}))

    with acting_as(msgspec.structs.replace(narrow, token_id=world.token.id)):
        assert await AuthorizedStore(world.sql, RoleAuthorizer()).delete_token(id=world.token.id) == 1


ASKED = [method for method, case in CASES.items() if case.filtered is Kind.CHAT and case.raises]
# What only a machine does: it names no owner whose chat it would have to be.
WORKERS = [
    *("release_overdue", "acquire", "abandon", "hand_over", "give_up", "record_attempt", "record_retry", "save_draft"),
    *("commit_step", "enter_requires_action", "cancel_requires_action", "finish_turn", "finish_interruption"),
    *("finish_error", "list_owned_chats", "list_chat_versions"),
]


def found(result: Any) -> bool:
    """Whether there was such a chat for the actor; a refusal of the chat itself says that there was."""
    return result not in (None, [])


def test_every_transition_is_asked_for_or_a_workers():
    transitions = {str(transition) for transition in Transition} | {"release_overdue", "hand_over"}

    assert transitions == {"create_chat", *ASKED, *WORKERS} - {"list_owned_chats", "list_chat_versions"}


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
