"""Waits for a command, one request at a time, and shows what it says meanwhile."""

from collections.abc import Callable
from typing import Final

from chatd.clock import Clock
from chatd.wire.agent.processes import ProcessOutput, ProcessState
from chatd.workspaces.agents.client import WAIT_SECONDS, AgentClient

# Between two looks at what a command says only its end is waited for, so long: it may say something all the time. It is
# also the first wait, since most commands end within it, and cost no other request.
SHOW_SECONDS: Final = 0.2


async def until_ended(
    client: AgentClient,
    process_id: str,
    *,
    seconds: float,
    most_bytes: int,
    clock: Clock,
    progress: Callable[[str], None],
) -> ProcessOutput:
    """All that is kept of the output, at the command's end or after so long.

    The agent does the waiting, and answers when there is something to tell; nothing is asked for the sake of asking.
    """
    deadline = clock.monotonic() + seconds
    answer = await client.output(process_id, wait_seconds=min(seconds, SHOW_SECONDS), most_bytes=most_bytes)
    only_end = False
    while answer.state is ProcessState.RUNNING and (left := deadline - clock.monotonic()) > 0:
        progress(answer.output)
        answer = await client.output(
            process_id,
            since=None if only_end else answer.version,
            wait_seconds=min(left, SHOW_SECONDS if only_end else WAIT_SECONDS),
            most_bytes=most_bytes,
        )
        only_end = not only_end
    return answer
