"""A chat's live stream over both transports: the full picture first, then everything that happens."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.clock import SystemClock
from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.stream_picture import Picture
from chatd.minting import uuid7
from chatd.store.actor import acting_as
from chatd.store.transitions import NewChat
from chatd.testing.vendors.script import Refuse, Say, Turn
from server.running import Running
from server.scripted import applied, edit, scripted_server, send
from server.streaming import TRANSPORTS, Reader, Transport, reading
from server.test_engine_room import PATIENCE, begin

DEMO: dict[str, Any] = {"demo_model": "auto"}
ANSWER = Turn(Say("a", " word"))


def picture_of(reader: Reader) -> Picture:
    picture = Picture()
    for event in reader.seen:
        picture.apply(event)
    return picture


@pytest.mark.behaviour("STREAM-1")
async def test_both_transports_show_the_same_events_in_the_same_order(database: Any, tmp_path: Path):
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, lambda _: ANSWER) as running:
        chat = await begin(running, "hello")
        async with reading(running.owner, chat, "websocket") as one, reading(running.owner, chat, "sse") as other:
            await one.resting()
            await other.resting()
            begun = len(one.seen), len(other.seen)
            await send(running, chat, "more")
            for reader in (one, other):
                await reader.until("message_part")
                await reader.until("preview_reset")

    first, second = one.seen[begun[0] :], other.seen[begun[1] :]
    assert first == second
    assert [event["type"] for event in first] == [
        "message",
        "status",
        "preview_reset",
        "message_part",
        "message_part",
        "message",
        "status",
        "preview_reset",
    ]


@pytest.mark.behaviour("STREAM-1")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_turn_is_shown_from_the_question_to_the_stored_answer(serving: Any, transport: Transport):
    async with asyncio.timeout(PATIENCE), serving(**DEMO) as running:
        chat = await begin(running, "hello")
        async with reading(running.owner, chat, transport) as reader:
            await reader.resting()
    kinds = [event["type"] for event in reader.seen]
    picture = picture_of(reader)

    assert kinds[:3] == ["message", "queue_update", "status"]
    assert [message["role"] for message in picture.shown()["messages"]] == ["user", "assistant"]
    assert picture.parts == []
    assert all(event["chat_id"] == str(chat) for event in reader.seen)


@pytest.mark.behaviour("STREAM-1")
async def test_retries_and_errors_are_events(database: Any, tmp_path: Path):
    refusals = [Refuse(529, "Overloaded."), Refuse(401, "Wrong key.")]
    script = lambda asked: refusals.pop(0) if asked.last_text == "hello" and refusals else ANSWER  # noqa: E731
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, script) as running:
        chat = await begin(running, "hello")
        async with reading(running.owner, chat, "sse") as reader:
            retry = await reader.until("retry")
            error = await reader.until("error")
        async with reading(running.owner, chat, "sse") as late:
            again = await late.until("error")

    assert (retry["retry"]["attempt"], retry["retry"]["kind"]) == (1, "overloaded")
    assert error["error"]["kind"] == again["error"]["kind"] == "auth"


async def test_after_id_leaves_messages_out_of_the_first_picture_only(database: Any, tmp_path: Path):
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, lambda _: ANSWER) as running:
        chat = await begin(running, "hello")
        async with reading(running.owner, chat, "websocket") as reader:
            await reader.resting()
        first, last = sorted(picture_of(reader).messages)
        async with reading(running.owner, chat, "websocket", after_id=first) as rest:
            await rest.resting()
        async with reading(running.owner, chat, "websocket", after_id=10**15) as none:
            await none.resting()
            await edit(running, chat, first, "another")
            await none.until("history_reset")
            await none.until("message")
        async with reading(running.owner, chat, "websocket", after_id=last) as hidden:
            await hidden.resting()

    assert list(picture_of(rest).messages) == [last]
    assert [event["type"] for event in none.seen][:2] == ["queue_update", "status"]
    assert [event["type"] for event in hidden.seen][:2] == ["history_reset", "message"], "what it has is hidden by now"


async def test_a_long_history_comes_whole_and_can_be_cut_within(database: Any, tmp_path: Path):
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, lambda _: ANSWER) as running:
        chat = await long_chat(running, 450)
        async with reading(running.owner, chat, "websocket") as reader:
            await reader.until("preview_reset")
        whole = picture_of(reader)
        ids = [event["id"] for event in reader.seen if event["type"] == "message"]
        for place in (0, 99, 100, 101, 255, 256, 449):
            async with reading(running.owner, chat, "sse", after=ids[place]) as rest:
                await rest.until("preview_reset")
            assert [event["id"] for event in rest.seen if event["type"] == "message"] == ids[place + 1 :]

    assert len(whole.messages) == 450


async def long_chat(running: Running, messages: int) -> UUID:
    """One that rests, with its answer."""
    person = await running.replica.identity.authenticate(running.owner.token)
    model = await running.replica.models.default_model()
    assert person is not None
    assert model is not None
    engine = running.replica.engine
    said = [
        NewMessage(role=Role.USER, parts=(TextPart(text=f"message {number}"),), created_by=person.user_id)
        for number in range(1, messages)
    ]
    with acting_as(person):
        organization = await running.replica.opened.store.get_default_organization()
        chat = NewChat(
            id=uuid7(SystemClock().now()),
            organization_id=organization.id,
            owner_id=person.user_id,
            model_config_id=model.config_id,
            title="A long chat",
        )
        made = applied(await engine.transitions.create_chat(chat, said, take=engine.worker.new_take()))
    engine.worker.adopt(made)
    async with reading(running.owner, chat.id, "websocket") as reader:
        await reader.resting()
    return chat.id
