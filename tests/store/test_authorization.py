"""Every query is authorized, and every authorization is shown: allowed, refused, with nobody acting, cancelled.

A new query fails `test_every_method_has_a_case` until its case stands in `authorization_cases.py`.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from chatd.core.access import (
    EVERYTHING,
    NOTHING,
    OPERATOR,
    Action,
    Actor,
    Filter,
    Kind,
    Resource,
)
from chatd.core.errors import Forbidden, NoActor, NotAuthorized
from chatd.store.actor import acting_as
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.queries import (
    UserRole,
)
from chatd.store.store import Store
from store.authorization_cases import CASES, HOUR
from store.world import NOW, World, new_id, open_sql, person, populate

pytestmark = pytest.mark.behaviour("STORE-2")


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

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Stuck"]:
        yield self


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
    actor = OPERATOR if case.machines_only else world.member_person

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


@pytest.mark.parametrize("method", [method for method, case in CASES.items() if case.machines_only])
async def test_what_is_for_machines_is_for_no_person_whatever_their_role(method: str, world: World):
    with acting_as(person(world.owner)), pytest.raises(NotAuthorized):
        await getattr(AuthorizedStore(world.sql, Recorder()), method)(**CASES[method].args(world))


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
