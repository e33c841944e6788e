"""A chat from its first message to its answer, over HTTP, and what a new chat is refused for."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from chatd.core.system_texts import NO_WORKSPACE, NO_WORKSPACES
from chatd.testing.vendors.script import Hold, Say, Turn
from server.chat_api import CHATS, ChatApi, chat_api, text
from server.configured_models import MODELS, wrong
from server.streaming import TRANSPORTS, reading

SOME_ID = "01b8dac5-b400-7fff-9025-14a40e4c331b"


@pytest.mark.behaviour("API-1", "API-3")
async def test_a_message_begins_a_chat_that_is_answered(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Turn(Say("Hi ", "there."))]) as chats:
        chat = await chats.create("Say hi")
        rested = await chats.resting(chat)
        page = (await chats.mia.get(f"{CHATS}/{chat['id']}/messages")).body

    assert CHATS == "/api/experimental/chats"
    assert (chat["status"], chat["title"], chat["children"], chat["labels"]) == ("running", "Say hi", [], {})
    assert chat["root_chat_id"] == chat["id"]
    assert chat["last_model_config_id"] == chats.model_id
    assert rested["status"] == "waiting"
    assert "messages" not in rested
    answer, question = page["messages"]
    assert (question["role"], question["content"]) == ("user", [text("Say hi")])
    assert (answer["role"], answer["content"]) == ("assistant", [text("Hi there.")])
    assert answer["usage"]["output_tokens"] == 10
    assert (page["has_more"], page["queued_messages"]) == (False, [])


async def test_a_new_chat_reads_as_it_was_told(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path) as chats:
        fields: dict[str, Any] = {
            "labels": {"team": "a"},
            "plan_mode": "plan",
            "client_type": "ui",
            "reasoning_effort": "low",
        }
        told = await chats.create("Plan it", **fields)
        rested = await chats.resting(told)

    assert (told["labels"], told["plan_mode"], told["client_type"]) == ({"team": "a"}, "plan", "ui")
    assert (told["last_reasoning_effort"], told["owner_username"]) == ("low", "mia")
    # What moves by itself: the run, the title, the label.
    moved = {"status", "updated_at", "title", "last_turn_summary", "has_unread", "summary"}
    assert {key: told[key] for key in told.keys() - moved} == {key: rested[key] for key in rested.keys() - moved}


async def test_the_prompts_of_the_deployment_and_of_the_chat_stand_before_it(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path) as chats:
        chat = await chats.create("hello", system_prompt="Talk like a pirate.")
        await chats.resting(chat)
        said = await chats.said(chat)
        [asked] = chats.script.asked

    assert "Talk like a pirate." in str(asked.body["system"])
    assert len(asked.body["system"]) == 3  # the deployment's, then the chat's, then what it can work with
    assert said == ["user: hello", "assistant: Hi."]


@pytest.mark.behaviour("LOOP-12")
async def test_a_chat_begins_with_what_it_can_work_with_for_its_model_alone(database: Any, tmp_path: Path):
    async with (
        chat_api(database.dsn, tmp_path) as chats,
        asyncpg.create_pool(database.dsn, min_size=1, max_size=1) as pool,
    ):
        deployment = chats.running.replica.engine.deployment
        await pool.execute("UPDATE templates SET deleted = true")
        deployment.forget()
        first = await chats.create("hello", system_prompt="Talk like a pirate.")
        await chats.resting(first)
        await pool.execute(
            "INSERT INTO templates (id, organization_id, name, provisioner)"
            " SELECT gen_random_uuid(), id, 'sandbox', 'local' FROM organizations"
        )
        deployment.forget()
        await chats.resting(await chats.create("hello again"))
        rows = await pool.fetch(
            "SELECT role, visibility, created_at, content -> 0 ->> 'text' AS text FROM messages WHERE chat_id = $1"
            " ORDER BY id",
            UUID(first["id"]),
        )
        said = [str(asked.body["system"]) for asked in chats.script.asked]

    assert [(row["role"], row["visibility"]) for row in rows[:4]] == [
        ("system", "model"),
        ("system", "model"),
        ("system", "model"),
        ("user", "both"),
    ]
    assert [row["text"] for row in rows[1:3]] == ["Talk like a pirate.", NO_WORKSPACES]
    assert len({row["created_at"] for row in rows[:4]}) == 1  # one batch
    assert NO_WORKSPACES in said[0]
    assert NO_WORKSPACE in said[1]


@pytest.mark.behaviour("CONTENT-2")
async def test_a_file_reference_comes_back_as_it_was_posted(database: Any, tmp_path: Path):
    part = {"type": "file-reference", "file_name": "a.py", "start_line": 3, "end_line": 4, "content": "x = 1\n"}
    async with chat_api(database.dsn, tmp_path) as chats:
        chat = (await chats.mia.post(CHATS, {"content": [text("Look:"), part]})).body
        await chats.resting(chat)
        page = (await chats.mia.get(f"{CHATS}/{chat['id']}/messages")).body
        streamed: list[Any] = []
        for transport in TRANSPORTS:
            async with asyncio.timeout(30), reading(chats.mia, UUID(chat["id"]), transport) as reader:
                streamed.append((await reader.until("message"))["message"])
        [asked] = chats.script.asked

    assert page["messages"][1]["content"] == [text("Look:"), part]
    assert streamed == [page["messages"][1]] * 2
    assert "x = 1" in asked.last_text


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"content": []}, "content"),
        ({"content": [text("  ")]}, "content[0].text"),
        ({"content": [{"type": "image", "text": "x"}]}, "content[0].type"),
        ({"content": [{"type": "text", "text": "x", "data": "y"}]}, "content[0].data"),
        ({"content": [{"type": "file"}]}, "content[0].file_id"),
        ({"content": [{"type": "file", "file_id": SOME_ID}]}, "content[0].file_id"),
        ({"content": [{"type": "file-reference", "start_line": 9}]}, "content[0].file_name"),
        ({"model_config_id": SOME_ID}, "model_config_id"),
        ({"organization_id": SOME_ID}, "organization_id"),
        ({"workspace_id": SOME_ID}, "workspace_id"),
        ({"mcp_server_ids": [SOME_ID]}, "mcp_server_ids"),
        ({"labels": {" ": "x"}}, "labels"),
        ({"labels": {"a": ""}}, "labels.a"),
        ({"unsafe_dynamic_tools": [{"name": "a"}, {"name": "a"}]}, "unsafe_dynamic_tools[1].name"),
        ({"plan_mode": "perhaps"}, "plan_mode"),
        ({"client_type": "fax"}, "client_type"),
        ({"reasoning_effort": "much"}, "reasoning_effort"),
    ],
)
async def test_what_is_wrong_with_a_new_chat_is_named(chats: ChatApi, fields: dict[str, Any], named: str):
    refused = await chats.mia.post(CHATS, {"content": [text("x")], **fields})

    assert named in wrong(refused)


async def test_a_chat_needs_a_model_that_is_on_and_a_message_that_is_not_endless(chats: ChatApi):
    long = await chats.mia.post(CHATS, {"content": [text("x" * 300_000)]})
    await chats.running.owner.call("PATCH", f"{MODELS}/{chats.model_id}", {"enabled": False})
    named = await chats.mia.post(CHATS, {"content": [text("x")], "model_config_id": chats.model_id})
    nothing_left = await chats.mia.post(CHATS, {"content": [text("x")]})

    assert long.status == 413, long
    assert wrong(named) == ["model_config_id"]
    assert nothing_left.status == 400, nothing_left


@pytest.mark.behaviour("API-7")
async def test_a_chat_that_is_asked_for_again_with_its_key_is_made_once(chats: ChatApi):
    body = {"content": [text("once")]}
    made = await chats.mia.call("POST", CHATS, body, **{"Idempotency-Key": "a key"})
    await chats.resting(made.body)
    again = await chats.mia.call("POST", CHATS, body, **{"Idempotency-Key": "a key"})
    await chats.running.owner.call("PATCH", f"{MODELS}/{chats.model_id}", {"enabled": False})
    refused_by_now = await chats.mia.call("POST", CHATS, body, **{"Idempotency-Key": "a key"})
    await chats.running.owner.call("PATCH", f"{MODELS}/{chats.model_id}", {"enabled": True})
    stranger = await chats.running.add_user("sam")
    others = await stranger.call("POST", CHATS, body, **{"Idempotency-Key": "a key"})
    other_key = await chats.mia.call("POST", CHATS, body, **{"Idempotency-Key": "another key"})
    no_key = await chats.mia.call("POST", CHATS, body, **{"Idempotency-Key": "\u00e9"})
    listed = (await chats.mia.get(CHATS)).body

    assert [answer.status for answer in (made, again, refused_by_now, others, other_key)] == [201] * 5
    assert again.body["id"] == refused_by_now.body["id"] == made.body["id"]
    assert len({made.body["id"], others.body["id"], other_key.body["id"]}) == 3
    assert wrong(no_key) == ["Idempotency-Key"]
    assert len(listed) == 2
    assert await chats.said(made.body) == ["user: once", "assistant: Hi."]


@pytest.mark.behaviour("API-7")
async def test_of_many_that_ask_with_one_key_at_the_same_moment_one_makes_the_chat(chats: ChatApi):
    body, key = {"content": [text("once")]}, {"Idempotency-Key": "k"}
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(chats.mia.call("POST", CHATS, body, **key)) for _ in range(6)]
    answers = [one.result() for one in asked]
    await chats.resting(answers[0].body)

    assert [answer.status for answer in answers] == [201] * 6
    assert len({answer.body["id"] for answer in answers}) == 1
    assert await chats.said(answers[0].body) == ["user: once", "assistant: Hi."]


async def test_a_chat_that_waits_for_a_replica_with_room_says_so(database: Any, tmp_path: Path):
    go = asyncio.Event()
    turns = [Turn(Say("one"), faults=(Hold(go),))]
    async with chat_api(database.dsn, tmp_path, turns, chat_root_capacity="1") as chats:
        first, second = await chats.create(), await chats.create()
        shown = [(await chats.mia.get(f"{CHATS}/{chat['id']}")).body for chat in (first, second)]
        go.set()
        await chats.resting(second)

    assert [chat.get("queued_for_capacity", False) for chat in shown] == [False, True]
