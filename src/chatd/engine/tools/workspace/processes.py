"""process_output, process_list and process_signal: what becomes of commands that were left running."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from chatd.core.durations import seconds_of, shown_seconds
from chatd.engine.tools.tool import AfterCrash, ToolContext, ToolOutput, Traits, answered, failed
from chatd.engine.tools.typed import TypedTool
from chatd.engine.tools.workspace.execute import MOST_TIMEOUT, SNAPSHOT_SECONDS
from chatd.engine.tools.workspace.process_results import ProcessResult, ended, fitted, output_room, short_command
from chatd.engine.tools.workspace.telling import telling
from chatd.engine.tools.workspace.waiting import until_ended
from chatd.wire.agent.processes import ProcessOutput, ProcessState, SignalName
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable

DEFAULT_WAIT: Final = 10.0  # seconds
_RUNS: Final = "It still runs. Call process_output again to wait for it, or process_signal to end it."
_ID: Final = Meta(description="As in background_process_id of execute, or as process_list tells it.")


class OutputArgs(msgspec.Struct, frozen=True):
    process_id: Annotated[str, _ID]
    wait_timeout: Annotated[
        str | None,
        Meta(description="How long to wait for its end, like 90s or 5m; 10s if left out, 0s for what there is now."),
    ] = None
    model_intent: Annotated[
        str | None,
        Meta(
            description="What you wait for, shown to the user: a few plain words that begin with a verb ending in -ing,"
            " under 100 characters."
        ),
    ] = None


class ListArgs(msgspec.Struct, frozen=True):
    pass


class SignalArgs(msgspec.Struct, frozen=True):
    process_id: Annotated[str, _ID]
    signal: Annotated[
        Literal["terminate", "kill"],
        Meta(description="terminate asks it to end (SIGTERM); kill ends it at once (SIGKILL)."),
    ]


async def _output(args: OutputArgs, context: ToolContext) -> ToolOutput:
    try:
        seconds = DEFAULT_WAIT if args.wait_timeout is None else seconds_of(args.wait_timeout)
    except ValueError as error:
        return failed(f"The argument 'wait_timeout' is wrong: {error}")
    if seconds > MOST_TIMEOUT:
        return failed(f"The argument 'wait_timeout' is wrong: at most {shown_seconds(MOST_TIMEOUT)}.")
    began, id, room = context.clock.monotonic(), args.process_id.strip(), output_room(context.budget)

    async def snapshot() -> ProcessOutput:
        try:
            async with context.clock.timeout(SNAPSHOT_SECONDS, timer="snapshot"):
                asked = context.workspace.ask(lambda client: client.output(id, most_bytes=room), is_repeatable=True)
                return await asked
        except TimeoutError:
            raise AgentUnreachable("The workspace does not answer.", was_sent=True) from None

    try:
        if seconds > 0:
            client = await context.workspace.client()
            progress, clock = context.progress, context.clock
            answer = await until_ended(client, id, seconds=seconds, most_bytes=room, clock=clock, progress=progress)
        else:
            answer = await snapshot()
    except AgentUnreachable:
        answer = await snapshot()
    except AgentRefused as refused:
        if refused.status == 404:
            return failed(f"There is no process {id[:100]!r} in this chat. process_list tells which there are.")
        raise
    answer = await fitted(await context.workspace.client(), answer, context.budget)
    milliseconds = round((context.clock.monotonic() - began) * 1000)
    if answer.state is not ProcessState.RUNNING:
        result = ended(answer, milliseconds=milliseconds)
    else:
        result = ProcessResult(
            success=True,
            exit_code=0,
            wall_duration_ms=milliseconds,
            output=answer.output,
            truncated=answer.truncated,
            running=True,
            note=_RUNS,
        )
    return answered(msgspec.structs.replace(result, command=short_command(answer.command)))


async def _list(args: ListArgs, context: ToolContext) -> ToolOutput:
    found = await context.workspace.ask(lambda client: client.processes(), is_repeatable=True)
    processes = [
        msgspec.structs.replace(process, command=short_command(process.command)) for process in found.processes
    ]
    return answered({"processes": processes})


async def _signal(args: SignalArgs, context: ToolContext) -> ToolOutput:
    id, signal = args.process_id.strip(), SignalName(args.signal)
    try:
        await context.workspace.ask(lambda client: client.signal(id, signal), is_repeatable=False)
    except AgentRefused as refused:
        return answered({"success": False, "error": refused.told()})
    return answered({"success": True, "message": f"Sent {signal} to the process and all that it has started."})


def process_output_tool() -> TypedTool[OutputArgs]:
    traits = Traits(after_crash=AfterCrash.RERUN, most_seconds=MOST_TIMEOUT + 600)
    return TypedTool("process_output", OutputArgs, telling(_output), traits=traits)


def process_list_tool() -> TypedTool[ListArgs]:
    return TypedTool("process_list", ListArgs, telling(_list), traits=Traits(after_crash=AfterCrash.RERUN))


def process_signal_tool() -> TypedTool[SignalArgs]:
    """Not sent again after a crash: many programs take a second SIGTERM for "now, without saving"."""
    return TypedTool("process_signal", SignalArgs, telling(_signal, changes=True))
