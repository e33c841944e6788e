"""Messages that wait, over HTTP: deleted, sent now, put in order, and edited while nobody sends them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from chatd.testing.vendors.script import Hold, Say, Turn
from server.chat_api import CHATS, ChatApi, chat_api, text
from server.configured_models import wrong


@asynccontextmanager
async def busy(dsn: str, data_dir: Path, *waiting: str) -> AsyncIterator[tuple[ChatApi, str, list[int], asyncio.Event]]:
    """A chat at work, with messages that wait. It ends its turn when the event is set."""
    go = asyncio.Event()
    async with chat_api(dsn, data_dir, [Turn(Say("one"), faults=(Hold(go),)), Turn(Say("more"))]) as chats:
        chat = await chats.create("1")
        sent = [(await chats.send(chat, said)).body["queued_message"]["id"] for said in waiting]
        yield chats, f"{CHATS}/{chat['id']}", sent, go
        go.set()
        await chats.resting(chat)


async def waits(chats: ChatApi, path: str) -> list[str]:
    page = (await chats.mia.get(f"{path}/messages")).body
    return [message["content"][0]["text"] for message in page["queued_messages"]]


async def test_a_message_that_waits_is_deleted_or_put_elsewhere(database: Any, tmp_path: Path):
    async with busy(database.dsn, tmp_path, "a", "b", "c") as (chats, path, (a, b, c), _):
        ordered = await chats.mia.put(f"{path}/queue", {"ids": [c, a, b]})
        order = await waits(chats, path)
        stale = await chats.mia.put(f"{path}/queue", {"ids": [a, b]})
        deleted = await chats.mia.delete(f"{path}/queue/{a}")
        again = await chats.mia.delete(f"{path}/queue/{a}")
        left = await waits(chats, path)
        no_id = await chats.mia.delete(f"{path}/queue/0")

    assert (ordered.status, order) == (204, ["c", "a", "b"])
    assert (stale.status, deleted.status, again.status, no_id.status) == (409, 204, 404, 400)
    assert left == ["c", "b"]


async def test_a_queue_that_is_empty_has_nothing_to_delete(chats: ChatApi):
    chat = await chats.create()
    await chats.resting(chat)

    answers = [
        await chats.mia.delete(f"{CHATS}/{chat['id']}/queue/1"),
        await chats.mia.post(f"{CHATS}/{chat['id']}/queue/1/promote"),
    ]

    assert {answer.status for answer in answers} <= {404, 409}


async def test_send_now_stops_the_chat_and_goes_first(database: Any, tmp_path: Path):
    async with busy(database.dsn, tmp_path, "a", "b") as (chats, path, (_, b), go):
        promoted = await chats.mia.post(f"{path}/queue/{b}/promote")
        missing = await chats.mia.post(f"{path}/queue/{b + 100}/promote")
        go.set()
        async with asyncio.timeout(30):
            while await waits(chats, path):
                await chats.resting({"id": path.rpartition("/")[2]})
        said = await chats.said({"id": path.rpartition("/")[2]})

    assert (promoted.status, promoted.body) == (202, {})
    assert missing.status == 404
    assert [line for line in said if line.startswith("user")] == ["user: 1", "user: b", "user: a"]


async def test_a_message_is_edited_while_it_waits_and_not_sent_meanwhile(database: Any, tmp_path: Path):
    async with busy(database.dsn, tmp_path, "a", "b") as (chats, path, (a, _), go):
        chat = {"id": path.rpartition("/")[2]}
        held = await chats.mia.post(f"{path}/queue/{a}/hold")
        more_time = await chats.mia.post(f"{path}/queue/{a}/hold")
        refused = await chats.mia.post(f"{path}/queue/{a}/release", {"content": []})
        go.set()
        async with asyncio.timeout(30):
            while (await waits(chats, path)) != ["a"]:
                await chats.resting(chat)
        await chats.resting(chat)
        released = await chats.mia.post(f"{path}/queue/{a}/release", {"content": [text("a, but better")]})
        await chats.resting(chat)
        again = await chats.mia.post(f"{path}/queue/{a}/release", {})
        said = await chats.said(chat)

    assert (held.status, more_time.status) == (200, 200)
    assert held.body["held_by"] == held.body["created_by"]
    assert more_time.body["held_until"] >= held.body["held_until"]
    assert wrong(refused) == ["content"]
    assert (released.status, released.body["queued"]) == (200, False)
    assert released.body["message"]["content"] == [text("a, but better")]
    assert again.status in (404, 409)
    assert [line for line in said if line.startswith("user")] == ["user: 1", "user: b", "user: a, but better"]


async def test_an_edit_that_ends_while_the_chat_is_busy_puts_the_message_back(database: Any, tmp_path: Path):
    async with busy(database.dsn, tmp_path, "a") as (chats, path, (a,), _):
        await chats.mia.post(f"{path}/queue/{a}/hold")
        released = await chats.mia.post(f"{path}/queue/{a}/release", {})
        not_held = await chats.mia.post(f"{path}/queue/{a}/release", {})

    assert released.body["queued"] is True
    assert released.body["queued_message"]["content"] == [text("a")]
    assert "held_by" not in released.body["queued_message"]
    assert not_held.status == 409
