"""What a stream shows of tools: calls that wait for the client, and what running ones say. And what it never shows."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from chatd.core.parts import ToolResultPart
from chatd.core.preview import Preview
from chatd.core.roles import Role
from chatd.core.stream_picture import Picture
from chatd.engine.tools.live_output import LiveOutput
from chatd.testing.vendors.script import Call, Hold, Say, Think, Turn
from server.chat_api import CHATS, chat_api, text
from server.scripted import scripted_server
from server.streaming import TRANSPORTS, Transport, reading
from server.test_engine_room import PATIENCE, begin

ASK = [{"name": "ask", "description": "Ask the user.", "input_schema": {"type": "object"}}]


@pytest.mark.behaviour("STREAM-1")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_calls_that_wait_for_the_client_are_an_event(database: Any, tmp_path: Path, transport: Transport):
    turns = [Turn(Call("ask", '{"colour":', "true}", id="toolu_1")), Turn(Say("Blue it is."))]
    async with asyncio.timeout(PATIENCE), chat_api(database.dsn, tmp_path, turns) as chats:
        made = await chats.mia.post(CHATS, {"content": [text("hello")], "unsafe_dynamic_tools": ASK})
        assert made.status == 201, made
        chat = UUID(made.body["id"])
        async with reading(chats.mia, chat, transport) as reader:
            live = await reader.until("action_required")
        async with reading(chats.mia, chat, transport) as late:
            read = await late.until("action_required")

    [call] = live["action_required"]["tool_calls"]
    assert (call["tool_name"], msgspec.json.decode(call["args"])) == ("ask", {"colour": True})
    assert read["action_required"] == live["action_required"]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_last_word_of_a_running_tool_replaces_the_one_before_it(
    database: Any, tmp_path: Path, transport: Transport
):
    go_on = asyncio.Event()
    script = lambda _: Turn(Say("Wait.", " Now."), faults=[Hold(go_on, before_event=4)])  # noqa: E731
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, script) as running:
        chat = await begin(running, "hello")
        async with reading(running.owner, chat, transport) as reader:
            await reader.until("message_part")
            episode = running.replica.engine.parts.episodes.current(chat)
            assert episode is not None
            live = episode.live = LiveOutput(episode.announce)
            say = live.of("toolu_1")
            picture, said = Picture(), list[dict[str, Any]]()
            for word in ("10 %", "20 %", "90 %"):
                say(word)
            while picture.live != {"toolu_1": "90 %"}:
                event = await reader.next()
                picture.apply(event)
                said.append(event)
            live.end("toolu_1")
            episode.add(Preview(Role.TOOL, ToolResultPart(tool_call_id="toolu_1", tool_name="run", result='"done"')))
            episode.announce()
            picture.apply(await reader.next())
            go_on.set()

    assert all("id" not in event and "seq" not in event["message_part"] for event in said)
    assert said[-1]["message_part"]["part"] == {
        "type": "tool-result",
        "tool_call_id": "toolu_1",
        "result_delta": "90 %",
        "result_reset": True,
    }
    assert (picture.live, picture.parts[-1]["result"]) == ({}, "done")


@pytest.mark.behaviour("CONTENT-5")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_what_only_a_vendor_needs_is_in_no_event(database: Any, tmp_path: Path, transport: Transport):
    script = lambda _: Turn(Think("Hm,", " yes."), Say("Yes."))  # noqa: E731
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, script) as running:
        chat = await begin(running, "hello")
        async with reading(running.owner, chat, transport) as live:
            await live.resting()
        async with reading(running.owner, chat, transport) as late:
            await late.resting()

    for reader in (live, late):
        thoughts = [event for event in reader.seen if '"reasoning"' in str(event).replace("'", '"')]
        assert thoughts
        assert "provider_metadata" not in str(reader.seen)
        assert "signature" not in str(reader.seen)
