"""From a chat to the agent of its workspace: where it listens and what its token is, or why there is none."""

from enum import StrEnum
from typing import Final, Protocol
from uuid import UUID

import msgspec

from chatd.core.errors import ChatdError
from chatd.core.secret import Secret


class Reason(StrEnum):
    """Why the agent of a chat's workspace can't be asked."""

    NONE = "none"  # the chat has no workspace
    DELETED = "deleted"
    STOPPED = "stopped"
    BUILDING = "building"
    FAILED = "failed"  # its last build
    UNREACHABLE = "unreachable"
    OTHER_HOST = "other_host"
    OWNER_GONE = "owner_gone"  # suspended or deleted


# What a model is told: what is the matter, and what to call next.
_SAID: Final = {
    Reason.NONE: "This chat has no workspace. Call create_workspace to get one.",
    Reason.DELETED: "The workspace of this chat was deleted. Call create_workspace to get another one.",
    Reason.STOPPED: "The workspace of this chat is stopped. Call start_workspace, then try again.",
    Reason.BUILDING: "The workspace of this chat is being built. Call start_workspace, which waits for it.",
    Reason.FAILED: "The last build of this chat's workspace failed. Call start_workspace to try it again.",
    Reason.UNREACHABLE: (
        "The workspace of this chat does not answer. Try again; if it stays so, call stop_workspace and then"
        " start_workspace."
    ),
    Reason.OTHER_HOST: (
        "The workspace of this chat is on another machine, which can't be reached from here now. Try again later, or"
        " tell the user."
    ),
    Reason.OWNER_GONE: "The owner of this chat may not use chatd any more. Nothing was done, and nothing can be.",
}


class WorkspaceUnavailable(ChatdError):
    """The message tells a model what to call next."""

    def __init__(self, reason: Reason, message: str = "", *, detail: str | None = None) -> None:
        super().__init__(message or _SAID[reason], detail=detail)
        self.reason = reason


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """`address` is `unix:PATH` or `tcp:HOST:PORT`."""

    workspace_id: UUID
    name: str
    address: str
    token: Secret
    template_name: str


class Resolver(Protocol):
    async def resolve(self, chat_id: UUID) -> Resolved:
        """Where the chat's workspace should be. Raises WorkspaceUnavailable."""
        ...

    async def recover(self, failed: Resolved) -> Resolved:
        """It did not answer there: look again, and bring a dead agent back over the same files. However many ask at
        once, it is done once, and there is never a second workspace. Raises WorkspaceUnavailable."""
        ...

    def used(self, workspace_id: UUID) -> None:
        """It is in use now. Returns at once: what was noted is stored for all workspaces together."""
        ...


class NoWorkspaces:
    """The resolver of a deployment in which no chat has a workspace."""

    async def resolve(self, chat_id: UUID) -> Resolved:
        raise WorkspaceUnavailable(Reason.NONE)

    async def recover(self, failed: Resolved) -> Resolved:
        raise WorkspaceUnavailable(Reason.NONE)

    def used(self, workspace_id: UUID) -> None:
        pass
