"""Keys of the environment become providers and models at the first start, once, whatever starts together."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from chatd.server.settings import load_settings
from server.running import Api, running_server

PROVIDERS = "/api/experimental/chats/providers"
MODELS = "/api/experimental/chats/model-configs"
KEYS: dict[str, Any] = {
    "anthropic_api_key": "sk-ant-1234567890",
    "openai_api_key": "sk-oai-1234567890",
    "gemini_api_key": "AIza-12345678",
}

DEMO: dict[str, Any] = {"demo_model": "auto"}


async def configured(api: Api) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return (await api.get(PROVIDERS)).body, (await api.get(MODELS)).body


async def test_the_keys_of_the_environment_become_providers_with_models(
    database: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    async with running_server(database.dsn, tmp_path, **KEYS) as running:
        providers, models = await configured(running.owner)
        default = await running.replica.models.default_model()

    said = capfd.readouterr()
    assert [(row["name"], row["type"], row["has_api_key"]) for row in providers] == [
        ("anthropic", "anthropic", True),
        ("openai", "openai", True),
        ("google", "google", True),
    ]
    assert {row["provider_type"] for row in models} == {"anthropic", "openai", "google"}
    assert [row["model"] for row in models if row["is_default"]] == ["claude-opus-5-5"]
    assert all(row["price_source"] == "catalogue" and row["reasoning_efforts"] for row in models)
    assert default is not None
    assert not any(key in said.out + said.err for key in KEYS.values())


async def test_replicas_that_start_together_set_up_once_and_what_was_deleted_stays_away(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path) as first:  # migrated, and a user

        async def start() -> None:
            async with running_server(database.dsn, tmp_path, first_user=False, **KEYS):
                pass

        await asyncio.gather(*(start() for _ in range(3)))
        providers, models = await configured(first.owner)
        for row in providers:
            await first.owner.delete(f"{PROVIDERS}/{row['id']}")
        await start()
        after, _ = await configured(first.owner)

    assert [row["name"] for row in providers] == ["anthropic", "openai", "google"]
    assert len({(row["provider_type"], row["model"]) for row in models}) == len(models)
    assert after == []


async def test_nothing_is_set_up_beside_what_an_owner_configured(database: Any, tmp_path: Path):
    local = {"type": "openai-compat", "base_url": "http://127.0.0.1:1/v1"}
    async with running_server(database.dsn, tmp_path) as running:
        await running.owner.post(PROVIDERS, {**local, "name": "own"})
        async with running_server(database.dsn, tmp_path, first_user=False, **KEYS, **DEMO):
            providers, _ = await configured(running.owner)

    assert [row["name"] for row in providers] == ["own"]


async def test_with_no_key_and_no_provider_there_is_a_free_demo_that_answers_from_every_replica(
    database: Any, tmp_path: Path
):
    async with (
        running_server(database.dsn, tmp_path, **DEMO) as running,
        running_server(database.dsn, tmp_path, first_user=False, **DEMO) as other,
    ):
        providers, models = await configured(running.owner)
        test = f"{PROVIDERS}/{providers[0]['id']}/test"
        tested = [await api.post(test, {}) for api in (running.owner, other.api.with_token(running.owner.token))]

    assert [(row["name"], row["type"], row["has_api_key"]) for row in providers] == [("Demo", "openai-compat", False)]
    assert [(row["model"], row["is_default"]) for row in models] == [("demo", True)]
    assert set(models[0]["prices"].values()) == {"0"}
    assert [answer.body["ok"] for answer in tested] == [True, True]


async def test_a_real_model_takes_the_place_of_the_demo_as_the_default(database: Any, tmp_path: Path):
    key: dict[str, Any] = {"anthropic_api_key": KEYS["anthropic_api_key"]}
    async with (
        running_server(database.dsn, tmp_path, **DEMO) as running,
        running_server(database.dsn, tmp_path, first_user=False, **DEMO, **key),
    ):
        providers, models = await configured(running.owner)

    assert [row["name"] for row in providers] == ["Demo", "anthropic"]
    assert [row["model"] for row in models if row["is_default"]] == ["claude-opus-5-5"]


async def test_the_first_model_that_an_owner_adds_is_the_default_in_place_of_the_demo(database: Any, tmp_path: Path):
    local = {"type": "openai-compat", "base_url": "http://127.0.0.1:1/v1", "name": "own"}
    async with running_server(database.dsn, tmp_path, **DEMO) as running:
        own = (await running.owner.post(PROVIDERS, local)).body
        for model in ("first", "second"):
            await running.owner.post(MODELS, {"ai_provider_id": own["id"], "model": model, "context_limit": 1000})
        _, models = await configured(running.owner)

    assert [row["model"] for row in models if row["is_default"]] == ["first"]


async def test_a_demo_that_was_deleted_or_is_switched_off_stays_away(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path, **DEMO) as running:
        (demo,), _ = await configured(running.owner)
        async with running_server(database.dsn, tmp_path, first_user=False) as without:
            owner = without.api.with_token(running.owner.token)
            switched_off = await owner.post(f"{PROVIDERS}/{demo['id']}/test", {})
        await running.owner.delete(f"{PROVIDERS}/{demo['id']}")
        async with running_server(database.dsn, tmp_path, first_user=False, **DEMO):
            providers, models = await configured(running.owner)

    assert switched_off.body["ok"] is False
    assert "switched off" in switched_off.body["message"]
    assert (providers, models) == ([], [])


async def test_an_openai_key_for_another_address_speaks_the_older_api_there(database: Any, tmp_path: Path):
    settings: dict[str, Any] = {
        "openai_api_key": KEYS["openai_api_key"],
        "openai_base_url": "http://localhost:11434/v1",
    }
    async with running_server(database.dsn, tmp_path, **settings) as running:
        providers, models = await configured(running.owner)

    assert [(row["type"], row["base_url"]) for row in providers] == [("openai-compat", "http://localhost:11434/v1")]
    assert {row["price_source"] for row in models} == {"unknown"}


def test_the_vendors_own_variables_are_read_and_a_bad_one_is_ignored(tmp_path: Path):
    environ = {
        "ANTHROPIC_API_KEY": "sk-ant-1",
        "OPENAI_API_KEY": "sk one two",
        "OPENAI_BASE_URL": "https://gateway.example.com/v1",
        "CHATD_GEMINI_API_KEY": "mine",
        "GEMINI_API_KEY": "theirs",
    }
    loaded = load_settings(environ=environ, flags={}, cwd=tmp_path)
    settings = loaded.settings

    assert settings.anthropic_api_key is not None
    assert settings.anthropic_api_key.reveal() == "sk-ant-1"
    assert settings.openai_api_key is None
    assert "OPENAI_API_KEY is ignored" in loaded.origins["openai_api_key"]
    assert settings.openai_base_url == "https://gateway.example.com/v1"
    assert settings.gemini_api_key is not None
    assert settings.gemini_api_key.reveal() == "mine"
    assert loaded.origins["anthropic_api_key"] == "ANTHROPIC_API_KEY"
    assert not any("sk-ant-1" in row.value for row in loaded.describe())


async def test_an_operators_catalogue_says_what_a_model_costs(database: Any, tmp_path: Path):
    path = tmp_path / "models.toml"
    path.write_text('[[models]]\nvendor = "anthropic"\nname = "ours"\ncontext_limit = 9\nprices = { input = "1.5" }\n')
    async with running_server(database.dsn, tmp_path, model_catalogue=str(path)) as running:
        made = (await running.owner.post(PROVIDERS, {"type": "anthropic", "name": "a"})).body
        config = (await running.owner.post(MODELS, {"ai_provider_id": made["id"], "model": "ours"})).body

    assert (config["context_limit"], config["prices"]["input"], config["price_source"]) == (9, "1.5", "catalogue")
