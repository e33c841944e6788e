"""A chat from its first message to its answer, over HTTP."""

from pathlib import Path
from typing import Any

from chatd.testing.vendors.script import Say, Turn
from server.chat_api import CHATS, chat_api, text


async def test_a_message_begins_a_chat_that_is_answered(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Turn(Say("Hi ", "there."))]) as chats:
        chat = await chats.create("Say hi")
        rested = await chats.resting(chat)
        page = (await chats.mia.get(f"{CHATS}/{chat['id']}/messages")).body

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
