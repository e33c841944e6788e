"""Models over the API: what the catalogue adds, what is refused, and one default."""

import asyncio
from typing import Any

import pytest

from server.configured_models import MODELS, PROVIDERS, model, patch, provider, wrong

EFFORT = {"default": "low", "max": "high"}


@pytest.mark.behaviour("COST-1")
async def test_a_model_takes_from_the_catalogue_what_nobody_said(serving: Any):
    async with serving() as running:
        id = await provider(running.owner)
        made = await model(running.owner, id, "claude-opus-5-5")
        own = await model(
            running.owner,
            id,
            "claude-opus-5-5",
            display_name="",
            context_limit=100_000,
            model_config=None,
            prices={"input": "0.0750000000", "output": "0"},
        )
        back = await patch(running.owner, f"{MODELS}/{own['id']}", prices=None)
        unknown = await running.owner.post(MODELS, {"ai_provider_id": id, "model": "claude-next"})
        told = await model(running.owner, id, "claude-next", context_limit=1)

    assert (made["display_name"], made["context_limit"], made["compression_threshold"]) == (
        "Claude Opus 5.5",
        1_000_000,
        70,
    )
    assert made["prices"] == {"input": "4", "output": "20", "cache_read": "0.2", "cache_write": "5"}
    assert made["long_prompt_prices"] is None
    assert made["price_source"] == "catalogue"
    assert made["model_config"] == {"reasoning_effort": {"default": "medium", "max": "max"}}
    assert made["reasoning_efforts"] == ["low", "medium", "high", "xhigh", "max"]
    assert own["prices"] == {"input": "0.075", "output": "0", "cache_read": None, "cache_write": None}
    assert (own["price_source"], own["model_config"], own["reasoning_efforts"]) == ("config", None, [])
    assert (back.body["price_source"], back.body["context_limit"]) == ("catalogue", 100_000)
    assert wrong(unknown) == ["context_limit"]
    assert (told["price_source"], told["display_name"]) == ("unknown", "")


@pytest.mark.behaviour("API-4")
@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"model": ""}, ["model"]),
        ({"model": " x"}, ["model"]),
        ({"context_limit": 0}, ["context_limit"]),
        ({"compression_threshold": 101}, ["compression_threshold"]),
        ({"prices": {"input": "-1"}}, ["prices.input"]),
        ({"prices": {"input": "1e3", "output": "01"}}, ["prices.input", "prices.output"]),
        ({"prices": {"input": 3}}, ["prices.input"]),
        (
            {"model_config": {"reasoning_effort": EFFORT, "capabilities": {"reasoning": False}}},
            ["model_config.reasoning_effort"],
        ),
        (
            {"model_config": {"reasoning_effort": {"default": "high", "max": "low"}}},
            ["model_config.reasoning_effort.default"],
        ),
        ({"model_config": {"reasoning_effort": {"default": "high"}}}, ["model_config.reasoning_effort.max"]),
        ({"model_config": {"first_event_seconds": 0}}, ["model_config.first_event_seconds"]),
        ({"model_config": {"silence_seconds": 3601}}, ["model_config.silence_seconds"]),
        ({"model_config": {"temperature": 3}}, ["model_config.temperature"]),
        ({"colour": "red"}, ["colour"]),
        ({"model_config": {"colour": "red"}}, ["model_config.colour"]),
        ({"model_config": {"capabilities": {"smell": True}}}, ["model_config.capabilities.smell"]),
        (
            {"model_config": {"provider_options": {"openai": {"store": True}}}},
            ["model_config.provider_options.openai"],
        ),
        (
            {"model_config": {"provider_options": {"anthropic": {"thinking": {"budget_tokens": "x"}}}}},
            ["model_config.provider_options.anthropic.thinking.budget_tokens"],
        ),
        (
            {"model_config": {"provider_options": {"anthropic": {"thinkin": {}}}}},
            ["model_config.provider_options.anthropic.thinkin"],
        ),
        (
            {"model_config": {"provider_options": {"anthropic": {"allowed_domains": ["a"], "blocked_domains": ["b"]}}}},
            ["model_config.provider_options.anthropic"],
        ),
    ],
)
async def test_a_wrong_model_is_refused_by_the_name_of_its_field(serving: Any, body: dict[str, Any], fields: list[str]):
    async with serving() as running:
        id = await provider(running.owner)
        asked = {"ai_provider_id": id, "model": "claude-opus-5-5", **body}
        created = await running.owner.post(MODELS, asked)
        made = await model(running.owner, id)
        changed = await patch(running.owner, f"{MODELS}/{made['id']}", **body)
        after = (await running.owner.get(f"{MODELS}/{made['id']}")).body

    assert wrong(created) == fields
    assert wrong(changed) == fields
    assert after == made


