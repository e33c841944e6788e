"""What people do with a chat as it runs, over HTTP: stop it, summarise it, answer its tools, repair it, retitle it."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from chatd.core.access import OPERATOR
from chatd.core.spend import Period
from chatd.store.actor import acting_as
from chatd.testing.vendors.script import Call, Hold, Refuse, Say, Turn
from server.chat_api import CHATS, ChatApi, chat_api, text
from server.configured_models import wrong

ASK = [{"name": "ask", "description": "Ask the user.", "input_schema": {"type": "object"}}]


async def test_an_interrupt_stops_a_chat_once_and_keeps_what_was_said(database: Any, tmp_path: Path):
    go = asyncio.Event()
    async with chat_api(database.dsn, tmp_path, [Turn(Say("one", "two"), faults=(Hold(go),))]) as chats:
        chat = await chats.create()
        path = f"{CHATS}/{chat['id']}/interrupt"
        stopped = await chats.mia.post(path)
        await chats.resting(chat)
        resting = await chats.mia.post(path)
        go.set()

    assert (stopped.status, stopped.body["status"], stopped.body["id"]) == (200, "interrupting", chat["id"])
    assert resting.status == 409, resting


async def test_an_admin_may_stop_and_rename_someone_elses_chat(database: Any, tmp_path: Path):
    go = asyncio.Event()
    async with chat_api(database.dsn, tmp_path, [Turn(Say("one"), faults=(Hold(go),))]) as chats:
        chat = await chats.create()
        olga = chats.running.owner
        renamed = await olga.call("PATCH", f"{CHATS}/{chat['id']}", {"title": "Olga's name for it"})
        stopped = await olga.post(f"{CHATS}/{chat['id']}/interrupt")
        go.set()

    assert (renamed.status, stopped.status) == (204, 200)


async def test_a_compaction_is_made_when_it_is_asked_for(database: Any, tmp_path: Path):
    turns = [Turn(Say("one")), Turn(Say("A summary."))]
    async with chat_api(database.dsn, tmp_path, turns) as chats:
        chat = await chats.create("Remember this")
        await chats.resting(chat)
        path = f"{CHATS}/{chat['id']}/compact"
        asked = await chats.mia.post(path)
        busy = await chats.mia.post(path)
        rested = await chats.resting(chat)
        calls = len(chats.script.asked)

    assert (asked.status, asked.body["status"]) == (200, "running")
    assert busy.status in (200, 409)  # it may be done by then
    assert rested["status"] == "waiting", rested
    assert calls >= 2


async def test_a_chat_that_was_never_answered_has_nothing_to_summarise(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Refuse(401, "bad key")]) as chats:
        chat = await chats.create()
        await chats.resting(chat)
        refused = await chats.mia.post(f"{CHATS}/{chat['id']}/compact")

    assert (refused.status, refused.body["message"]) == (409, "There is nothing to summarise yet.")


async def test_a_client_answers_its_own_tools(database: Any, tmp_path: Path):
    turns = [Turn(Call("ask", "{}", id="c1")), Turn(Say("Blue it is."))]
    async with chat_api(database.dsn, tmp_path, turns) as chats:
        chat = await chats.create(unsafe_dynamic_tools=ASK)
        path = f"{CHATS}/{chat['id']}/tool-results"
        await chats.until(chat, "requires_action")
        refused = [
            await chats.mia.post(path, {"results": results})
            for results in (
                [],
                [{"tool_call_id": "other", "output": 1}],
                [{"tool_call_id": "c1", "output": 1}, {"tool_call_id": "c1", "output": 2}],
                [{"tool_call_id": "c1", "output": 1}, {"tool_call_id": "c2", "output": 2}],
                [{"tool_call_id": "c1"}],
            )
        ]
        done = await chats.mia.post(path, {"results": [{"tool_call_id": "c1", "output": {"colour": "blue", "n": 1e2}}]})
        await chats.resting(chat)
        late = await chats.mia.post(path, {"results": [{"tool_call_id": "c1", "output": None}]})
        page = (await chats.mia.get(f"{CHATS}/{chat['id']}/messages")).body

    assert [(answer.status, answer.body["message"]) for answer in refused] == [
        (400, "Check results."),
        (400, "A call has no result."),
        (400, "A call has two results."),
        (400, "There is a result of a call that nobody waits for."),
        (400, "The request is not valid."),
    ]
    assert (done.status, late.status) == (204, 409)
    [result] = page["messages"][1]["content"]
    assert (result["tool_name"], result["result"]) == ("ask", {"colour": "blue", "n": 100})
    assert page["messages"][0]["content"] == [text("Blue it is.")]


async def test_a_chat_in_an_impossible_state_is_repaired_and_another_refuses(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path) as chats:
        chat = await chats.create()
        await chats.resting(chat)
        path = f"{CHATS}/{chat['id']}/reconcile-invalid"
        sound = await chats.mia.post(path)
        connection = await asyncpg.connect(database.dsn)
        await connection.execute(
            "SELECT set_config('chatd.transition', 'test', false);"
            "UPDATE chat_state SET archived = true, status = 'running', snapshot_version = snapshot_version + 1"
        )
        await connection.close()
        stuck = await chats.send(chat, "hello?")
        repaired = await chats.mia.post(path)
        sent = await chats.send(chat, "hello again")
        await chats.resting(chat)

    assert (sound.status, stuck.status, sent.status) == (409, 409, 200)
    assert (repaired.body["status"], repaired.body["archived"]) == ("error", False)
    assert repaired.body["last_error"]["kind"] == "repaired"


async def test_a_failed_turn_says_what_went_wrong(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Refuse(401, "bad key")]) as chats:
        failed = await chats.resting(await chats.create())

    assert (failed["status"], failed["last_error"]["kind"], failed["last_error"]["retryable"]) == (
        "error",
        "auth",
        False,
    )


async def test_a_title_is_proposed_or_taken(chats: ChatApi):
    chat = await chats.create()
    await chats.resting(chat)
    path = f"{CHATS}/{chat['id']}"
    await chats.mia.call("PATCH", path, {"title": "Mine"})
    proposed = await chats.mia.post(f"{path}/title/propose")
    unchanged = (await chats.mia.get(path)).body
    taken = await chats.mia.post(f"{path}/title/regenerate")
    shown = (await chats.mia.get(path)).body

    assert (proposed.status, proposed.body) == (200, {"title": "A made title"})
    assert unchanged["title"] == "Mine"
    assert (taken.status, taken.body["title"], shown["title"]) == (200, "A made title", "A made title")
    assert shown["updated_at"] == unchanged["updated_at"]


async def test_a_model_that_gives_no_title_is_no_failure_of_the_server(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Refuse(401, "bad key")], side=Refuse(401, "bad key")) as chats:
        chat = await chats.create()
        await chats.resting(chat)
        answers = [await chats.mia.post(f"{CHATS}/{chat['id']}/title/{how}") for how in ("propose", "regenerate")]

    assert [answer.status for answer in answers] == [502, 502]


async def test_what_was_said_is_found_in_a_chat(chats: ChatApi):
    chats.script._turns[:] = [Turn(Say("100% of Owls, OWLS!")), Turn(Say("No birds."))]
    chat = await chats.create("owls_and 50%")
    await chats.resting(chat)
    await chats.send(chat, "more \\owls")
    await chats.resting(chat)
    path = f"{CHATS}/{chat['id']}/messages"
    ids = [message["id"] for message in reversed((await chats.mia.get(path)).body["messages"])]

    async def found(query: str) -> list[tuple[int, str, int]]:
        messages = (await chats.mia.get(f"{path}/search?{query}")).body["messages"]
        return [(ids.index(one["id"]), one["role"], one["places"]) for one in messages]

    assert await found("q=owls") == [(2, "user", 1), (1, "assistant", 2), (0, "user", 1)]
    assert await found(f"q=owls&before_id={ids[2]}&limit=1") == [(1, "assistant", 2)]
    # No sign means anything but itself.
    assert await found("q=%25") == [(1, "assistant", 1), (0, "user", 1)]
    assert await found("q=_") == [(0, "user", 1)]
    assert await found("q=%5C") == [(2, "user", 1)]
    assert await found("q=nothing") == []
    assert (await chats.mia.get(f"{path}/search?q=owls&limit=1")).body["has_more"] is True
    wrongs = [await chats.mia.get(f"{path}/search{query}") for query in ("", "?q=", "?q=%00", "?q=a&limit=0")]
    assert [wrong(answer) for answer in wrongs] == [["q"], ["q"], ["q"], ["limit"]]
    assert (await chats.running.api.get(f"{path}/search")).status == 401


async def test_prompts_are_what_was_written_newest_first(chats: ChatApi):
    chat = await chats.create("one")
    await chats.resting(chat)
    reference = {"type": "file-reference", "file_name": "a.py"}
    path = f"{CHATS}/{chat['id']}"
    await chats.mia.post(f"{path}/messages", {"content": [text("two "), reference, text("and three")]})
    await chats.resting(chat)
    await chats.mia.post(f"{path}/messages", {"content": [reference]})
    await chats.resting(chat)
    everything = (await chats.mia.get(f"{path}/prompts")).body["prompts"]
    newest = (await chats.mia.get(f"{path}/prompts?limit=2")).body["prompts"]
    refused = await chats.mia.get(f"{path}/prompts?limit=2001")

    assert [prompt["text"] for prompt in everything] == ["twoand three", "one"]
    assert [prompt["text"] for prompt in newest] == ["twoand three"]
    assert wrong(refused) == ["limit"]


async def test_who_has_spent_the_limit_begins_nothing_new(chats: ChatApi):
    chat = await chats.create()
    await chats.resting(chat)
    path = f"{CHATS}/{chat['id']}"
    first = (await chats.mia.get(f"{path}/messages")).body["messages"][-1]
    key = {"Idempotency-Key": "k"}
    accepted = await chats.mia.call("POST", f"{path}/messages", {"content": [text("x")]}, **key)
    await chats.resting(chat)
    with acting_as(OPERATOR):
        await chats.running.replica.opened.store.upsert_usage_limit(
            user_id=UUID(chat["owner_id"]), group_id=None, period=Period.DAY, microdollars=0
        )
    chats.running.replica.versions.changed("usage_limits")
    refused = [
        await chats.mia.post(CHATS, {"content": [text("x")]}),
        await chats.send(chat, "x"),
        await chats.mia.call("PATCH", f"{path}/messages/{first['id']}", {"content": [text("x")]}),
        await chats.mia.post(f"{path}/compact"),
        await chats.mia.post(f"{path}/title/propose"),
        await chats.mia.post(f"{path}/title/regenerate"),
    ]
    again = await chats.mia.call("POST", f"{path}/messages", {"content": [text("x")]}, **key)

    assert [(answer.status, answer.body["kind"]) for answer in refused] == [(409, "usage_limit")] * 6
    assert again.body == accepted.body
