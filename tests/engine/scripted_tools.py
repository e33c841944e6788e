"""Tools that do what a test says."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from chatd.core.model import ToolSpec
from chatd.engine.tools.tool import AfterCrash, ToolCall, ToolContext, ToolOutput, Traits, said

Act = Callable[[ToolCall], Awaitable[ToolOutput]]
_SCHEMA = '{"type":"object","properties":{"path":{"type":"string"}}}'


class ScriptedTool:
    """Notes its calls and does as told: by default it says what it saw."""

    def __init__(self, name: str, act: Act | None = None, traits: Traits | None = None) -> None:
        self.spec = ToolSpec(name, f"The tool {name}.", _SCHEMA)
        self.traits = traits or Traits()
        self.calls: list[ToolCall] = []
        self.settled: list[ToolCall] = []
        self.started = asyncio.Event()
        self._act = act

    async def run(self, call: ToolCall, context: ToolContext) -> ToolOutput:
        self.calls.append(call)
        self.started.set()
        return await self._act(call) if self._act else said(f"saw {call.args}")

    async def settle(self, call: ToolCall, context: ToolContext) -> ToolOutput:
        self.settled.append(call)
        return said(f"settled {call.key}")


def after_crash(rule: AfterCrash) -> Traits:
    return Traits(after_crash=rule)


def changed(traits: Traits, **values: bool) -> Traits:
    return msgspec.structs.replace(traits, **values)