async def test_a_model_that_does_not_reason_takes_no_effort_unless_one_knows_better(serving: Any):
    effort = {"reasoning_effort": EFFORT}
    async with serving() as running:
        id = await provider(running.owner, type="openai")
        body = {"ai_provider_id": id, "model": "gpt-4.1", "model_config": effort}
        refused = await running.owner.post(MODELS, body)
        told = await model(running.owner, id, "gpt-4.1", model_config={**effort, "capabilities": {"reasoning": True}})
        unknown = await model(running.owner, id, "gpt-next", context_limit=1000, model_config=effort)
        renamed = await patch(running.owner, f"{MODELS}/{unknown['id']}", model="gpt-4o")

    assert wrong(refused) == wrong(renamed) == ["model_config.reasoning_effort"]
    assert told["reasoning_efforts"] == unknown["reasoning_efforts"] == ["none", "minimal", "low", "medium", "high"]


async def test_the_catalogue_is_shown_to_choose_from(serving: Any):
    async with serving() as running:
        member, auditor = await running.add_user("mia"), await running.add_user("aud", "auditor")
        path = f"{PROVIDERS}/known-models"
        google = (await auditor.get(f"{path}?type=google")).body
        id = await provider(running.owner, type="google")
        configured = await model(running.owner, id, "gemini-2.5-pro")
        own = await model(running.owner, id, "gemini-2.5-pro", prices={"input": "1"})
        compatible = (await running.owner.get(f"{path}?type=openai-compat")).body
        refused = [
            (await member.get(f"{path}?type=google")).status,
            (await running.api.get(f"{path}?type=google")).status,
            (await running.owner.get(f"{path}?type=none")).status,
            (await running.owner.get(path)).status,
        ]

    [pro] = [known for known in google if known["model"] == "gemini-2.5-pro"]
    assert pro["display_name"] == "Gemini 2.5 Pro"
    assert (pro["context_limit"], pro["max_output_tokens"]) == (1_048_576, 65_536)
    assert (pro["efforts"], pro["default_effort"]) == (["low", "medium", "high"], None)
    assert (pro["images"], pro["pdfs"], pro["text_files"], pro["tools"]) == (True, True, False, True)
    assert pro["prices"] == {"input": "1.25", "output": "10", "cache_read": "0.125", "cache_write": None}
    long = {"above": 200_000, "input": "2.5", "output": "15", "cache_read": "0.25", "cache_write": None}
    assert pro["long_prompt_prices"] == configured["long_prompt_prices"] == long
    assert own["long_prompt_prices"] is None
    assert all(known["model"].startswith("gemini") for known in google)
    assert sum(known["suggested"] for known in google) >= 2
    others = {known["model"]: known for known in compatible}
    assert {"gpt-oss-120b", "gemini-2.5-pro"} <= others.keys()
    assert set(others["gemini-2.5-pro"]["prices"].values()) == {None}
    assert refused == [404, 401, 400, 400]


async def test_a_model_needs_a_provider_that_is_there_and_switched_on(serving: Any):
    async with serving() as running:
        id, off = await provider(running.owner), await provider(running.owner, "off", enabled=False)
        missing = "00000000-0000-7000-8000-000000000000"
        asked = [{"ai_provider_id": one, "model": "claude-opus-5-5"} for one in (missing, off)]
        refused = [await running.owner.post(MODELS, body) for body in asked]
        made = await model(running.owner, id)
        moved = await patch(running.owner, f"{MODELS}/{made['id']}", ai_provider_id=off)
        other = await provider(running.owner, "second")
        fits = await patch(running.owner, f"{MODELS}/{made['id']}", ai_provider_id=other)

    assert [wrong(answer) for answer in (*refused, moved)] == [["ai_provider_id"]] * 3
    assert fits.body["ai_provider_id"] == other


async def test_exactly_one_model_is_the_default(serving: Any):
    async with serving() as running:
        owner = running.owner
        id, off = await provider(owner), await provider(owner, "off")

        async def default() -> list[str]:
            return [row["id"] for row in (await owner.get(MODELS)).body if row["is_default"]]

        made = await asyncio.gather(*(model(owner, id) for _ in range(4)))
        first = await default()
        hidden = await model(owner, off, is_default=True)
        chosen = await default()
        unset = await patch(owner, f"{MODELS}/{hidden['id']}", is_default=False)
        by_oldest = sorted(row["id"] for row in made)
        await patch(owner, f"{MODELS}/{by_oldest[0]}", enabled=False)
        await owner.delete(f"{MODELS}/{hidden['id']}")
        promoted = await default()
        await owner.delete(f"{PROVIDERS}/{id}")
        none_left = await default()
        last = await model(owner, off)
        only = await default()

    assert len(first) == 1
    assert chosen == [hidden["id"]]
    assert wrong(unset) == ["is_default"]
    assert promoted == [by_oldest[1]]
    assert none_left == []
    assert only == [last["id"]]
