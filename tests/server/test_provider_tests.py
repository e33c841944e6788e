"""The test of a provider: one small call, and in words what came of it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from chatd.core.usage import Usage
from chatd.testing.fake_clock import FakeClock
from chatd.testing.vendors.script import Refuse, Say, Turn
from chatd.testing.vendors.server import vendor_server
from server.configured_models import KEY, PROVIDERS, model, provider, wrong
from server.running import running_server

LONG = 5.0  # seconds; for what happens at once


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
    assert nowhere["message"] == "What answered is not the API of main. Check the provider's address."
    address = closed.removeprefix("http://")
    assert (nobody["ok"], nobody["kind"]) == (False, "timeout")
    assert nobody["message"] == f"Nobody answers at {address}. Check the address and that the server runs."
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


@pytest.mark.behaviour("SIDE-4")
async def test_a_test_counts_as_a_call_and_a_name_that_is_only_tried_is_no_label(serving: Any):
    used = Usage(input_tokens=10, output_tokens=3)
    script = [Turn(Say("OK"), usage=used), Turn(Say("OK"), usage=used), Refuse(401, "no such key")]
    async with serving() as running, vendor_server(script) as vendor:
        id = await provider(running.owner, base_url=vendor.url)
        await model(running.owner, id, "ours", context_limit=1000, prices={"input": "1", "output": "2"})
        for name in (None, "made-up", "another"):
            await running.owner.post(f"{PROVIDERS}/{id}/test", {"model": name} if name else {})
        value = running.replica.opened.metrics.registry.get_sample_value

    ours, other = ({"provider": "anthropic", "model": name} for name in ("ours", "other"))
    assert value("chatd_provider_calls_total", {**ours, "outcome": "ok"}) == 1
    assert value("chatd_provider_calls_total", {**other, "outcome": "ok"}) == 1
    assert value("chatd_provider_calls_total", {**other, "outcome": "auth"}) == 1
    assert value("chatd_provider_tokens_total", {**ours, "kind": "input"}) == 10
    assert value("chatd_provider_cost_microdollars_total", ours) == 16
    assert value("chatd_provider_prompt_bytes_count", other) == 2
    assert value("chatd_provider_calls_total", {**ours, "model": "made-up", "outcome": "ok"}) is None
