"""Providers and models as they are stored: keys, prices, one default."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
import pytest
import pytest_asyncio

from chatd.core.access import WORKER
from chatd.core.errors import NotAuthorized
from chatd.core.secret import Secret
from chatd.store.actor import acting_as
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.cipher import Cipher, EncryptionKey
from chatd.store.encrypted import EncryptedStore
from chatd.store.migrate import shipped_functions
from chatd.store.pool import open_pool
from chatd.store.queries import UserRole
from chatd.store.store import SqlStore, Store
from chatd.testing.postgres import Database
from store.authorization_cases import MODEL_CONFIG, PROVIDER
from store.world import add_provider, add_user, new_id, person

CONNECTIONS = 8


@pytest_asyncio.fixture
async def sql(database: Database) -> AsyncIterator[SqlStore]:
    async with open_pool(database.dsn, function_schema=shipped_functions().schema, size=CONNECTIONS) as pool:
        yield SqlStore(pool)


def layered(sql: SqlStore) -> Store:
    return AuthorizedStore(EncryptedStore(sql, Cipher([EncryptionKey(b"k" * 32)])), RoleAuthorizer())


async def add_model(sql: SqlStore, provider_id: UUID, **fields: Any) -> UUID:
    asked: dict[str, Any] = {**MODEL_CONFIG, **fields, "id": new_id(), "provider_id": provider_id}
    return (await sql.insert_model_config(**asked)).id


async def defaults(sql: SqlStore) -> list[UUID]:
    return [model.id for model in await sql.list_model_configs() if model.is_default]


@pytest.mark.behaviour("STORE-3")
async def test_a_key_is_encrypted_stays_until_it_is_set_and_is_for_machines_only(sql: SqlStore):
    store, id = layered(sql), new_id()
    owner = person(await add_user(sql, "olga", UserRole.OWNER))
    with acting_as(owner):
        await store.insert_provider(**PROVIDER, id=id, kind="openai", api_key=Secret("sk-1"))
        moved: dict[str, Any] = {**PROVIDER, "base_url": "https://example.com"}
        await store.update_provider(**moved, id=id)
        seen = await store.get_provider(id=id)
        assert seen is not None
        assert (seen.base_url, seen.has_key) == ("https://example.com", True)
        assert [provider.has_key for provider in await store.list_providers()] == [True]
        with pytest.raises(NotAuthorized):
            await store.get_provider_with_key(id=id)

    async def key() -> Secret | None:
        with acting_as(WORKER):
            found = await store.get_provider_with_key(id=id)
        assert found is not None
        return found.api_key

    assert await key() == Secret("sk-1")
    raw = await sql.get_provider_with_key(id=id)
    assert raw is not None
    assert raw.api_key is not None
    assert raw.api_key.reveal().startswith("enc1:")
    with acting_as(owner):
        await store.update_provider_key(id=id, api_key=Secret("sk-2"))
    assert await key() == Secret("sk-2")
    with acting_as(owner):
        await store.update_provider_key(id=id, api_key=None)
    assert await key() is None


async def test_a_deleted_provider_takes_its_models_and_forgets_its_key(sql: SqlStore):
    gone, kept = await add_provider(sql, "gone"), await add_provider(sql, "kept")
    cipher = Cipher([EncryptionKey(b"k" * 32)])
    await sql.update_provider_key(id=gone, api_key=cipher.encrypt(Secret("sk")))
    model, other = await add_model(sql, gone), await add_model(sql, kept)
    await sql.set_default_model_config(id=model)

    assert await sql.delete_provider(id=gone) == 1

    assert await sql.get_provider(id=gone) is None
    assert await sql.get_model_config(id=model) is None
    assert [config.id for config in await sql.list_model_configs()] == [other]
    assert await sql._db.fetchval("SELECT api_key FROM providers WHERE id = $1", gone) is None
    default = await sql.get_default_model_config()
    assert default is not None
    assert default.id == other
    await add_provider(sql, "gone")  # the name is free again
    with pytest.raises(asyncpg.UniqueViolationError):
        await add_provider(sql, "KEPT")


@pytest.mark.behaviour("COST-1")
async def test_prices_are_exact_and_unknown_is_not_free(sql: SqlStore):
    exact = Decimal("0.0750000001")
    provider, other = await add_provider(sql), await add_provider(sql, "other")
    id = await add_model(sql, provider, input_price=exact, output_price=Decimal(0))

    model = await sql.get_model_config(id=id)

    assert model is not None
    assert (model.input_price, model.output_price, model.cache_read_price) == (exact, 0, None)
    dearest: dict[str, Any] = {**MODEL_CONFIG, "cache_write_price": Decimal("9999999999.9999999999")}
    changed = await sql.update_model_config(**dearest, id=id, provider_id=other)
    assert changed is not None
    assert changed.provider_id == other
    assert (changed.input_price, changed.cache_write_price) == (None, Decimal("9999999999.9999999999"))


async def test_the_default_moves_and_a_model_that_is_gone_is_never_it(sql: SqlStore):
    provider = await add_provider(sql)
    first, second = await add_model(sql, provider), await add_model(sql, provider)

    assert await sql.set_default_model_config(id=first) == 1
    assert await sql.set_default_model_config(id=second) == 1
    assert await defaults(sql) == [second]
    assert await sql.set_default_model_config(id=second) == 1
    assert await sql.set_default_model_config(id=new_id()) == 0
    assert await defaults(sql) == [second]

    await sql.delete_model_config(id=first)
    assert await sql.set_default_model_config(id=first) == 0
    assert await defaults(sql) == [second]
    await sql.delete_model_config(id=second)
    assert await defaults(sql) == []
    assert await sql.get_default_model_config() is None


async def test_many_choose_a_default_at_once_and_there_is_exactly_one(sql: SqlStore):
    provider = await add_provider(sql)
    models = [await add_model(sql, provider) for _ in range(CONNECTIONS)]

    for _ in range(10):
        async with asyncio.TaskGroup() as tasks:
            for id in models:
                tasks.create_task(sql.set_default_model_config(id=id))
        assert len(await defaults(sql)) == 1


async def test_a_change_of_a_model_moves_the_version_that_replicas_watch(sql: SqlStore):
    async def version() -> int:
        return next(row.version for row in await sql.list_versions() if row.area == "models")

    before = await version()
    id = await add_model(sql, await add_provider(sql))
    between = await version()
    await sql.set_default_model_config(id=id)

    assert before < between < await version()


async def test_where_there_is_no_default_the_oldest_that_can_be_used_is_elected(sql: SqlStore):
    off = await add_provider(sql, "off")
    switched_off: dict[str, Any] = {**PROVIDER, "name": "off", "enabled": False}
    await sql.update_provider(**switched_off, id=off)
    hidden = await add_model(sql, off)
    assert await sql.elect_default_model_config() == 1
    assert await defaults(sql) == [hidden]
    on = await add_provider(sql, "on")
    await add_model(sql, on, enabled=False)
    usable, newer = await add_model(sql, on), await add_model(sql, on)
    assert await sql.elect_default_model_config() == 0
    await sql.delete_model_config(id=hidden)
    assert await sql.elect_default_model_config() == 1
    assert await defaults(sql) == [usable]
    assert [model.id for model in await sql.list_offered_models()] == [usable, newer]
