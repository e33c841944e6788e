"""A turn: the model is asked, its tools are run, and all of it is stored step by step."""

from typing import Any

import pytest

from chatd.core.provider_kind import ProviderKind
from chatd.core.states import Status
from chatd.testing.vendors.script import Say, Turn
from engine.chatting import chatting


@pytest.mark.parametrize(
    "kind", [ProviderKind.ANTHROPIC, ProviderKind.OPENAI, ProviderKind.OPENAI_COMPAT, ProviderKind.GOOGLE]
)
async def test_a_message_is_answered_and_the_chat_rests(database: Any, kind: ProviderKind):
    async with chatting(database.dsn, [Turn(Say("Hello", " there."))], kind=kind) as chats:
        chat = await chats.begin("hello")
        state = await chats.resting(chat)

        assert state["status"] == Status.WAITING, state
        assert await chats.shown(chat) == ["user: hello", "assistant: Hello there."]
