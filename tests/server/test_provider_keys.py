"""Keys of providers: they never come back, and go only to the server that they were given for."""

from typing import Any

import asyncpg
import pytest

from chatd.testing.vendors.script import Refuse
from chatd.testing.vendors.server import vendor_server
from server.configured_models import KEY, PROVIDERS, patch, provider, wrong


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
