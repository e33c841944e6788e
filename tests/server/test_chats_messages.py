"""Messages over HTTP: pages of them, sending to idle and busy chats, sending once, and editing."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from chatd.core.chat_limits import MOST_QUEUED
from chatd.testing.statements import Statements
from chatd.testing.vendors.script import Hold, Say, Turn
from server.chat_api import CHATS, ChatApi, chat_api, text
from server.configured_models import MODELS, wrong

SOME_ID = "01b8dac5-b400-7fff-9025-14a40e4c331b"


def ids(page: dict[str, Any]) -> list[int]:
    return [message["id"] for message in page["messages"]]


@pytest.mark.behaviour("API-1")
async def test_messages_come_in_pages_by_id_and_the_queue_with_the_first_only(database: Any, tmp_path: Path):
    go = asyncio.Event()
    turns = [Turn(Say(str(number))) for number in range(3)]
    async with chat_api(database.dsn, tmp_path, [*turns, Turn(Say("last"), faults=(Hold(go),))]) as chats:
        chat = await chats.create("0")
        for number in range(1, 4):
            await chats.resting(chat)
            await chats.send(chat, str(number))
        await chats.send(chat, "waits")
        path = f"{CHATS}/{chat['id']}/messages"
        everything = (await chats.mia.get(path)).body
        first = (await chats.mia.get(f"{path}?limit=3")).body
        newest = ids(first)
        second = (await chats.mia.get(f"{path}?limit=3&before_id={newest[-1]}")).body
        third = (await chats.mia.get(f"{path}?limit=3&before_id={ids(second)[-1]}")).body
        onward = (await chats.mia.get(f"{path}?limit=3&after_id={ids(third)[-1]}")).body
        between = (await chats.mia.get(f"{path}?after_id={ids(third)[-1]}&before_id={newest[0]}")).body
        none_left = (await chats.mia.get(f"{path}?before_id={ids(third)[-1]}")).body
        go.set()
        await chats.resting(chat)

    assert len(ids(everything)) == 7
    assert ids(everything) == sorted(ids(everything), reverse=True) == ids(first) + ids(second) + ids(third)
    assert [page["has_more"] for page in (everything, first, second, third)] == [False, True, True, False]
    assert [waiting["content"] for waiting in first["queued_messages"]] == [[text("waits")]]
    assert second["queued_messages"] == onward["queued_messages"] == []
    assert ids(onward) == sorted(ids(everything))[1:4]
    assert ids(between) == ids(everything)[1:6]
    assert (none_left["messages"], none_left["has_more"]) == ([], False)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("before_id=x", "before_id"),
        ("after_id=5&before_id=5", "after_id"),
    ],
)
async def test_a_page_that_can_not_be_is_refused(chats: ChatApi, query: str, named: str):
    chat = await chats.create()

    assert wrong(await chats.mia.get(f"{CHATS}/{chat['id']}/messages?{query}")) == [named]


async def test_an_idle_chat_answers_and_a_busy_one_queues_or_stops(database: Any, tmp_path: Path):
    go = asyncio.Event()
    turns = [Turn(Say("one")), Turn(Say("two", "!"), faults=(Hold(go, before_event=4),)), Turn(Say("more"))]
    async with chat_api(database.dsn, tmp_path, turns) as chats:
        chat = await chats.create("1")
        await chats.resting(chat)
        sent = await chats.send(chat, "2", plan_mode="plan", reasoning_effort="high")
        queued = await chats.send(chat, "3")
        urgent = await chats.send(chat, "4", busy_behavior="interrupt")
        go.set()
        rested = await chats.resting(chat)
        async with asyncio.timeout(30):
            while len(await chats.said(chat)) < 7:
                await chats.resting(chat)
        said = await chats.said(chat)

    assert (sent.status, sent.body["queued"]) == (200, False)
    assert sent.body["message"]["content"] == [text("2")]
    assert sent.body["messages"] == [sent.body["message"]]
    assert (queued.body["queued"], queued.body["queued_message"]["content"]) == (True, [text("3")])
    assert "message" not in queued.body
    assert urgent.body["queued"] is True
    assert (rested["plan_mode"], rested["last_reasoning_effort"]) == ("plan", "high")
    assert [line for line in said if line.startswith("user")] == ["user: 1", "user: 2", "user: 3", "user: 4"]


async def test_a_full_queue_is_429_and_names_the_limit(database: Any, tmp_path: Path):
    go = asyncio.Event()
    async with chat_api(database.dsn, tmp_path, [Turn(Say("one"), faults=(Hold(go),))]) as chats:
        chat = await chats.create("1")
        for number in range(MOST_QUEUED):
            assert (await chats.send(chat, str(number))).status == 200
        full = await chats.send(chat, "too many")
        await chats.mia.post(f"{CHATS}/{chat['id']}/interrupt")
        go.set()

    assert (full.status, str(MOST_QUEUED) in full.body["message"]) == (429, True)


async def test_a_message_that_can_not_be_sent_says_why(chats: ChatApi):
    chat = await chats.create()
    await chats.resting(chat)
    path = f"{CHATS}/{chat['id']}"
    refused = [
        await chats.send(chat, " "),
        await chats.send(chat, "x", busy_behavior="shout"),
        await chats.send(chat, "x", model_config_id=SOME_ID),
        await chats.send(chat, "x", mcp_server_ids=[SOME_ID]),
    ]
    await chats.mia.call("PATCH", path, {"archived": True})
    archived = [
        await chats.send(chat, "x"),
        await chats.mia.post(f"{path}/compact"),
        await chats.mia.post(f"{path}/queue/1/promote"),
    ]
    nowhere = await chats.send({"id": SOME_ID}, "x")

    assert [wrong(answer) for answer in refused] == [
        ["content[0].text"],
        ["busy_behavior"],
        ["model_config_id"],
        ["mcp_server_ids"],
    ]
    assert [(answer.status, answer.body["message"]) for answer in archived] == [(400, "The chat is archived.")] * 3
    assert nowhere.status == 404


@pytest.mark.behaviour("API-7")
async def test_a_message_sent_again_with_its_key_is_there_once_and_told_the_same(database: Any, tmp_path: Path):
    go = asyncio.Event()
    turns = [Turn(Say("one")), Turn(Say("two"), faults=(Hold(go),)), Turn(Say("three"))]
    async with chat_api(database.dsn, tmp_path, turns) as chats:
        chat = await chats.create("1")
        await chats.resting(chat)
        path = f"{CHATS}/{chat['id']}/messages"

        async def send(said: str, key: str) -> Any:
            answer = await chats.mia.call("POST", path, {"content": [text(said)]}, **{"Idempotency-Key": key})
            assert answer.status == 200, answer
            return answer.body

        sent, queued = [await send("2", "a"), await send("3", "b")]
        again = [await send("2", "a"), await send("3", "b")]
        go.set()
        async with asyncio.timeout(30):
            while len(await chats.said(chat)) < 6:
                await chats.resting(chat)
        after_promotion = await send("3", "b")
        await chats.running.owner.call("PATCH", f"{MODELS}/{chats.model_id}", {"enabled": False})
        with_model = {"content": [text("4")], "model_config_id": chats.model_id}
        other = await chats.mia.call("POST", path, {"content": [text("other")]}, **{"Idempotency-Key": "b"})
        refused = await chats.mia.call("POST", path, with_model, **{"Idempotency-Key": "c"})
        said = await chats.said(chat)

    assert again == [sent, queued]
    assert after_promotion == queued
    assert other.status == 409, other
    assert refused.status == 400, refused
    assert [line for line in said if line.startswith("user")] == ["user: 1", "user: 2", "user: 3"]


@pytest.mark.behaviour("API-7")
async def test_a_message_that_was_accepted_is_told_so_also_when_it_would_be_refused_by_now(chats: ChatApi):
    chat = await chats.create()
    await chats.resting(chat)
    path, key = f"{CHATS}/{chat['id']}/messages", {"Idempotency-Key": "k"}
    body = {"content": [text("x")], "model_config_id": chats.model_id}
    first = await chats.mia.call("POST", path, body, **key)
    await chats.resting(chat)
    await chats.running.owner.call("PATCH", f"{MODELS}/{chats.model_id}", {"enabled": False})

    again = await chats.mia.call("POST", path, body, **key)

    assert (first.status, again.status) == (200, 200)
    assert again.body == first.body


async def test_a_plain_send_is_one_statement(statements: Statements, database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path) as chats:
        chat = await chats.create()
        await chats.resting(chat)
        await chats.send(chat, "warm")
        await chats.resting(chat)
        before = dict(await statements.by_query())
        sent = await chats.send(chat, "once more")
        await chats.resting(chat)
        after = dict(await statements.by_query())

    assert sent.status == 200
    made = {query: calls - before.get(query, 0) for query, calls in after.items() if calls > before.get(query, 0)}
    sends = [calls for query, calls in made.items() if "send_message(" in query]
    asked_for_chats = [query for query in made if "get_chat_state" in query or "FROM chat_sends" in query]
    assert sends == [1]
    assert asked_for_chats == []


async def test_an_edit_replaces_a_message_and_all_after_it(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Turn(Say(word)) for word in ("one", "two", "three")]) as chats:
        chat = await chats.create("1")
        await chats.resting(chat)
        sent = (await chats.send(chat, "2")).body["message"]
        await chats.resting(chat)
        path = f"{CHATS}/{chat['id']}/messages"
        page = (await chats.mia.get(path)).body
        edited = await chats.mia.call("PATCH", f"{path}/{sent['id']}", {"content": [text("2b")]})
        await chats.resting(chat)
        said = await chats.said(chat)
        answer_id, gone_id = ids((await chats.mia.get(path)).body)[0], sent["id"]
        not_users = await chats.mia.call("PATCH", f"{path}/{answer_id}", {"content": [text("x")]})
        gone = await chats.mia.call("PATCH", f"{path}/{gone_id}", {"content": [text("x")]})
        empty = await chats.mia.call("PATCH", f"{path}/{answer_id}", {"content": []})

    assert edited.status == 200, edited
    assert edited.body["message"]["content"] == [text("2b")]
    assert edited.body["deleted_message_ids"] == sorted(ids(page)[:2])
    assert said == ["user: 1", "assistant: one", "user: 2b", "assistant: three"]
    assert (not_users.status, gone.status, empty.status) == (400, 404, 400)
