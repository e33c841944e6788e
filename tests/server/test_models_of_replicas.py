"""What turns run with, on every replica, after a provider or model was changed on one."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from chatd.core.cost import Prices
from chatd.core.errors import NotFound
from chatd.core.reasoning import ReasoningEffort
from chatd.testing.fake_clock import FakeClock
from server.configured_models import MODELS, PROVIDERS, model, patch, provider
from server.running import running_server

LONG = 5.0  # seconds; for what happens at once


async def test_a_change_is_valid_on_the_next_turn_of_every_replica(database: Any, tmp_path: Path):
    noticed = asyncio.Event()
    async with (
        running_server(database.dsn, tmp_path) as first,
        running_server(database.dsn, tmp_path, first_user=False, clock=FakeClock()) as second,
    ):
        id = await provider(first.owner)
        config = await model(
            first.owner,
            id,
            model_config={
                "reasoning_effort": {"default": "low", "max": "high"},
                "first_event_seconds": 7,
                "silence_seconds": 9.5,
                "max_output_tokens": 100,
                "capabilities": {"images": False},
                "provider_options": {"anthropic": {"service_tier": "auto"}},
            },
            prices={"input": "1"},
        )
        config_id = UUID(config["id"])
        await second.replica.hints.wait_connected()
        before = await second.replica.models.model_for(config_id)
        second.replica.versions.on_change("models", noticed.set)

        await patch(first.owner, f"{MODELS}/{config_id}", context_limit=5, model_config=None)
        async with asyncio.timeout(LONG):
            while (after := await second.replica.models.model_for(config_id)).context_limit != 5:
                noticed.clear()  # a hint about what was made before the change
                await noticed.wait()
        own = await first.replica.models.model_for(config_id)
        default = await second.replica.models.default_model()
        await patch(first.owner, f"{PROVIDERS}/{id}", enabled=False)
        disabled = await first.replica.models.model_for(config_id)
        await first.owner.delete(f"{MODELS}/{config_id}")
        with pytest.raises(NotFound):
            await first.replica.models.model_for(config_id)
        nothing = await first.replica.models.default_model()

    assert (before.model, before.provider, before.is_enabled) == ("claude-opus-5-5", "main", True)
    assert (before.limits.first_event, before.limits.silence, before.max_output_tokens) == (7, 9.5, 100)
    assert (before.capabilities.images, before.capabilities.temperature) == (False, False)
    assert before.prices.texts() == {"input": "1"}
    assert before.vendor_options == '{"service_tier":"auto"}'
    assert [before.effort(asked) for asked in (None, ReasoningEffort.MAX, ReasoningEffort.NONE)] == [
        ReasoningEffort.LOW,
        ReasoningEffort.HIGH,
        ReasoningEffort.LOW,  # this model always thinks
    ]
    assert (after.context_limit, own.context_limit) == (5, 5)
    assert (after.limits.first_event, after.max_output_tokens, after.effort(ReasoningEffort.MAX)) == (60, 32_000, None)
    assert default is not None
    assert default.config_id == config_id
    assert disabled.is_enabled is False
    assert nothing is None
    assert before.prices != Prices()


@pytest.mark.behaviour("LOOP-11")
async def test_the_waits_of_models_are_those_of_the_settings_unless_they_have_their_own(serving: Any):
    async with serving(model_first_event_seconds="20", model_silence_seconds="40") as running:
        id = await provider(running.owner)
        made = await model(running.owner, id)
        own = await model(running.owner, id, model_config={"silence_seconds": 9})
        limits = [(await running.replica.models.model_for(UUID(one["id"]))).limits for one in (made, own)]

    assert [(limit.first_event, limit.silence) for limit in limits] == [(20, 40), (20, 9)]


async def test_a_change_is_noticed_without_any_hint(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path) as first:
        id = UUID((await model(first.owner, await provider(first.owner)))["id"])
    async with running_server(database.dsn, tmp_path, first_user=False, clock=FakeClock()) as second:
        await second.replica.hints.wait_connected()
        before = await second.replica.models.model_for(id)
        connection = await asyncpg.connect(database.dsn)
        await connection.execute("UPDATE model_configs SET context_limit = 3")
        await connection.close()
        cached = await second.replica.models.model_for(id)
        await second.replica.versions.poll()
        after = await second.replica.models.model_for(id)

    assert cached is before
    assert after.context_limit == 3
