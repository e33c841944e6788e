"""A chat with a draft that another replica left: what is shown and stored of it by the one that takes it."""

from typing import Any
from uuid import UUID

import msgspec

from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart, ToolCallPart
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.engine.episodes import Episode
from chatd.engine.tools.tool import AfterCrash
from chatd.store.transitions import Fence, NewChat, Take
from chatd.testing.vendors.script import Say, Turn
from engine.chatting import Chatting, chatting
from engine.deployment import applied, new_id, said
from engine.scripted_tools import ScriptedTool, after_crash

SAID = TextPart(text="I look.")
CALL = ToolCallPart(tool_call_id="c1", tool_name="look", args="{}")


async def left_with_a_draft(chats: Chatting) -> tuple[UUID, UUID]:
    """A chat whose replica has stored a draft and died, and that replica."""
    deployment, dead = chats.deployment, new_id()
    take = Take(dead, new_id())
    chat = NewChat(
        id=new_id(),
        organization_id=deployment.organization_id,
        owner_id=deployment.user_id,
        model_config_id=chats.model_id,
        title="A chat",
    )
    await deployment.beat(dead)
    made = await deployment.transitions.create_chat(chat, [said("hello", deployment.user_id)], take=take)
    fence = Fence(chat.id, take.runner_id, applied(made).change.history_version)
    draft = NewMessage(role=Role.ASSISTANT, parts=(SAID, CALL), model_config_id=chats.model_id, runtime_ms=5000)
    applied(await deployment.transitions.save_draft(fence, draft))
    return chat.id, dead


async def taken_over(chats: Chatting, chat: UUID, dead: UUID) -> dict[str, Any]:
    await chats.deployment.silence(dead)
    await chats.fake_clock.wait_for("acquire")
    await chats.fake_clock.advance(1)
    return await chats.resting(chat)


async def test_readers_are_shown_the_answer_of_the_draft_and_the_results_in_a_new_attempt(database: Any):
    look = ScriptedTool("look", traits=after_crash(AfterCrash.KEYED))
    episodes: list[Episode] = []
    async with chatting(database.dsn, [Turn(Say("Done."))], tools=[look]) as chats:
        chats.parts.episodes.on_open(episodes.append)
        chat, dead = await left_with_a_draft(chats)
        history = (await chats.deployment.state(chat))["history_version"]
        state = await taken_over(chats, chat, dead)
        answer = (await chats.messages(chat))[1]

    assert state["status"] == Status.WAITING, state
    parts = [msgspec.json.decode(event)["message_part"] for event in episodes[0].after(0)]
    assert [(part["role"], part["part"]["type"]) for part in parts] == [
        ("assistant", "text"),
        ("assistant", "tool-call"),
        ("tool", "tool-result"),
    ]
    assert (episodes[0].history_version, episodes[0].attempt) == (history, 2)
    assert [call.key for call in look.settled] == [f"{chat}:{history}:0"]
    # The time of the process that died counts, that of nobody does not.
    assert answer.runtime_ms is not None
    assert 5000 <= answer.runtime_ms < 6000


async def test_stopping_a_chat_whose_draft_nobody_works_on_stores_the_draft(database: Any):
    async with chatting(database.dsn, [], tools=[ScriptedTool("look")]) as chats:
        chat, dead = await left_with_a_draft(chats)
        await chats.interrupt(chat)
        state = await taken_over(chats, chat, dead)
        shown = await chats.shown(chat)
        answer = (await chats.messages(chat))[1]

    assert (state["status"], state["has_draft"]) == (Status.WAITING, False)
    assert shown[1:3] == ["assistant: I look.", "assistant calls look {}"]
    assert shown[3].startswith("look fails")
    assert answer.runtime_ms == 5000
