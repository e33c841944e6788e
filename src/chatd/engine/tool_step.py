"""The tools of a step: run together, or settled after a crash. Every call gets a result."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from chatd.clock import Clock
from chatd.core.parts import ToolCallPart, ToolResultPart
from chatd.core.times import iso
from chatd.core.tool_input import input_problem
from chatd.engine.meter import OTHER_TOOL, ToolMeasure
from chatd.engine.tools.results import Capped, capped, result_budget
from chatd.engine.tools.tool import AfterCrash, Tool, ToolCall, ToolContext, ToolOutput, failed
from chatd.engine.tools.toolset import Toolset
from chatd.observe.logs import get_logger

_log = get_logger("chatd.tools")

ALONE = "This tool must be called alone. Nothing was run; call it again by itself."
SKIPPED = "This call was not run, because {name} was called with it and must be called alone."
UNKNOWN_OUTCOME = (
    "The server stopped while this tool was running. Whether it did its work is not known: check before you do it"
    " again."
)


class Done(msgspec.Struct, frozen=True):
    """The result of a call, and the files that it left."""

    part: ToolResultPart
    output: ToolOutput


class ToolStep:
    """`tell` is called with each result as it comes."""

    def __init__(
        self,
        tools: Toolset,
        context: Callable[[ToolCall], ToolContext],
        *,
        context_limit: int,
        clock: Clock,
        tell: Callable[[Done], None],
        measure: Callable[[str], ToolMeasure],
    ) -> None:
        self._tools = tools
        self._context = context
        self._budget = result_budget(context_limit)
        self._clock = clock
        self._tell = tell
        self._measure = measure

    async def run(self, calls: Sequence[tuple[str, ToolCallPart]]) -> None:
        """Each call with its key. All at once, but for serial ones, which follow in order."""
        await self._all(calls, settle=False)

    async def settle(self, calls: Sequence[tuple[str, ToolCallPart]]) -> None:
        """As the tool of each says for calls that another process has begun, or was about to."""
        await self._all(calls, settle=True)

    async def _all(self, calls: Sequence[tuple[str, ToolCallPart]], *, settle: bool) -> None:
        serial: list[tuple[str, ToolCallPart]] = []
        async with asyncio.TaskGroup() as group:
            for key, call in calls:
                tool = self._tools.find(call.tool_name)
                if not isinstance(tool, str) and tool.traits.is_serial:
                    serial.append((key, call))
                else:
                    group.create_task(self._one(key, call, settle=settle), name=f"tool {call.tool_name}")
        for key, call in serial:
            await self._one(key, call, settle=settle)

    def refuse_company(self, calls: Sequence[ToolCallPart]) -> bool:
        """An exclusive tool in company, be it a tool of the client's: nothing runs, and every call is told why."""
        exclusive = next((call.tool_name for call in calls if self._is_exclusive(call.tool_name)), None)
        if exclusive is None or len(calls) == 1:
            return False
        for call in calls:
            alone = self._is_exclusive(call.tool_name)
            with self._measure(self._registered(call.tool_name)) as measured:
                told = failed(ALONE if alone else SKIPPED.format(name=exclusive))
                self._done(call, capped(told, self._budget), measured)
        return True

    def _is_exclusive(self, name: str) -> bool:
        tool = self._tools.find(name)
        return not isinstance(tool, str) and tool.traits.is_exclusive

    def _registered(self, name: str) -> str:
        tool = self._tools.find(name)
        return OTHER_TOOL if isinstance(tool, str) else tool.spec.name

    async def _one(self, key: str, call: ToolCallPart, *, settle: bool) -> None:
        with self._measure(self._registered(call.tool_name)) as measured:
            self._done(call, await self._tried(key, call, settle=settle), measured)

    async def _tried(self, key: str, call: ToolCallPart, *, settle: bool) -> Capped:
        output = failed("The tool gave up without a result.")  # if it cancels itself
        try:
            return capped(await self._output(key, call, settle=settle), self._budget)
        except Exception as error:  # noqa: BLE001 - the model is told, and goes on
            _log.error("a tool failed", tool=call.tool_name, tool_call_id=call.tool_call_id, exc_info=error)
            output = failed(f"The tool failed: {str(error) or type(error).__name__}")
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
        return capped(output, self._budget)

    async def _output(self, key: str, call: ToolCallPart, *, settle: bool) -> ToolOutput:
        tool = self._tools.find(call.tool_name)
        if isinstance(tool, str):
            return failed(tool)
        args = call.args.strip() or "{}"
        if problem := input_problem(args, tool.spec.input_schema, is_strict=tool.traits.checks_input):
            return failed(problem)
        asked = ToolCall(key, call.tool_call_id, tool.spec.name, args)
        limit, began = tool.traits.most_seconds, self._clock.monotonic()
        try:
            async with self._clock.timeout(limit, timer="tool limit"):
                return await self._settled(tool, asked) if settle else await tool.run(asked, self._context(asked))
        except TimeoutError:
            if self._clock.monotonic() - began < limit:
                raise  # the tool's own
            return failed(f"The tool did not end within {limit:.0f} seconds and was stopped.")

    async def _settled(self, tool: Tool, call: ToolCall) -> ToolOutput:
        match tool.traits.after_crash:
            case AfterCrash.RERUN:
                return await tool.run(call, self._context(call))
            case AfterCrash.KEYED:
                return await tool.settle(call, self._context(call))
            case AfterCrash.UNKNOWN_OUTCOME:
                return failed(UNKNOWN_OUTCOME)

    def _done(self, call: ToolCallPart, short: Capped, measured: ToolMeasure) -> None:
        if short.removed:
            _log.info("a result was cut", tool=call.tool_name, removed=short.removed)
        measured.result(_size(short.output.result), is_error=short.output.is_error, is_cut=short.removed > 0)
        self._tell(Done(self.part(call, short.output), short.output))

    def part(self, call: ToolCallPart, output: ToolOutput) -> ToolResultPart:
        """The result of a call, as of now."""
        return ToolResultPart(
            tool_call_id=call.tool_call_id,
            tool_name=call.tool_name,
            mcp_server_config_id=call.mcp_server_config_id,
            result=output.result,
            is_error=output.is_error,
            is_media=output.is_media,
            created_at=iso(self._clock.now()),
        )


def _size(text: str) -> int:
    """In bytes. Most results are plain, and that is known without a look at them."""
    return len(text) if text.isascii() else len(text.encode())
