"""execute: run a command in the workspace and wait for it, or leave it running."""

from collections.abc import Mapping
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from chatd.core.durations import seconds_of, shown_seconds
from chatd.core.shell_background import without_background
from chatd.engine.tools.tool import AfterCrash, ToolContext, ToolOutput, Traits, answered, failed
from chatd.engine.tools.typed import TypedTool
from chatd.engine.tools.workspace.process_results import NO_EXIT_CODE, ProcessResult, ended, fitted, output_room
from chatd.engine.tools.workspace.telling import MISHAPS, telling, words_of
from chatd.engine.tools.workspace.waiting import until_ended
from chatd.wire.agent.processes import ProcessOutput, ProcessState, StartedProcess, StartProcess
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable

DEFAULT_TIMEOUT: Final = 10.0  # seconds; most commands take less, and a model can ask for more
MOST_TIMEOUT: Final = 24 * 3600.0  # a turn that waits for a day waits for nothing
SNAPSHOT_SECONDS: Final = 30.0  # for what can still be had of a command after the connection broke
_STILL: Final = "Read its output with process_output, or end it with process_signal."

# Nobody sits at a terminal: nothing asks, pages or colours. The browser session is the chat's own.
_ENVIRONMENT: Final[Mapping[str, str]] = {
    "AGENT_CHAT": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}


class ExecuteArgs(msgspec.Struct, frozen=True):
    command: Annotated[str, Meta(description="The command, for a POSIX shell: it is run with sh -c.")]
    timeout: Annotated[
        str | None,
        Meta(
            description="How long to wait for the command, like 90s, 5m or 1h30m; 10s if left out. A command that takes"
            " longer is not stopped: it goes on running, and its process id comes back. Of no effect with"
            " run_in_background."
        ),
    ] = None
    workdir: Annotated[
        str | None, Meta(description="Absolute path of the directory to run it in. If left out, the workspace's own.")
    ] = None
    run_in_background: Annotated[
        bool,
        Meta(
            description="Whether to leave the command running instead of waiting for it. True: the call returns at once"
            " with background_process_id, by which process_output, process_list and process_signal know it; for"
            " servers, watchers and whatever else does not end by itself. False or left out: wait for the end, for at"
            " most the timeout, and get the output. Use this, and never an & at the end of the command."
        ),
    ] = False
    model_intent: Annotated[
        str | None,
        Meta(
            description="What this is for, shown to the user: a few plain words that begin with a verb ending in -ing,"
            " under 100 characters, without the command, a duration or the word background."
        ),
    ] = None


async def _execute(args: ExecuteArgs, context: ToolContext) -> ToolOutput:
    """The call's key is that of the process: asked again after a crash, this finds what it has started."""
    if not args.command.strip():
        return failed("The command is empty. Call the tool again with one.")
    try:
        seconds = DEFAULT_TIMEOUT if args.timeout is None else seconds_of(args.timeout)
    except ValueError as error:
        return failed(f"The argument 'timeout' is wrong: {error}")
    if seconds > MOST_TIMEOUT:
        most = shown_seconds(MOST_TIMEOUT)
        return failed(f"The argument 'timeout' is wrong: at most {most}. Use run_in_background for what never ends.")
    foreground = without_background(args.command)
    in_background = args.run_in_background or foreground.was_background
    asked = StartProcess(
        key=context.key,
        command=foreground.command,
        workdir=args.workdir or None,
        env={**_ENVIRONMENT, "AGENT_BROWSER_SESSION": str(context.chat_id)},
        background=in_background,
        stdin=False,
    )
    began = context.clock.monotonic()
    await context.workspace.acknowledge()
    context.workspace.started()
    try:
        started = await context.workspace.ask(lambda client: client.start(asked), is_repeatable=True)
    except AgentRefused as refused:
        return answered(ProcessResult(success=False, exit_code=NO_EXIT_CODE, wall_duration_ms=0, error=refused.told()))
    if in_background and started.state is ProcessState.RUNNING:
        return answered(_backgrounded(started))
    context.if_cut(_interrupted(started))
    waiting = _Waiting(context, started.id, seconds, began)
    return answered(await waiting.result(_advice(args.command)))


