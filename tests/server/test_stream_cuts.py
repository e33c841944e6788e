"""A client that is cut between any two events of one look at a chat gets the rest of them, and nothing twice."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.core.stream_picture import Picture
from chatd.server.stream import reading as pages
from chatd.testing.vendors.script import Call, Refuse, Say, Turn
from server.chat_api import CHATS, ChatApi, chat_api, text
from server.streaming import TRANSPORTS, Event, Transport, reading

PATIENCE = 60
ASK = [{"name": "ask", "description": "Ask the user.", "input_schema": {"type": "object"}}]
HI = Turn(Say("Hi."))


def folded(events: Sequence[Event]) -> Picture:
    picture = Picture()
    for event in events:
        picture.apply(event)
    return picture


async def look(chats: ChatApi, chat: str, transport: Transport, **begin: Any) -> list[Event]:
    """All that a chat at rest has to say."""
    async with reading(chats.mia, UUID(chat), transport, **begin) as reader:
        await reader.until("preview_reset")
    return reader.seen


async def cut_everywhere(chats: ChatApi, chat: str, transport: Transport, had: Sequence[Event]) -> list[Event]:
    """Cut a look at a chat after each of its events, where the client has seen others before."""
    last = folded(had).last_id
    seen = await look(chats, chat, transport, **({"after": last} if last else {}))
    whole = folded([*had, *seen]).shown()
    for place in range(1, len(seen)):
        before = [*had, *seen[:place]]
        picture = folded(before)
        assert picture.last_id is not None
        async with reading(chats.mia, UUID(chat), transport, after=picture.last_id) as reader:
            while picture.shown() != whole or picture.last_id != seen[-1]["id"]:
                picture.apply(await reader.next())
        assert_each_once([*before, *reader.seen])
    assert whole == folded(await look(chats, chat, transport)).shown(), "who has seen nothing sees the same"
    return seen


def assert_each_once(events: Sequence[Event]) -> None:
    since = max((place for place, event in enumerate(events) if event["type"] == "history_reset"), default=0)
    ids = [event["message"]["id"] for event in events[since:] if event["type"] == "message"]
    assert ids == sorted(set(ids))


@pytest.mark.behaviour("STREAM-7")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_within_the_first_picture_of_a_long_chat_and_after_an_edit(
    database: Any, tmp_path: Path, transport: Transport, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pages, "PAGE_ROWS", 3)  # so that a look is several pages
    async with asyncio.timeout(PATIENCE), chat_api(database.dsn, tmp_path, [HI]) as chats:
        chat = await chats.create("one")
        await chats.resting(chat)
        for said in ("two", "three", "four"):
            assert (await chats.send(chat, said)).status == 200
            await chats.resting(chat)
        first = await cut_everywhere(chats, chat["id"], transport, [])
        second = [event["message"]["id"] for event in first if event["type"] == "message"][2]
        edited = await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}/messages/{second}", {"content": [text("2")]})
        assert edited.status == 200, edited
        await chats.resting(chat)
        again = await cut_everywhere(chats, chat["id"], transport, first)

    assert [event["type"] for event in first].count("message") == 8
    assert [event["type"] for event in again][:5] == ["history_reset", *["message"] * 4]


@pytest.mark.behaviour("STREAM-7")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_between_a_status_and_its_reason(database: Any, tmp_path: Path, transport: Transport):
    turns = [Turn(Call("ask", "{}", id="toolu_1")), HI, Refuse(401, "The key is wrong.")]
    async with asyncio.timeout(PATIENCE), chat_api(database.dsn, tmp_path, turns) as chats:
        chat = await chats.create("hello", unsafe_dynamic_tools=ASK)
        await chats.until(chat, "requires_action")
        asked = await cut_everywhere(chats, chat["id"], transport, [])
        results = {"results": [{"tool_call_id": "toolu_1", "output": 1}]}
        assert (await chats.mia.post(f"{CHATS}/{chat['id']}/tool-results", results)).status == 204
        await chats.resting(chat)
        await chats.send(chat, "more")
        await chats.until(chat, "error")
        failed = await cut_everywhere(chats, chat["id"], transport, asked)

    assert [event["type"] for event in asked][-3:] == ["status", "action_required", "preview_reset"]
    assert [event["type"] for event in failed][-3:] == ["status", "error", "preview_reset"]
