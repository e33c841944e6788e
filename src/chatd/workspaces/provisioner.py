"""What makes and ends the place in which a workspace's agent runs."""

from typing import Protocol
from uuid import UUID

import msgspec

from chatd.core.errors import ChatdError
from chatd.core.secret import Secret


class BuildFailed(ChatdError):
    """A build that went wrong. The message is told to people and models; `code` is for programs."""

    def __init__(self, message: str, *, detail: str | None = None, code: str = "") -> None:
        super().__init__(message, detail=detail)
        self.code = code


class BuildLog(Protocol):
    """Takes one line of what a build does. `stage` groups lines; `level` is info, warning or error."""

    def __call__(self, stage: str, line: str, *, level: str = "info") -> None: ...


class WorkspaceSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One workspace, as a build finds it."""

    workspace_id: UUID
    name: str
    owner_id: UUID
    owner_name: str
    config: str  # JSON text of the template's provisioner config
    parameters: dict[str, str]  # the values of this build
    token: Secret  # what the agent's requests must bring


class Provisioner(Protocol):
    """All calls for one workspace are made one after another; those for several may run at once."""

    @property
    def kind(self) -> str:
        """`local` or `docker`."""
        ...

    @property
    def host_id(self) -> str | None:
        """The only host from which its agents can be reached; None: from every replica."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What people who run chatd should be told at every start, such as that nothing is confined."""
        ...

    def check(self, config: str) -> None:
        """Raises InvalidRequest when a template can't have this config."""
        ...

    async def start(self, spec: WorkspaceSpec, log: BuildLog) -> str:
        """The agent's address, `unix:PATH` or `tcp:HOST:PORT`, once it answers /health. Raises BuildFailed.

        An agent that runs is adopted and a dead one is started again over the same files; there is never a second.
        """
        ...

    async def stop(self, spec: WorkspaceSpec, log: BuildLog) -> None:
        """Nothing of the workspace runs any more when this returns; its files stay. Raises BuildFailed."""
        ...

    async def delete(self, spec: WorkspaceSpec, log: BuildLog) -> None:
        """Stop it, and take its files away. Raises BuildFailed."""
        ...

    async def find(self, spec: WorkspaceSpec) -> str | None:
        """The address of the agent that runs; None when none does. Cheap, and never starts anything."""
        ...