class _Waiting:
    def __init__(self, context: ToolContext, process_id: str, seconds: float, began: float) -> None:
        self._context = context
        self._id = process_id
        self._seconds = seconds
        self._began = began
        self._room = output_room(context.budget)

    async def result(self, note: str | None) -> ProcessResult:
        context = self._context
        try:
            client = await context.workspace.client()
            answer = await until_ended(
                client,
                self._id,
                seconds=self._seconds,
                most_bytes=self._room,
                clock=context.clock,
                progress=context.progress,
            )
            answer = await fitted(client, answer, context.budget)
        except AgentUnreachable as lost:
            return await self._snapshot(lost, note)
        if answer.state is not ProcessState.RUNNING:
            return ended(answer, milliseconds=self._milliseconds, note=note)
        waited = shown_seconds(self._seconds)
        return self._running(answer, f"The command did not end within {waited} and goes on running. {_STILL}")

    async def _snapshot(self, lost: AgentUnreachable, note: str | None) -> ProcessResult:
        """The connection broke while it was waited for: once more, without waiting."""
        context = self._context
        try:
            async with context.clock.timeout(SNAPSHOT_SECONDS, timer="snapshot"):
                answer = await context.workspace.ask(
                    lambda client: client.output(self._id, most_bytes=self._room), is_repeatable=True
                )
                answer = await fitted(await context.workspace.client(), answer, context.budget)
        except (*MISHAPS, TimeoutError) as error:
            again = words_of(error) if isinstance(error, MISHAPS) else f"No answer within {SNAPSHOT_SECONDS:g} seconds."
            return ProcessResult(
                success=False,
                exit_code=NO_EXIT_CODE,
                wall_duration_ms=self._milliseconds,
                error=f"The command was started, but waiting for it failed: {words_of(lost)} Asking for its output"
                f" failed too: {again} It may still run. Try process_output with its id.",
                background_process_id=self._id,
            )
        if answer.state is not ProcessState.RUNNING:
            return ended(answer, milliseconds=self._milliseconds, note=note)
        return self._running(answer, f"Waiting for the command failed: {words_of(lost)} It goes on running. {_STILL}")

    def _running(self, answer: ProcessOutput, error: str) -> ProcessResult:
        return ProcessResult(
            success=False,
            exit_code=NO_EXIT_CODE,
            wall_duration_ms=self._milliseconds,
            output=answer.output,
            error=error,
            truncated=answer.truncated,
            background_process_id=self._id,
            running=True,
        )

    @property
    def _milliseconds(self) -> int:
        return round((self._context.clock.monotonic() - self._began) * 1000)


def _backgrounded(started: StartedProcess) -> ProcessResult:
    return ProcessResult(
        success=True, exit_code=0, wall_duration_ms=0, background_process_id=started.id, backgrounded=True
    )


def _interrupted(started: StartedProcess) -> ToolOutput:
    """A command outlives the turn that it was started in."""
    output = answered(
        ProcessResult(
            success=False,
            exit_code=NO_EXIT_CODE,
            wall_duration_ms=0,
            error=f"The user interrupted this turn. The command was not stopped and may still run. {_STILL}",
            background_process_id=started.id,
        )
    )
    return msgspec.structs.replace(output, is_error=True)


def _advice(command: str) -> str | None:
    words = command.split()
    if len(words) == 2 and words[0] == "cat":
        return "read_file reads files too, with numbered lines and in pages."
    return None


def execute_tool() -> TypedTool[ExecuteArgs]:
    # It waits at most as long as it was told, and a little for what went wrong.
    traits = Traits(after_crash=AfterCrash.KEYED, most_seconds=MOST_TIMEOUT + 600)
    run = telling(_execute)
    return TypedTool("execute", ExecuteArgs, run, settle=run, traits=traits)
