"""The routes of commands."""

import signal
from collections.abc import Mapping
from typing import Final

from chatd.agent.processes.head_tail import MOST_BYTES
from chatd.agent.processes.process import Process
from chatd.agent.processes.processes import Found, Processes
from chatd.agent.request import Request
from chatd.agent.response import Response, answer
from chatd.agent.routes import Route
from chatd.clock import Clock
from chatd.core.errors import Conflict, InvalidRequest
from chatd.wire.agent.health import Done
from chatd.wire.agent.processes import (
    AcknowledgeProcesses,
    ListedProcess,
    OutputQuery,
    ProcessList,
    ProcessOutput,
    ProcessState,
    SendSignal,
    SignalName,
    StartedProcess,
    StartProcess,
    StdinWritten,
    Truncated,
    WriteStdin,
)

WAIT_SECONDS: Final = 300.0  # the longest one request waits; a longer wait asks again
ANSWER_SECONDS: Final = 30.0  # after a wait, for the client to read the answer
_MOST_START_BYTES: Final = 2 * 1024 * 1024  # a command has at most 128 KiB, the environment a few times that
_MOST_STDIN_BYTES: Final = 1024 * 1024  # of JSON; more is sent in pieces

_SIGNALS: Final[Mapping[SignalName, signal.Signals]] = {
    SignalName.TERMINATE: signal.SIGTERM,
    SignalName.KILL: signal.SIGKILL,
    SignalName.INTERRUPT: signal.SIGINT,
}
_UNKNOWN: Final = (
    "This command was started, or about to be, when the workspace's agent died. It may have run wholly, in part or not "
    "at all, and its output is lost. It was not started again: look at what it did before you repeat it."
)


class ProcessRoutes:
    def __init__(self, processes: Processes, clock: Clock) -> None:
        self._processes = processes
        self._clock = clock

    def routes(self) -> tuple[Route, ...]:
        one = "/processes/{id}"
        waiting = WAIT_SECONDS + ANSWER_SECONDS
        return (
            Route("POST", "/processes", self._start, fenced=True),
            Route("GET", "/processes", self._list),
            Route("GET", f"{one}/output", self._output, deadline_seconds=waiting),
            Route("POST", f"{one}/signal", self._signal, fenced=True),
            Route("POST", f"{one}/stdin", self._stdin, fenced=True),
            Route("DELETE", f"{one}/key", self._acknowledge, fenced=True),
            Route("POST", "/processes/acknowledged", self._acknowledge_all, fenced=True),
        )

    async def _start(self, request: Request) -> Response:
        asked = await request.json(StartProcess, most_bytes=_MOST_START_BYTES)
        process, fresh = await self._processes.start(request.caller, asked)
        return answer(StartedProcess(process.id, fresh, _state(process)), status=201 if fresh else 200)

    async def _list(self, request: Request) -> Response:
        return answer(ProcessList(tuple(_listed(process) for process in self._processes.listed(request.caller))))

    async def _output(self, request: Request) -> Response:
        query = request.query(OutputQuery)
        process = self._processes.find(request.caller, request.arguments["id"])
        seconds = WAIT_SECONDS if query.wait_seconds is None else query.wait_seconds
        if not 0 <= seconds <= WAIT_SECONDS:
            raise InvalidRequest(f"wait_seconds must be from 0 to {WAIT_SECONDS:g}.")
        if isinstance(process, Process) and process.is_running and (query.wait or query.since is not None):
            async with request.while_connected():
                await self._wait(process, query, seconds)
        return answer(_output(process, query.most_bytes))

    async def _wait(self, process: Process, query: OutputQuery, seconds: float) -> None:
        try:
            async with self._clock.timeout(seconds, timer="output wait"):
                if query.since is not None:
                    await process.wait_for_more(query.since)
                else:
                    await process.wait_for_exit()
        except TimeoutError:
            pass  # it still runs, and the answer says so

    async def _signal(self, request: Request) -> Response:
        asked = await request.json(SendSignal)
        try:
            self._processes.find(request.caller, request.arguments["id"]).send(_SIGNALS[asked.signal])
        except ProcessLookupError as error:
            raise Conflict("This process has ended; nothing was sent to it.") from error
        return answer(Done())

    async def _stdin(self, request: Request) -> Response:
        asked = await request.json(WriteStdin, most_bytes=_MOST_STDIN_BYTES)
        process = self._processes.find(request.caller, request.arguments["id"])
        if not isinstance(process, Process):
            raise Conflict("The input of this process is closed.")
        text = asked.text.encode("utf-8", "surrogateescape")
        written = await process.write(text)
        if asked.close and written == len(text):
            process.close_stdin()
        return answer(StdinWritten(written, process.stdin_is_closed))

    async def _acknowledge(self, request: Request) -> Response:
        self._processes.acknowledge(request.caller, request.arguments["id"])
        return answer(Done())

    async def _acknowledge_all(self, request: Request) -> Response:
        asked = await request.json(AcknowledgeProcesses)
        if request.caller.chat_id is None or not asked.keep:
            raise InvalidRequest("Say for which chat, and which keys are still needed.")
        self._processes.acknowledge_all(request.caller.chat_id, keep=asked.keep)
        return answer(Done())


def _state(process: Found) -> ProcessState:
    if process.end is not None:
        return ProcessState.EXITED
    return ProcessState.RUNNING if isinstance(process, Process) else ProcessState.UNKNOWN


def _listed(process: Found) -> ListedProcess:
    return ListedProcess(
        id=process.id,
        command=process.record.command,
        workdir=process.record.workdir,
        background=process.record.background,
        state=_state(process),
        running=process.is_running,
        started_at_unix=int(process.record.started_at),
        exited_at_unix=process.end.exited_at_unix if process.end is not None else None,
        exit_code=process.end.exit_code if process.end is not None else None,
    )


def _output(process: Found, most_bytes: int | None) -> ProcessOutput:
    """The state is read before the output: an exit that is told comes with all there is."""
    state, running = _state(process), process.is_running
    shown = process.kept().shown(MOST_BYTES if most_bytes is None else most_bytes)
    return ProcessOutput(
        id=process.id,
        command=process.record.command,
        state=state,
        running=running,
        version=process.version,
        output=shown.text,
        exit_code=process.end.exit_code if process.end is not None else None,
        signal=process.end.signal if process.end is not None else None,
        truncated=Truncated(shown.total, shown.total - shown.omitted, shown.omitted) if shown.omitted else None,
        note=_UNKNOWN if state is ProcessState.UNKNOWN else None,
    )
