"""What a turn reads of settings: the deployment's from memory, its chat's and its owner's in one round trip."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from chatd.core.access import OPERATOR, WORKER, Person
from chatd.core.access import Role as UserRole
from chatd.core.custom_prompt import MOST_BYTES
from chatd.core.errors import NotAuthorized
from chatd.core.turn_settings import SYSTEM_PROMPT
from chatd.engine.deployment_settings import DeploymentSettings
from chatd.server.versions import Versions
from chatd.store.actor import acting_as
from chatd.testing.fake_clock import FakeClock
from engine.counting import Counting
from engine.deployment import Deployment, new_id, open_deployment
from store.world import add_model, add_provider


@pytest_asyncio.fixture
async def deployment(database: Any) -> AsyncIterator[Deployment]:
    async with open_deployment(database.dsn) as deployment:
        yield deployment


async def test_the_deployments_settings_are_read_once_until_one_changes(deployment: Deployment):
    counting: Any = Counting(deployment.guarded)
    settings = DeploymentSettings(counting)
    versions = Versions(deployment.guarded, deployment.hints, FakeClock())
    versions.on_change("settings", settings.forget)
    await versions.poll()

    first = [(await settings.load()).system_prompt for _ in range(3)]
    with acting_as(OPERATOR):
        await deployment.guarded.upsert_site_setting(key=SYSTEM_PROMPT, value='"Be brief."')
    before = (await settings.load()).system_prompt
    await versions.poll()
    second = [(await settings.load()).system_prompt for _ in range(3)]
    with acting_as(OPERATOR):
        await deployment.guarded.delete_site_setting(key=SYSTEM_PROMPT)
    await versions.poll()
    third = (await settings.load()).system_prompt

    assert [*first, before] == ["", "", "", ""]
    assert second == ["Be brief."] * 3
    assert third == ""
    assert counting.asked == {"list_site_settings": 3, "offers_templates": 3}


async def test_settings_that_were_read_before_a_change_do_not_outlive_it(deployment: Deployment):
    reading, go = asyncio.Event(), asyncio.Event()

    class Slow(Counting):
        async def list_site_settings(self, **args: Any) -> Any:
            rows = await deployment.guarded.list_site_settings(**args)
            reading.set()
            await go.wait()
            return rows

    slow: Any = Slow(deployment.guarded)
    settings = DeploymentSettings(slow)
    async with asyncio.TaskGroup() as tasks:
        loading = tasks.create_task(settings.load())
        await reading.wait()
        await deployment.sql.upsert_site_setting(key=SYSTEM_PROMPT, value='"New."')
        settings.forget()
        go.set()
        assert (await loading).system_prompt == ""

    assert (await settings.load()).system_prompt == "New."


async def test_a_turn_gets_its_chat_and_what_the_owner_set_in_one_query(deployment: Deployment):
    store, user_id = deployment.guarded, deployment.user_id
    chat = await deployment.new_chat()
    model = await add_model(deployment.sql, await add_provider(deployment.sql))
    other = await add_model(deployment.sql, await add_provider(deployment.sql, "other"))

    async def context() -> tuple[str, int | None]:
        with acting_as(WORKER):
            found = await store.get_turn_context(chat_id=chat, model_config_id=model)
        assert found is not None
        assert (found.id, found.owner_id, found.organization_id) == (chat, user_id, deployment.organization_id)
        assert "ask" in found.dynamic_tools
        return found.custom_prompt, found.compaction_threshold

    assert await context() == ("", None)
    with acting_as(Person(user_id, UserRole.MEMBER, "olga")):
        await store.upsert_custom_prompt(user_id=user_id, custom_prompt="Be brief.")
        for wanted in (50, 0):
            await store.upsert_compaction_threshold(user_id=user_id, model_config_id=model, threshold_percent=wanted)
        await store.upsert_compaction_threshold(user_id=user_id, model_config_id=other, threshold_percent=90)
        listed = await store.list_compaction_thresholds(user_id=user_id)
        assert await store.get_custom_prompt(user_id=user_id) == "Be brief."
    assert {row.model_config_id: row.threshold_percent for row in listed} == {model: 0, other: 90}
    assert await context() == ("Be brief.", 0)

    with acting_as(Person(user_id, UserRole.MEMBER, "olga")):
        await store.upsert_custom_prompt(user_id=user_id, custom_prompt="")
        await store.delete_compaction_threshold(user_id=user_id, model_config_id=model)
        assert await store.delete_compaction_threshold(user_id=user_id, model_config_id=model) == 0
    assert await context() == ("", None)
    with acting_as(WORKER):
        assert await store.get_turn_context(chat_id=new_id(), model_config_id=model) is None


async def test_the_settings_of_someone_else_are_not_to_be_seen_or_changed(deployment: Deployment):
    with acting_as(Person(new_id(), UserRole.MEMBER, "sam")):
        for method, args in (
            ("get_custom_prompt", {}),
            ("upsert_custom_prompt", {"custom_prompt": "x"}),
            ("list_compaction_thresholds", {}),
            ("upsert_compaction_threshold", {"model_config_id": new_id(), "threshold_percent": 1}),
            ("delete_compaction_threshold", {"model_config_id": new_id()}),
        ):
            with pytest.raises(NotAuthorized):
                await getattr(deployment.guarded, method)(user_id=deployment.user_id, **args)


@pytest.mark.parametrize("threshold", [-1, 101])
async def test_the_database_refuses_what_is_out_of_range(deployment: Deployment, threshold: int):
    sql, user_id = deployment.sql, deployment.user_id
    model = await add_model(sql, await add_provider(sql))

    with pytest.raises(asyncpg.CheckViolationError):
        await sql.upsert_compaction_threshold(user_id=user_id, model_config_id=model, threshold_percent=threshold)
    with pytest.raises(asyncpg.CheckViolationError):
        await sql.upsert_custom_prompt(user_id=user_id, custom_prompt="\u00e9" * (MOST_BYTES // 2) + "x")
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await sql.upsert_compaction_threshold(user_id=user_id, model_config_id=new_id(), threshold_percent=1)
