"""What there is of workspaces and their builds, by name: as the database and the API call it."""

from enum import StrEnum


class ProvisionerKind(StrEnum):
    """What makes a template's workspaces."""

    LOCAL = "local"
    DOCKER = "docker"


class BuildTransition(StrEnum):
    """What a build makes of a workspace."""

    START = "start"
    STOP = "stop"
    DELETE = "delete"


class BuildStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return self not in (BuildStatus.PENDING, BuildStatus.RUNNING)


class BuildReason(StrEnum):
    """Why there was a build."""

    INITIATOR = "initiator"  # someone asked for it
    CHAT = "chat"  # the model of a chat asked for it
    AUTOSTOP = "autostop"
    RECOVERY = "recovery"  # the agent was gone
