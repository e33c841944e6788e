"""Subscribing, unsubscribing and trying it out: who may, what is refused, and where messages may go."""

from pathlib import Path
from typing import Any

import asyncpg
import pytest

from chatd.push.subscriptions import MOST_PER_USER
from chatd.testing.push_server import Answer, Browser, push_server
from server.pushing import LOOPBACK, received, subscribe, telling, trial, unsubscribe
from server.running import Api, running_server

# Oneself, a site owner, an auditor, a stranger, nobody.
TABLE = {
    "subscribe": (subscribe, (204, 404, 404, 404, 401)),
    "unsubscribe": (unsubscribe, (204, 204, 404, 404, 401)),
    "trial": (lambda api, _, user: trial(api, user), (204, 404, 404, 404, 401)),
}


@pytest.mark.parametrize("what", TABLE)
async def test_everyone_may_do_what_the_table_says(database: Any, tmp_path: Path, what: str):
    call, expected = TABLE[what]
    async with telling(database, tmp_path) as told:
        running = told.chats.running
        people: list[Api] = [
            told.mia,
            running.owner,
            await running.add_user("aud", "auditor"),
            await running.add_user("sam"),
            running.api,
        ]
        found: list[int] = []
        for api in people:
            await subscribe(told.mia, told.browser)
            found.append((await call(api, told.browser, "mia")).status)

    assert tuple(found) == expected


async def test_a_trial_comes_at_once_and_says_what_is_wrong(database: Any, tmp_path: Path):
    async with telling(database, tmp_path) as told:
        good = await trial(told.mia)
        [got] = await received(told.browser, told.service)
        told.service.answers = [Answer(403)]
        refused = await trial(told.mia)
        await unsubscribe(told.mia, told.browser)
        none = await trial(told.mia)
        again = await unsubscribe(told.mia, told.browser)

    assert (good.status, refused.status, none.status, again.status) == (204, 502, 404, 404)
    assert got.message["title"] == "Notifications work"
    assert refused.body["detail"] == "They said: 403."


async def test_the_oldest_browser_gives_way_to_one_too_many(database: Any, tmp_path: Path):
    async with telling(database, tmp_path) as told:
        more = [told.service.browser() for _ in range(MOST_PER_USER)]
        for browser in more:
            assert (await subscribe(told.mia, browser)).status == 204
        assert (await trial(told.mia)).status == 204
        forgotten = await unsubscribe(told.mia, told.browser)

    assert forgotten.status == 404
    assert [len(browser.received) for browser in more] == [1] * MOST_PER_USER
    assert told.browser.received == []


async def test_a_browser_belongs_to_who_subscribed_last(database: Any, tmp_path: Path):
    async with telling(database, tmp_path) as told:
        sam = await told.chats.running.add_user("sam")
        await subscribe(sam, told.browser)

        assert (await trial(told.mia)).status == 404
        assert (await trial(sam)).status == 204


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("endpoint", "http://push.example.com/x"),
        ("endpoint", "https://"),
        ("endpoint", "https://ada:secret@push.example.com/x"),
        ("endpoint", "https://push.example.com:99999/x"),
        ("endpoint", "https://push.example.com/\u2028"),
        ("endpoint", "https://push.example.com/a b"),
        ("endpoint", "https://[::1"),
        ("endpoint", "x" * 3000),
        ("auth_key", "AAAA"),
        ("auth_key", "\u00e9"),
        ("p256dh_key", "BA"),
        ("p256dh_key", "A" * 87),
        ("p256dh_key", "Ag" + "A" * 42),
    ],
)
async def test_what_is_no_subscription_is_refused_by_field(serving: Any, field: str, value: str):
    async with serving() as running:
        good = Browser("https://push.example.com/x").subscription()
        answer = await running.owner.post("/api/v2/users/me/webpush/subscription", {**good, field: value})

    assert answer.status == 400, answer
    assert [one["field"] for one in answer.body["validations"]] == [field]


@pytest.mark.behaviour("SIDE-2")
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "[::1]", "[fd00::1]", "[::ffff:10.0.0.1]"]
)
async def test_an_address_that_is_not_public_is_refused(serving: Any, host: str):
    async with serving() as running:
        answer = await subscribe(running.owner, Browser(f"https://{host}/x"))

    assert answer.status == 400
    assert [one["field"] for one in answer.body["validations"]] == ["endpoint"]


@pytest.mark.behaviour("SIDE-2")
async def test_a_name_that_leads_to_such_an_address_is_not_connected_to(database: Any, tmp_path: Path):
    async with (
        push_server(tmp_path) as service,
        running_server(database.dsn, tmp_path, outbound_ca=str(service.ca)) as running,
    ):
        stored = await subscribe(running.owner, service.browser())
        answer = await trial(running.owner)

    assert (stored.status, answer.status) == (204, 502)
    assert "address" in answer.body["detail"]
    assert service.requests == 0


async def test_a_redirect_is_not_followed(database: Any, tmp_path: Path):
    async with telling(database, tmp_path) as told:
        told.service.answers = [Answer(307, {"location": told.service.browser().endpoint})]
        answer = await trial(told.mia)

    assert (answer.status, told.service.requests) == (502, 1)


async def test_a_push_server_with_an_unknown_certificate_is_not_told(database: Any, tmp_path: Path):
    async with (
        push_server(tmp_path) as service,
        running_server(database.dsn, tmp_path, outbound_private_networks=LOOPBACK) as running,
    ):
        await subscribe(running.owner, service.browser())
        answer = await trial(running.owner)

    assert (answer.status, service.requests) == (502, 0)


async def test_nothing_that_is_stored_of_a_subscription_lets_anyone_send(database: Any, tmp_path: Path):
    async with telling(database, tmp_path):
        connection = await asyncpg.connect(database.dsn)
        try:
            stored = await connection.fetch("SELECT endpoint, auth FROM push_subscriptions")
            keys = await connection.fetch("SELECT value FROM secrets WHERE name = 'push_key'")
        finally:
            await connection.close()

    values = [value for row in (*stored, *keys) for value in row.values()]
    assert [value[:5] for value in values] == ["enc1:"] * 3
