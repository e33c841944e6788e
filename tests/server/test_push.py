"""Browsers are told when a turn ends: what, by which replica, and when not."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.core.push_message import FINISHED, trial_message
from chatd.store.hints import Hint
from chatd.testing.push_server import Answer
from chatd.testing.statements import Statements
from chatd.testing.vendors.script import Call, Refuse, Say, Silence, Turn
from server.chat_api import CHATS, PATIENCE
from server.pushing import received, second_replica, subscribe, telling, trial, unsubscribe


@pytest.mark.behaviour("SIDE-2")
async def test_the_owners_browser_is_told_of_a_turn_that_has_ended(database: Any, tmp_path: Path):
    async with telling(database, tmp_path) as told:
        chat = await told.turn("hello")
        [got] = await received(told.browser, told.service)
        shown = (await told.mia.get(f"{CHATS}/{chat['id']}")).body

    assert got.message["title"] in (shown["title"], "hello")
    assert got.message["body"] == "Said something"  # the label that the sidebar shows
    assert got.message["icon"] == "/favicon.ico"
    assert got.message["data"] == {"url": f"/agents/{chat['id']}"}
    assert chat["id"] not in str(got.headers)
    assert told.service.faults == []


@pytest.mark.behaviour("SIDE-2")
async def test_without_a_label_the_answer_itself_is_told(database: Any, tmp_path: Path):
    answer = Turn(Say("**Fixed** the login. It lost its target.\n\n- a\n- b"))
    async with telling(database, tmp_path, answer, side=Refuse(401, "no")) as told:
        await told.turn()
        [got] = await received(told.browser, told.service)

    assert got.message["title"] == "hello"
    assert got.message["body"] == "Fixed the login. It lost its target."


@pytest.mark.behaviour("SIDE-2")
async def test_a_turn_without_text_is_told_with_fixed_words(database: Any, tmp_path: Path):
    async with telling(database, tmp_path, Turn(Say(" "))) as told:
        await told.turn()
        [got] = await received(told.browser, told.service)

    assert got.message["body"] == FINISHED


@pytest.mark.behaviour("SIDE-2")
async def test_a_turn_that_fails_is_told_with_its_error(database: Any, tmp_path: Path):
    async with telling(database, tmp_path, Refuse(401, "no")) as told:
        chat = await told.turn()
        [got] = await received(told.browser, told.service)

    assert chat["status"] == "error"
    assert got.message["body"] == chat["last_error"]["message"]


async def test_nobody_is_told_of_an_interruption_or_of_a_chat_that_waits_for_its_client(database: Any, tmp_path: Path):
    stopped = Turn(Say("One, ", "two"), faults=[Silence(after_events=4)])
    async with telling(database, tmp_path, stopped, Turn(Call("ask", "{}"))) as told:
        chat = await told.chats.create()
        await told.chats.vendor.wait_asked()
        await told.mia.post(f"{CHATS}/{chat['id']}/interrupt")
        await told.chats.resting(chat)
        tool = {"name": "ask", "description": "Ask.", "input_schema": {"type": "object"}}
        waits = await told.chats.create(unsafe_dynamic_tools=[tool])
        await told.chats.until(waits, "requires_action")
        await told.chats.running.replica.engine.worker.drain(1)
        await told.until_idle()

    assert told.service.requests == 0


@pytest.mark.behaviour("SIDE-2")
async def test_turns_of_who_has_no_browser_ask_for_subscriptions_once(
    database: Any, statements: Statements, tmp_path: Path
):
    async def asked() -> int:
        found = await statements.by_query()
        return sum(calls for query, calls in found if "push_subscriptions" in query and query.startswith("SELECT"))

    async with telling(database, tmp_path) as told:
        # A change is told at once, by its own hint, and by the versions: all of that is over first.
        replica, hinted = told.chats.running.replica, asyncio.Event()
        await replica.hints.wait_connected()
        replica.hints.subscribe("after it", lambda what: hinted.set() if isinstance(what, Hint) else None)
        await unsubscribe(told.mia, told.browser)
        replica.hints.publish("after it")
        async with asyncio.timeout(PATIENCE):
            await hinted.wait()
        await replica.versions.poll()
        before = await asked()
        chat = await told.turn()
        await told.until_idle()
        first = await asked()
        for number in range(3):
            await told.chats.send(chat, f"again {number}")
            await told.chats.resting(chat)
            await told.until_idle()

        assert (first - before, await asked() - first) == (1, 0)
    assert told.service.requests == 0


@pytest.mark.behaviour("SIDE-2")
async def test_a_turn_that_ends_on_another_replica_is_told_to_a_browser_that_subscribed_here(
    database: Any, tmp_path: Path
):
    async with telling(database, tmp_path) as told, second_replica(told, database.dsn, tmp_path) as second:
        there = second.api.with_token(told.mia.token)
        first = await told.chats.resting(await told.chats.create(api=there), api=there)
        await received(told.browser, told.service)
        another = told.service.browser()
        noticed = asyncio.Event()
        second.replica.versions.on_change("push", noticed.set)
        assert (await subscribe(told.mia, another)).status == 204
        async with asyncio.timeout(PATIENCE):
            await noticed.wait()
        await there.post(f"{CHATS}/{first['id']}/messages", {"content": [{"type": "text", "text": "again"}]})
        await received(another, told.service)
        keys = [(await api.get("/api/v2/buildinfo")).body["webpush_public_key"] for api in (told.mia, there)]

    assert len(told.browser.received) == 2
    assert keys == [told.service.application_key] * 2


@pytest.mark.behaviour("SIDE-2")
@pytest.mark.parametrize("status", [404, 410])
async def test_a_browser_that_its_push_server_does_not_know_any_more_is_forgotten(
    database: Any, tmp_path: Path, status: int
):
    async with telling(database, tmp_path) as told:
        told.service.answers = [Answer(status)]
        chat = await told.turn()
        await told.service.until(requests=1)
        await told.until_idle()
        await told.chats.send(chat, "again")
        await told.chats.resting(chat)
        await told.until_idle()
        gone = await trial(told.mia)

    assert (told.service.requests, gone.status) == (1, 404)


async def test_a_push_server_that_never_answers_delays_neither_a_turn_nor_the_end(database: Any, tmp_path: Path):
    never = asyncio.Event()
    async with asyncio.timeout(PATIENCE):
        async with telling(database, tmp_path) as told:
            told.service.answers = [Answer(hold=never)] * 10
            chat = await told.turn()
            for number in range(3):
                await told.chats.send(chat, f"again {number}")
                await told.chats.resting(chat)

            assert told.service.requests == 0


async def test_of_two_trials_at_once_one_is_refused(database: Any, tmp_path: Path):
    go_on = asyncio.Event()
    async with asyncio.timeout(PATIENCE), telling(database, tmp_path) as told:
        told.service.answers = [Answer(hold=go_on)]
        async with asyncio.TaskGroup() as tasks:
            trials = {tasks.create_task(trial(told.mia)) for _ in range(2)}
            (refused, *_), _ = await asyncio.wait(trials, return_when=asyncio.FIRST_COMPLETED)
            go_on.set()
        later = await trial(told.mia)

    assert sorted(task.result().status for task in trials) == [204, 429]
    assert refused.result().headers["Retry-After"]
    assert later.status == 204


async def test_whoever_signs_out_is_told_no_more(database: Any, tmp_path: Path):
    async with telling(database, tmp_path) as told:
        elsewhere = await told.chats.running.api.sign_in("mia")
        assert (await told.mia.post("/api/v2/users/logout")).status == 204
        chat = await told.chats.create(api=elsewhere)
        await told.chats.resting(chat, api=elsewhere)
        await told.until_idle()

    assert told.service.requests == 0


async def test_a_suspended_user_is_told_no_more(database: Any, tmp_path: Path):
    async with telling(database, tmp_path) as told:
        me = (await told.mia.get("/api/v2/users/me")).body
        assert (await trial(told.mia)).status == 204
        assert (await told.chats.running.owner.put("/api/v2/users/mia/status/suspend")).status == 200
        said = await told.chats.running.replica.push.pushes.send(UUID(me["id"]), trial_message())

    assert said == []
