"""Providers over the API: what is stored, what is refused, who may do what, and what the log says."""

from typing import Any

import pytest
import structlog

from server.configured_models import MODELS, PROVIDERS, model, patch, provider, wrong


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
