"""Tools within real turns: what they leave, how their results are kept in bounds, and how they end a turn."""

import asyncio
from typing import Any

import msgspec
import pytest

from chatd.core.parts import FilePart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.states import Status
from chatd.engine.episodes import Episode
from chatd.engine.tools.live_output import LiveOutput
from chatd.engine.tools.tool import ToolCall, ToolContext, ToolOutput, Traits, answered, said
from chatd.testing.vendors.script import Call, Say, Turn
from engine.chatting import chatting
from engine.deployment import new_id
from engine.scripted_tools import ScriptedTool


def attaching(file: FilePart) -> ScriptedTool:
    async def attach(call: ToolCall) -> ToolOutput:
        return answered({"done": True}, files=(file,))

    return ScriptedTool("attach", attach)


def a_file() -> FilePart:
    return FilePart(file_id=new_id(), media_type="text/plain", name="notes.txt")


async def test_files_of_tools_become_parts_of_the_answer_and_are_shown_before_the_result(database: Any):
    file = a_file()
    episodes: list[Episode] = []
    script = [Turn(Say("Here."), Call("attach", "{}")), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=[attaching(file)]) as chats:
        chats.parts.episodes.on_open(episodes.append)
        chat = await chats.begin()
        await chats.resting(chat)
        stored = await chats.messages(chat)

    assert [type(part) for part in stored[1].parts] == [TextPart, ToolCallPart, FilePart]
    assert stored[1].parts[-1] == file
    shown = [msgspec.json.decode(event)["message_part"] for event in episodes[0].after(0)]
    assert [(part["role"], part["part"]["type"]) for part in shown][-2:] == [
        ("assistant", "file"),
        ("tool", "tool-result"),
    ]
    assert shown[-2]["part"]["file_id"] == str(file.file_id)


async def test_files_of_tools_are_kept_when_the_others_of_the_step_are_stopped(database: Any):
    async def for_ever(call: ToolCall) -> ToolOutput:
        return await asyncio.Future()

    file, slow = a_file(), ScriptedTool("slow", for_ever)
    script = [Turn(Call("attach", "{}"), Call("slow", "{}"))]
    async with chatting(database.dsn, script, tools=[attaching(file), slow]) as chats:
        chat = await chats.begin()
        await chats.streamed(chat, '{"done":true}')
        await chats.fake_clock.advance(7)
        await chats.interrupt(chat)
        await chats.resting(chat)
        answer, *results = (await chats.messages(chat))[1:]

    assert answer.parts[-1] == file
    assert answer.runtime_ms == 7000  # of the whole step, tools included
    assert [part.is_error for row in results for part in row.parts if isinstance(part, ToolResultPart)] == [False, True]


async def test_a_tool_that_stops_the_turn_ends_it_without_another_call(database: Any):
    plan = ScriptedTool("propose_plan", traits=Traits(stops_turn=True))
    async with chatting(database.dsn, [Turn(Call("propose_plan", "{}"))], tools=[plan]) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)

        assert state["status"] == Status.WAITING, state
        assert len(chats.vendor.asked) == 1
        assert (await chats.shown(chat))[-1].startswith("propose_plan says")


async def test_a_result_that_is_too_long_is_stored_and_told_with_its_head_and_its_tail(database: Any):
    async def long(call: ToolCall) -> ToolOutput:
        return said("A" * 20_000 + "B" * 20_000)

    script = [Turn(Call("look", "{}")), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look", long)]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        (result,) = (await chats.messages(chat))[2].parts

    assert isinstance(result, ToolResultPart)
    assert len(result.result) <= 16 * 1024  # the least that any model gets
    output = msgspec.json.decode(result.result)["output"]
    assert output.startswith("AAA")
    assert output.endswith("BBB")
    assert "bytes are left out here" in output
    assert "bytes are left out here" in str(chats.vendor.asked[1].messages)


@pytest.mark.parametrize("args", ["", "  "])
async def test_no_arguments_at_all_are_an_empty_object(database: Any, args: str):
    look = ScriptedTool("look")
    async with chatting(database.dsn, [Turn(Call("look", args)), Turn(Say("Done."))], tools=[look]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)

    assert [call.args for call in look.calls] == ["{}"]


@pytest.mark.parametrize("is_strict", [True, False])
async def test_ambiguous_input_is_refused_unless_the_tool_takes_it(database: Any, is_strict: bool):
    look = ScriptedTool("look", traits=Traits(checks_input=is_strict))
    script = [Turn(Call("look", '{"path": "a", "path": "b"}')), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=[look]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        result = (await chats.shown(chat))[2]

    assert len(look.calls) == (not is_strict)
    assert result.startswith("look fails" if is_strict else "look says")


@pytest.mark.behaviour("LOOP-4")
async def test_a_tool_that_cancels_itself_has_no_result_and_the_turn_goes_on(database: Any):
    async def give_up(call: ToolCall) -> ToolOutput:
        raise asyncio.CancelledError

    serial = Traits(is_serial=True)
    tools = [ScriptedTool("one", give_up), ScriptedTool("two", give_up, serial), ScriptedTool("three")]
    script = [Turn(Call("one", "{}"), Call("two", "{}"), Call("three", "{}")), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=tools) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING, state
    results = [line.split(" ")[:2] for line in shown if " says " in line or " fails " in line]
    assert results == [["one", "fails"], ["two", "fails"], ["three", "says"]]


class Talking(ScriptedTool):
    """Says how far it is, and then waits for the test."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        super().__init__("slow")

    async def run(self, call: ToolCall, context: ToolContext) -> ToolOutput:
        context.progress("10 %")
        context.progress("20 %")
        self.started.set()
        await self.go.wait()
        return said("done")


async def test_what_a_running_tool_says_is_live_until_it_has_its_result(database: Any):
    tool = Talking()
    lives: list[LiveOutput] = []
    async with chatting(database.dsn, [Turn(Call("slow", "{}")), Turn(Say("Done."))], tools=[tool]) as chats:
        chat = await chats.begin()
        await asyncio.wait_for(tool.started.wait(), 20)
        episode = chats.parts.episodes.current(chat)
        assert episode is not None
        assert episode.live is not None
        lives.append(episode.live)
        said_so_far = [said.text for said in episode.live.after(0)]
        numbered = b"".join(episode.after(0))
        tool.go.set()
        await chats.resting(chat)

    assert said_so_far == ["20 %"]
    assert b"20 %" not in numbered
    assert lives[0].after(0) == []
