"""A chat's live stream over both transports: the full picture first, then everything that happens."""

import asyncio
from typing import Any

import pytest

from chatd.core.stream_picture import Picture
from server.streaming import TRANSPORTS, Transport, reading
from server.test_engine_room import PATIENCE, begin

DEMO: dict[str, Any] = {"demo_model": "auto"}


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_turn_is_shown_from_the_question_to_the_stored_answer(serving: Any, transport: Transport):
    async with asyncio.timeout(PATIENCE), serving(**DEMO) as running:
        chat = await begin(running, "hello")
        async with reading(running.owner, chat, transport) as reader:
            await reader.resting()
    kinds = [event["type"] for event in reader.seen]
    picture = Picture()
    for event in reader.seen:
        picture.apply(event)

    assert kinds[:3] == ["message", "queue_update", "status"]
    assert [message["role"] for message in picture.shown()["messages"]] == ["user", "assistant"]
    assert picture.parts == []
    assert all(event["chat_id"] == str(chat) for event in reader.seen)
