"""Calls of a process that is gone: settled as their tools say, serial ones in order."""

import asyncio
from typing import Any

from chatd.core.parts import ToolCallPart
from chatd.engine.meter import NO_METER
from chatd.engine.tool_step import Done, ToolStep
from chatd.engine.tools.tool import AfterCrash, ToolCall, ToolOutput, Traits, said
from chatd.engine.tools.toolset import Toolset
from chatd.testing.fake_clock import FakeClock
from engine.scripted_tools import ScriptedTool


async def test_serial_tools_are_settled_one_after_the_other_when_the_others_are_done():
    model: Any = None
    context: Any = None
    running: set[str] = set()
    together: list[set[str]] = []
    done: list[Done] = []

    async def act(call: ToolCall) -> ToolOutput:
        running.add(call.name)
        for _ in range(3):
            await asyncio.sleep(0)  # noqa: TID251 - let others begin
        together.append(set(running))
        running.discard(call.name)
        return said("done")

    reads, serial = Traits(after_crash=AfterCrash.RERUN), Traits(after_crash=AfterCrash.RERUN, is_serial=True)
    tools = [ScriptedTool("one", act, serial), ScriptedTool("look", act, reads), ScriptedTool("two", act, serial)]
    step = ToolStep(
        Toolset(tools),
        lambda call: context,
        context_limit=0,
        clock=FakeClock(),
        tell=done.append,
        measure=lambda name: NO_METER.tool(model, name),
    )
    names = ["one", "look", "two"]
    await step.settle([(name, ToolCallPart(tool_call_id=name, tool_name=name, args="{}")) for name in names])

    assert together == [{"look"}, {"one"}, {"two"}]
    assert [result.part.tool_call_id for result in done] == ["look", "one", "two"]
