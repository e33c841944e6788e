"""Forks of chats: the same history up to a message, in a chat of one's own that goes on by itself."""

from pathlib import Path
from typing import Any

import pytest

from chatd.testing.vendors.script import Call, Refuse, Say, Turn
from server.chat_api import CHATS, ChatApi, chat_api, text
from server.configured_models import wrong
from server.running import Answer, Api
from server.test_costs_api import TURN, price_of
from server.test_files_api import PNG, upload

TOOL = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}


async def fork(api: Api, chat: dict[str, Any], key: str = "", **asked: Any) -> Answer:
    headers = {"Idempotency-Key": key} if key else {}
    return await api.call("POST", f"{CHATS}/{chat['id']}/fork", asked, **headers)


async def messages(api: Api, chat: dict[str, Any]) -> list[dict[str, Any]]:
    """Oldest first."""
    page = await api.get(f"{CHATS}/{chat['id']}/messages?limit=200")
    assert page.status == 200, page
    return page.body["messages"][::-1]


async def talked(chats: ChatApi, *said: str, **fields: Any) -> dict[str, Any]:
    """A chat at rest in which that was said, one turn after the other."""
    chat = await chats.create(said[0], **fields)
    for words in said[1:]:
        await chats.resting(chat)
        assert (await chats.send(chat, words)).status == 200
    return await chats.resting(chat)


def shown(message: dict[str, Any]) -> tuple[Any, ...]:
    return message["role"], message["content"], message["created_at"], message.get("usage")


async def test_a_fork_has_the_history_up_to_its_message_and_says_where_it_comes_from(chats: ChatApi):
    chat = await talked(chats, "one", "two", "three", labels={"team": "a"}, plan_mode="plan")
    history = await messages(chats.mia, chat)

    answer = await fork(chats.mia, chat, message_id=history[3]["id"])
    made = answer.body

    assert answer.status == 201, answer
    assert (made["forked_from_chat_id"], made["forked_from_message_id"]) == (chat["id"], history[3]["id"])
    assert (made["status"], made["has_unread"], made["children"]) == ("waiting", False, [])
    assert (made["title"], made["labels"], made["plan_mode"]) == (f"{chat['title']} (fork)", {"team": "a"}, "plan")
    assert made["last_model_config_id"] == chat["last_model_config_id"]
    assert [shown(message) for message in await messages(chats.mia, made)] == [shown(one) for one in history[:4]]
    assert [shown(one) for one in await messages(chats.mia, chat)] == [shown(one) for one in history]
    assert made["id"] in [one["id"] for one in (await chats.mia.get(CHATS)).body]


async def test_without_a_message_all_is_copied_under_a_title_of_choice(chats: ChatApi):
    chat = await talked(chats, "one", "two")

    bare = await chats.mia.raw("POST", f"{CHATS}/{chat['id']}/fork")
    named = (await fork(chats.mia, chat, title="  Another way ")).body
    again = (await fork(chats.mia, (await fork(chats.mia, chat)).body)).body

    assert bare.status == 201, "a body may be left out"
    assert named["title"] == "Another way"
    assert "forked_from_message_id" not in named
    assert again["title"] == f"{chat['title']} (fork)"
    assert len(await messages(chats.mia, again)) == len(await messages(chats.mia, chat)) == 4


@pytest.mark.parametrize("cut", [1, 3, 5])
async def test_the_model_is_told_in_a_fork_what_it_would_be_told_in_the_source(chats: ChatApi, cut: int):
    """What the source was asked after that message is what the fork is asked now."""
    await chats.mia.put("/api/experimental/chats/config/user-prompt", {"custom_prompt": "Be brief."})
    chat = await talked(chats, "one", "two", "three", system_prompt="You are an owl.")
    history = await messages(chats.mia, chat)
    said = {1: "two", 3: "three", 5: "four"}[cut]
    made = (await fork(chats.mia, chat, message_id=history[cut]["id"])).body
    if cut == 5:
        assert (await chats.send(chat, said)).status == 200
        await chats.resting(chat)
    in_source = next(asked.body for asked in chats.script.asked if asked.last_text == said)

    assert (await chats.send(made, said)).status == 200
    await chats.resting(made)

    assert chats.script.asked[-1].body == in_source
    assert await chats.said(made) == [*(await chats.said(chat))[: cut + 1], f"user: {said}", "assistant: Hi."]


async def test_a_step_is_copied_with_the_results_of_its_calls(database: Any, tmp_path: Path):
    turns = [Turn(Say("Let me look."), Call("look", "{}"), Call("look", '{"b": 1}')), Turn(Say("Seen."))]
    async with chat_api(database.dsn, tmp_path, turns) as chats:
        chat = await chats.create("look", unsafe_dynamic_tools=[TOOL])
        await chats.until(chat, "requires_action")
        waiting = (await fork(chats.mia, chat)).body
        calls = [part for part in (await messages(chats.mia, chat))[1]["content"] if part["type"] == "tool-call"]
        results = [{"tool_call_id": call["tool_call_id"], "output": "an owl"} for call in calls]
        posted = await chats.mia.post(f"{CHATS}/{chat['id']}/tool-results", {"results": results})
        await chats.resting(chat)
        history = await messages(chats.mia, chat)
        forks = [(await fork(chats.mia, chat, message_id=history[at]["id"])).body for at in (1, 2, 3, 4)]
        copies = [await messages(chats.mia, made) for made in forks]
        cancelled = (await messages(chats.mia, waiting))[2:]
        went_on = await chats.send(waiting, "and?")
        rested = await chats.resting(waiting)

    assert (posted.status, went_on.status, rested["status"]) == (204, 200, "waiting")
    assert [message["role"] for message in history] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [[one["role"] for one in copy] for copy in copies] == [
        ["user", "assistant", "tool", "tool"],
        ["user", "assistant", "tool", "tool"],
        ["user", "assistant", "tool", "tool"],
        ["user", "assistant", "tool", "tool", "assistant"],
    ]
    said = [part["result"]["error"] for message in cancelled for part in message["content"]]
    assert said == ["The chat was forked before this call was answered."] * 2


