"""Providers and models over the API: who may do what, keys that never come back, one default, tests, two replicas."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
import structlog

from chatd.core.cost import Prices
from chatd.core.errors import NotFound
from chatd.core.reasoning import ReasoningEffort
from chatd.testing.fake_clock import FakeClock
from chatd.testing.vendors.script import Refuse, Say, Turn
from chatd.testing.vendors.server import vendor_server
from server.running import Answer, Api, Running, running_server

PROVIDERS = "/api/experimental/chats/providers"
MODELS = "/api/experimental/chats/model-configs"
KEY = "sk-very-secret-0123456789"
EFFORT = {"default": "low", "max": "high"}
LONG = 5.0  # seconds; for what happens at once


@pytest.fixture
def serving(database: Any, tmp_path: Path) -> Any:
    @asynccontextmanager
    async def run(**options: Any) -> AsyncIterator[Running]:
        async with running_server(database.dsn, tmp_path, **options) as running:
            yield running

    return run


async def provider(api: Api, name: str = "main", **fields: Any) -> str:
    body = {"type": "anthropic", "name": name, "api_key": KEY, **fields}
    made = await api.post(PROVIDERS, body)
    assert made.status == 201, made
    return made.body["id"]


async def model(api: Api, provider_id: str, name: str = "claude-opus-5-5", **fields: Any) -> dict[str, Any]:
    made = await api.post(MODELS, {"ai_provider_id": provider_id, "model": name, **fields})
    assert made.status == 201, made
    return made.body


def wrong(answer: Answer) -> list[str]:
    assert answer.status == 400, answer
    return [validation["field"] for validation in answer.body["validations"]]


async def patch(api: Api, path: str, **fields: Any) -> Answer:
    return await api.call("PATCH", path, fields)


async def test_a_provider_is_made_changed_and_deleted(serving: Any):
    async with serving() as running:
        owner = running.owner
        id = await provider(owner, display_name="Main", options={})
        made = (await owner.get(f"{PROVIDERS}/{id}")).body
        renamed = await patch(owner, f"{PROVIDERS}/{id}", name="Other.Name", enabled=False)
        same_name = await owner.post(PROVIDERS, {"type": "openai", "name": "other.name"})
        listed = (await owner.get(PROVIDERS)).body
        deleted = await owner.delete(f"{PROVIDERS}/{id}")
        gone = [
            await owner.get(f"{PROVIDERS}/{id}"),
            await patch(owner, f"{PROVIDERS}/{id}", name="x"),
            await owner.delete(f"{PROVIDERS}/{id}"),
            await owner.post(f"{PROVIDERS}/{id}/test", {}),
        ]
        again = await owner.post(PROVIDERS, {"type": "openai", "name": "other.name"})

    assert (made["type"], made["name"], made["display_name"], made["base_url"]) == ("anthropic", "main", "Main", "")
    assert (made["has_api_key"], made["enabled"], made["options"]) == (True, True, {})
    assert (renamed.body["name"], renamed.body["enabled"], renamed.body["has_api_key"]) == ("Other.Name", False, True)
    assert same_name.status == 409
    assert same_name.body["validations"][0]["field"] == "name"
    assert [row["id"] for row in listed] == [id]
    assert deleted.status == 204
    assert [answer.status for answer in gone] == [404] * 4
    assert again.status == 201


@pytest.mark.behaviour("STORE-3")
async def test_a_key_is_never_returned_logged_or_stored_in_the_open(
    serving: Any, database: Any, capfd: pytest.CaptureFixture[str]
):
    async with serving() as running, vendor_server([Refuse(401, f"bad key {KEY}")]) as vendor:
        id = await provider(running.owner, base_url=vendor.url)
        answers = [
            await running.owner.get(PROVIDERS),
            await running.owner.get(f"{PROVIDERS}/{id}"),
            await patch(running.owner, f"{PROVIDERS}/{id}", display_name="x"),
            await running.owner.post(f"{PROVIDERS}/{id}/test", {}),
            await running.owner.post(PROVIDERS, {"type": "openai", "name": "a b", "api_key": KEY}),
            await running.owner.post(PROVIDERS, {"type": "openai", "name": "p", "api_key": f"{KEY} {KEY}"}),
            await running.owner.post(PROVIDERS, {"type": "none", "name": "p", "api_key": KEY}),
        ]
        cleared = await patch(running.owner, f"{PROVIDERS}/{id}", api_key=None)
        connection = await asyncpg.connect(database.dsn)
        raw = await connection.fetch("SELECT * FROM providers")
        await connection.close()

    said = capfd.readouterr()
    assert KEY not in str([answer.body for answer in answers])
    assert KEY not in said.out + said.err
    assert KEY not in str(raw)
    assert answers[3].body["ok"] is False
    assert wrong(answers[4]) == ["name"]
    assert wrong(answers[5]) == ["api_key"]
    assert wrong(answers[6]) == ["type"]
    assert cleared.body["has_api_key"] is False


async def test_a_key_of_any_form_that_a_vendor_repeats_is_not_shown(serving: Any):
    key = "plain-words-of-a-gateway"
    async with serving() as running, vendor_server([Refuse(401, f"no such key: {key}")]) as vendor:
        body = {"type": "anthropic", "base_url": vendor.url, "api_key": key}
        answer = (await running.owner.post(f"{PROVIDERS}/test", body)).body

    assert (answer["ok"], answer["kind"]) == (False, "auth")
    assert "no such key" in answer["detail"]
    assert key not in str(answer)


@pytest.mark.parametrize(("no_proxy", "through"), [("other.test", True), ("other.test, vendor.test", False)])
async def test_vendors_are_asked_through_the_proxy_unless_they_are_to_be_asked_without(
    serving: Any, no_proxy: str, through: bool
):
    async with (
        vendor_server([Turn(Say("Hi."))]) as proxy,
        serving(outbound_proxy=proxy.url, outbound_no_proxy=no_proxy) as running,
    ):
        body = {"type": "anthropic", "base_url": "http://vendor.test", "api_key": KEY}
        answer = (await running.owner.post(f"{PROVIDERS}/test", body)).body
        outbound = running.replica.outbound

    assert answer["ok"] is through, answer
    assert len(proxy.asked) == through
    assert outbound.no_proxy.split(",")[0] == "other.test"  # for tokens


async def test_a_stored_key_never_goes_to_a_server_that_it_was_not_given_for(serving: Any):
    async with serving() as running, vendor_server([]) as thief:
        owner = running.owner
        id = await provider(owner, base_url="https://gateway.example.com/one")
        path = f"{PROVIDERS}/{id}"
        refused = [
            await patch(owner, path, base_url=thief.url),
            await patch(owner, path, base_url=""),
            await owner.post(f"{path}/test", {"base_url": thief.url}),
        ]
        same_server = await patch(owner, path, base_url="https://GATEWAY.example.com/two")
        with_key = await patch(owner, path, base_url=thief.url, api_key="sk-another")
        without = await patch(owner, path, base_url="https://third.example.com", api_key=None)

    assert [wrong(answer) for answer in refused] == [["api_key"]] * 3
    assert thief.connections == 0
    assert (same_server.status, with_key.status, without.status) == (200, 200, 200)


@pytest.mark.behaviour("API-4")
@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"name": "-x"}, ["name"]),
        ({"name": "x" * 65, "base_url": "ftp://x"}, ["name", "base_url"]),
        ({"display_name": "x" * 129}, ["display_name"]),
        ({"base_url": "https://user:pw@example.com"}, ["base_url"]),
        ({"base_url": "https://example.com/?key=1"}, ["base_url"]),
        ({"base_url": "https://exa mple.com"}, ["base_url"]),
        ({"base_url": "https://[::1"}, ["base_url"]),
        ({"base_url": "https://a..b"}, ["base_url"]),
        ({"base_url": "https://" + "a" * 64}, ["base_url"]),
        ({"base_url": "https://[fe80::1%25eth0]/"}, ["base_url"]),
        ({"api_key": ""}, ["api_key"]),
        ({"api_key": " sk"}, ["api_key"]),
        ({"api_key": "sk\nx"}, ["api_key"]),
        ({"api_key": "s" * 10_241}, ["api_key"]),
        ({"options": {"colour": 1}}, ["options.colour"]),
        ({"options": {"api": "smoke"}}, ["options.api"]),
        ({"options": {"organization": "a\nb"}}, ["options.organization"]),
        ({"type": "azure"}, ["base_url"]),
        ({"type": "openai-compat"}, ["base_url"]),
        ({"type": "bedrock", "options": {"region": "evil.example.com/"}}, ["options.region"]),
        ({"type": "bedrock", "options": {"session_token": "x"}}, ["options.session_token"]),
        ({"type": "openrouter", "options": {"headers": {"X-Api-Key": "x"}}}, ["options.headers.X-Api-Key"]),
        ({"type": "openrouter", "options": {"headers": {"a b": "x"}}}, ["options.headers"]),
        ({"type": "anthropic", "options": {"api": "chat"}}, ["options.api"]),
    ],
)
async def test_a_wrong_provider_is_refused_by_the_name_of_its_field(
    serving: Any, body: dict[str, Any], fields: list[str]
):
    async with serving() as running:
        answer = await running.owner.post(PROVIDERS, {"type": "openai", "name": "ok", **body})
        rows = (await running.owner.get(PROVIDERS)).body

    assert wrong(answer) == fields
    assert rows == []


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


async def test_the_log_says_who_changed_what_and_no_values(serving: Any):
    async with serving() as running:
        with structlog.testing.capture_logs() as logs:
            id = await provider(running.owner)
            bare = await running.owner.post(PROVIDERS, {"type": "openai", "name": "bare", "enabled": False})
            made = await model(running.owner, id)
            await patch(running.owner, f"{PROVIDERS}/{id}", api_key="sk-second-secret", enabled=True)
            await patch(running.owner, f"{MODELS}/{made['id']}", display_name="Best")
            await running.owner.delete(f"{MODELS}/{made['id']}")
            await running.owner.delete(f"{PROVIDERS}/{id}")
            await running.owner.delete(f"{PROVIDERS}/{id}")

    noted = [line for line in logs if "fields" in line]
    assert [(line["event"], line["id"]) for line in noted] == [
        ("a provider was made", id),
        ("a provider was made", bare.body["id"]),
        ("a model was added", made["id"]),
        ("a provider was changed", id),
        ("a model was changed", made["id"]),
        ("a model was deleted", made["id"]),
        ("a provider was deleted", id),
    ]
    assert {line["by"] for line in noted} == {"olga"}
    assert [line["fields"] for line in noted] == [
        ["type", "name", "api_key"],
        ["type", "name", "enabled"],
        ["ai_provider_id", "model"],
        ["api_key", "enabled"],
        ["display_name"],
        [],
        [],
    ]
    assert "secret" not in str(logs)


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


async def test_members_choose_auditors_read_and_owners_change(serving: Any):
    async with serving() as running:
        owner = running.owner
        member, auditor = await running.add_user("mia"), await running.add_user("aud", "auditor")
        id = await provider(owner, base_url="https://gateway.example.com", display_name="Main")
        off = await provider(owner, "off")
        options = {
            "reasoning_effort": {"default": "low", "max": "high"},
            "provider_options": {"anthropic": {"effort": "low"}},
        }
        made = await model(owner, id, model_config=options)
        disabled = await model(owner, id, enabled=False)
        hidden = await model(owner, off)
        await patch(owner, f"{PROVIDERS}/{off}", enabled=False)
        narrow = (await owner.post("/api/v2/users/me/tokens", {"name": "n", "scopes": ["model:read"]})).body["key"]
        chooser = running.api.with_token(narrow)

        seen = {
            "member": (await member.get(MODELS)).body,
            "narrow": (await chooser.get(MODELS)).body,
            "auditor": (await auditor.get(MODELS)).body,
        }
        single = [
            (await api.get(f"{MODELS}/{row['id']}")).status
            for api in (member, chooser, auditor)
            for row in (made, disabled, hidden)
        ]
        readers = [(await api.get(PROVIDERS)).status for api in (member, chooser, auditor)]
        refused = [
            (await api.call(method, path, body)).status
            for api in (member, auditor, chooser)
            for method, path, body in (
                ("POST", PROVIDERS, {"type": "openai", "name": "x"}),
                ("PATCH", f"{PROVIDERS}/{id}", {"name": "x"}),
                ("DELETE", f"{PROVIDERS}/{id}", None),
                ("POST", f"{PROVIDERS}/{id}/test", {}),
                ("POST", f"{PROVIDERS}/test", {"type": "openai", "api_key": "sk-1"}),
                ("POST", MODELS, {"ai_provider_id": id, "model": "claude-opus-5-5"}),
                ("PATCH", f"{MODELS}/{made['id']}", {"enabled": False}),
                ("DELETE", f"{MODELS}/{made['id']}", None),
            )
        ]
        anonymous = [(await running.api.get(path)).status for path in (PROVIDERS, MODELS)]

    assert seen["member"] == seen["narrow"] == [{**made, "model_config": None}]
    assert made["model_config"] == options
    assert "gateway.example.com" not in str(seen["member"])
    assert seen["member"][0]["reasoning_efforts"] == ["low", "medium", "high"]
    assert (seen["member"][0]["provider_name"], seen["member"][0]["provider_type"]) == ("Main", "anthropic")
    assert [row["id"] for row in seen["auditor"]] == [made["id"], disabled["id"], hidden["id"]]
    assert single == [200, 404, 404, 200, 404, 404, 200, 200, 200]
    assert readers == [404, 404, 200]
    assert refused == [404] * 24
    assert anonymous == [401, 401]


async def test_other_options_of_a_provider_must_fit_its_models(serving: Any):
    async with serving() as running:
        id = await provider(running.owner, type="openai")
        made = await model(
            running.owner, id, "gpt-5.5", model_config={"provider_options": {"openai": {"store": False}}}
        )
        refused = await patch(running.owner, f"{PROVIDERS}/{id}", options={"api": "chat"})
        await patch(running.owner, f"{MODELS}/{made['id']}", model_config=None)
        fits = await patch(running.owner, f"{PROVIDERS}/{id}", options={"api": "chat"})

    assert wrong(refused) == ["options"]
    assert fits.body["options"] == {"api": "chat"}


@pytest.mark.parametrize(
    ("type", "path", "name"),
    [("anthropic", "", "claude-opus-5-5"), ("openai", "/v1", "gpt-6.1-sol"), ("google", "/v1beta", "gemini-3.8-flash")],
)
async def test_a_test_makes_one_small_call_and_says_how_long_it_took(serving: Any, type: str, path: str, name: str):
    async with serving() as running, vendor_server([Turn(Say("O", "K"))] * 2, key=KEY) as vendor:
        fields = {"type": type, "base_url": vendor.url + path, "api_key": KEY}
        unsaved = await running.owner.post(f"{PROVIDERS}/test", fields)
        id = await provider(running.owner, **fields)
        await model(running.owner, id, "some-model", context_limit=1000)
        saved = await running.owner.call("POST", f"{PROVIDERS}/{id}/test", None)

    assert (unsaved.status, saved.status) == (200, 200)
    assert unsaved.body["ok"], unsaved
    assert saved.body["ok"], saved
    assert (unsaved.body["model"], saved.body["model"]) == (name, "some-model")
    assert [asked.model for asked in vendor.asked] == [name, "some-model"]
    assert saved.body["first_event_ms"] >= 0
    assert (saved.body["kind"], saved.body["detail"], saved.body["status_code"]) == (None, None, None)


async def test_a_failed_test_says_what_is_wrong_in_words(serving: Any):
    refusals = [Refuse(401, "invalid x-api-key"), Refuse(404, "model: nothing"), Refuse(529, "Overloaded")]
    async with serving() as running, vendor_server(refusals) as vendor:
        id = await provider(running.owner, base_url=vendor.url)
        said: list[tuple[str, str]] = []
        for _ in refusals:
            answer = (await running.owner.post(f"{PROVIDERS}/{id}/test", {"model": "nothing"})).body
            assert answer["ok"] is False
            said.append((answer["kind"], answer["message"]))
        nowhere = (
            await running.owner.post(f"{PROVIDERS}/{id}/test", {"base_url": f"{vendor.url}/v9", "api_key": KEY})
        ).body
        closed = vendor.url
    async with serving(first_user=False) as running:
        api = await running.api.sign_in("olga")
        body = {"type": "anthropic", "base_url": closed, "api_key": KEY}
        nobody = (await api.post(f"{PROVIDERS}/test", body)).body
        no_key = (await api.post(f"{PROVIDERS}/test", {"type": "anthropic"})).body
        no_model = await api.post(f"{PROVIDERS}/test", {"type": "openai-compat", "base_url": closed})

    assert said == [
        ("auth", "Main did not accept the credentials. Check the API key and its permissions."),
        ("config", "Main rejected the model configuration. Check the model's settings."),
        ("overloaded", "Main is temporarily overloaded."),
    ]
    assert nowhere["message"] == "What answered is not the API of main. Check the provider's base URL."
    address = closed.removeprefix("http://")
    assert (nobody["ok"], nobody["kind"]) == (False, "timeout")
    assert nobody["message"] == f"Nobody answers at {address}. Check the base URL and that the server runs."
    assert (no_key["ok"], no_key["kind"]) == (False, "config")
    assert no_key["message"] == "The new provider has no API key."
    assert wrong(no_model) == ["model"]


async def test_a_silent_vendor_does_not_keep_the_test_waiting(database: Any, tmp_path: Path):
    clock = FakeClock()
    asked = asyncio.Event()

    async def never(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            writer.close()

    server = await asyncio.start_server(never, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        async with (
            running_server(database.dsn, tmp_path) as first,
            running_server(database.dsn, tmp_path, first_user=False, clock=clock) as second,
            asyncio.TaskGroup() as tasks,
        ):
            owner = second.api.with_token(first.owner.token)
            body = {"type": "anthropic", "base_url": f"http://127.0.0.1:{port}", "api_key": KEY}
            answer = tasks.create_task(owner.post(f"{PROVIDERS}/test", body))
            await asyncio.wait_for(asked.wait(), LONG)
            await clock.wait_for("model first event")
            await clock.advance(31)
            said = await asyncio.wait_for(answer, LONG)
    finally:
        server.close()

    assert said.body["ok"] is False
    assert said.body["kind"] in ("timeout", "startup_timeout")


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
