"""What models are told of commands: one shape for those that were waited for, left running or asked about."""

from typing import Final

import msgspec

from chatd.core.cut import cut_middle, json_bytes
from chatd.wire.agent.processes import ProcessOutput, ProcessState, Truncated
from chatd.workspaces.agents.client import AgentClient

MOST_OUTPUT_BYTES: Final = 32 * 1024  # as much as an agent shows at once, and about 8000 tokens
_LEAST_OUTPUT_BYTES: Final = 1024  # an agent shows no less; written as JSON that is 6 KiB at the most
_BESIDE_BYTES: Final = 4096  # for all of a result that is not output
_COMMAND_BYTES: Final = 512  # of a command, to know it again
NO_EXIT_CODE: Final = -1


class ProcessResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`exit_code` is -1 where there is none. `truncated` says how much of the output is left out."""

    success: bool
    exit_code: int
    wall_duration_ms: int
    output: str = ""
    error: str | None = None
    note: str | None = None
    truncated: Truncated | None = None
    signal: str | None = None
    background_process_id: str | None = None
    backgrounded: bool = False
    running: bool = False
    command: str | None = None


def output_room(budget: int) -> int:
    """How much output to ask for so that a result fits, as far as it can be known before."""
    return max(_LEAST_OUTPUT_BYTES, min(MOST_OUTPUT_BYTES, budget - _BESIDE_BYTES))


async def fitted(client: AgentClient, answer: ProcessOutput, budget: int) -> ProcessOutput:
    """An output with so many control characters that it would not fit is asked for again, shorter: the agent's cut
    stays the only one."""
    room = budget - _BESIDE_BYTES
    asked = len(answer.output.encode())
    while (size := json_bytes(answer.output)) > room and asked > _LEAST_OUTPUT_BYTES:
        asked = max(_LEAST_OUTPUT_BYTES, min(asked // 2, asked * room // size))
        answer = await client.output(answer.id, most_bytes=asked)
    return answer


def ended(answer: ProcessOutput, *, milliseconds: int, note: str | None = None) -> ProcessResult:
    """Of a command that does not run any more; of one whose end nobody knows, that."""
    if answer.state is ProcessState.UNKNOWN:
        return ProcessResult(
            success=False,
            exit_code=NO_EXIT_CODE,
            wall_duration_ms=milliseconds,
            error=answer.note,
            background_process_id=answer.id,
            running=answer.running,
        )
    code = NO_EXIT_CODE if answer.exit_code is None else answer.exit_code
    return ProcessResult(
        success=code == 0,
        exit_code=code,
        wall_duration_ms=milliseconds,
        output=answer.output,
        truncated=answer.truncated,
        signal=answer.signal,
        note=note,
    )


def short_command(command: str) -> str:
    return cut_middle(command, _COMMAND_BYTES).text