@pytest.mark.behaviour("COST-3")
async def test_what_was_copied_costs_nothing_in_the_fork(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [TURN], side=Refuse(400, "No.")) as chats:
        price = await price_of(chats)
        chat = await talked(chats, "one", "two")
        before = (await chats.mia.get(f"{CHATS}/cost/me/summary")).body
        made = (await fork(chats.mia, chat)).body
        after = (await chats.mia.get(f"{CHATS}/cost/me/summary")).body
        costs = [(await chats.mia.get(f"{CHATS}/{one['id']}/cost")).body for one in (made, chat)]
        everyone = (await chats.running.owner.get(f"{CHATS}/cost/users")).body
        copied = await messages(chats.mia, made)
        assert (await chats.send(made, "three")).status == 200
        await chats.resting(made)
        gone_on = (await chats.mia.get(f"{CHATS}/{made['id']}/cost")).body

    sums = (
        "total_cost_micros",
        "request_count",
        "unpriced_request_count",
        "runtime_ms",
        "by_model",
        "by_chat",
        "by_day",
    )
    assert {name: after[name] for name in sums} == {name: before[name] for name in sums}
    assert [(one["total_cost_micros"], one["request_count"]) for one in costs] == [(0, 0), (2 * price, 2)]
    assert [user["request_count"] for user in everyone["users"] if user["username"] == "mia"] == [2]
    assert [one["cost_micros"] for one in copied if one["role"] == "assistant"] == [0, 0]
    assert (gone_on["total_cost_micros"], gone_on["request_count"]) == (price, 1)


async def test_files_of_what_was_copied_are_there_in_the_fork_and_others_are_not(chats: ChatApi):
    one, two = [(await upload(chats.mia, PNG, name)).body["id"] for name in ("one.png", "two.png")]
    chat = await chats.create("look")
    await chats.resting(chat)
    for file in (one, two):
        sent = await chats.mia.post(
            f"{CHATS}/{chat['id']}/messages", {"content": [text("at"), {"type": "file", "file_id": file}]}
        )
        assert sent.status == 200, sent
        await chats.resting(chat)
    history = await messages(chats.mia, chat)

    made = (await fork(chats.mia, chat, message_id=history[3]["id"])).body
    both = (await chats.mia.get(f"{CHATS}/{chat['id']}")).body["files"]

    assert [file["id"] for file in made["files"]] == [one]
    assert made["files"] == both[:1]
    assert [(file["name"], file["mime_type"], file["size_bytes"]) for file in both] == [
        ("one.png", "image/png", len(PNG)),
        ("two.png", "image/png", len(PNG)),
    ]
    assert "files" not in (await chats.mia.get(CHATS)).body[0]


async def test_a_fork_that_is_asked_for_again_with_its_key_is_made_once(chats: ChatApi):
    chat = await talked(chats, "one")

    first, second = [await fork(chats.mia, chat, "k1") for _ in range(2)]
    other = await fork(chats.mia, chat, "k2")

    assert (first.status, second.status, other.status) == (201, 201, 201)
    assert first.body == second.body
    assert other.body["id"] != first.body["id"]
    assert len((await chats.mia.get(CHATS)).body) == 3


async def test_a_message_that_is_not_there_to_be_seen_can_not_be_forked_at(chats: ChatApi):
    chat = await talked(chats, "one", "two")
    first, *_, last = await messages(chats.mia, chat)
    await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}/messages/{first['id']}", {"content": [text("other")]})
    await chats.resting(chat)

    hidden, model_only, unknown = [
        await fork(chats.mia, chat, message_id=id) for id in (last["id"], first["id"] - 1, 2**60)
    ]

    assert [answer.status for answer in (hidden, model_only, unknown)] == [404, 404, 404]
    assert "essage" in hidden.body["message"]
    assert wrong(await fork(chats.mia, chat, message_id=0)) == ["message_id"]
    assert wrong(await fork(chats.mia, chat, title=" ")) == ["title"]
    assert (await fork(chats.mia, {"id": chats.model_id})).status == 404
    assert len((await chats.mia.get(CHATS)).body) == 1


async def test_who_may_read_a_chat_may_fork_it_and_has_a_chat_of_their_own(chats: ChatApi):
    chat = await talked(chats, "one")
    auditor = await chats.running.add_user("aud", "auditor")
    sam = await chats.running.add_user("sam")

    made, refused = await fork(auditor, chat), await fork(sam, chat)

    assert (made.status, refused.status) == (201, 404)
    assert made.body["owner_username"] == "aud"
    assert (await chats.mia.get(f"{CHATS}/{made.body['id']}")).status == 404
    sent = await auditor.post(f"{CHATS}/{made.body['id']}/messages", {"content": [text("go on")]})
    assert sent.status == 200
    await chats.resting(made.body, auditor)


async def test_a_chat_at_work_or_in_error_or_archived_can_be_forked(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Turn(Say("Hi.")), Refuse(400, "No.")]) as chats:
        chat = await talked(chats, "one", "two")
        failed = await fork(chats.mia, chat)
        await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"archived": True})
        archived = await fork(chats.mia, chat)

    assert chat["status"] == "error"
    assert [(answer.status, answer.body["status"], answer.body["archived"]) for answer in (failed, archived)] == [
        (201, "waiting", False),
        (201, "waiting", False),
    ]
    assert "last_error" not in failed.body
