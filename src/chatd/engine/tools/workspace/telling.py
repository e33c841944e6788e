"""What a model is told when its workspace could not do what a tool asked of it."""

from typing import Final, TypeVar

import msgspec

from chatd.core.errors import ChatdError
from chatd.engine.tools.tool import ToolContext, ToolOutput, failed
from chatd.engine.tools.typed import Run
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable
from chatd.workspaces.resolving import WorkspaceUnavailable

Args = TypeVar("Args", bound=msgspec.Struct)

UNKNOWN: Final = (
    "The connection to the workspace broke while this was under way. Whether it was done is not known: look before you"
    " do it again."
)
MISHAPS: Final = (WorkspaceUnavailable, AgentRefused, AgentUnreachable)


def telling(run: Run[Args], *, changes: bool = False) -> Run[Args]:
    """The same, with such mishaps as results. Of what `changes` something nobody may know whether it was done."""

    async def told(args: Args, context: ToolContext) -> ToolOutput:
        try:
            return await run(args, context)
        except AgentUnreachable as error:
            return failed(UNKNOWN if changes and error.was_sent else f"{words_of(error)} Try again.")
        except MISHAPS as error:
            return failed(words_of(error))

    return told


def words_of(error: ChatdError) -> str:
    """All that a mishap says, without how it was asked for."""
    if isinstance(error, AgentRefused):
        return error.told()
    return f"{error.message} ({error.detail})" if error.detail else error.message
