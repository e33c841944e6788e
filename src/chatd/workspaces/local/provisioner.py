"""Workspaces on this machine: a folder each, and an agent in it under bubblewrap."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from chatd.agent.options import IDLE_MINUTES
from chatd.clock import Clock
from chatd.core.errors import ChatdError, Validation
from chatd.workspaces.agents.client import agent_client
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable
from chatd.workspaces.config_text import at_a_build, overlap, refuse
from chatd.workspaces.local.account import sandbox_account
from chatd.workspaces.local.bubblewrap import find_bubblewrap
from chatd.workspaces.local.config import LocalConfig, read_local_config
from chatd.workspaces.local.ending import kill_all, wait_until_left
from chatd.workspaces.local.folder import WorkspaceFolder
from chatd.workspaces.local.keeper_options import Bubblewrap, KeeperOptions
from chatd.workspaces.local.spawning import spawn_keeper
from chatd.workspaces.parameters import filled
from chatd.workspaces.provisioner import BuildFailed, BuildLog, WorkspaceSpec

_ADOPT_SECONDS: Final = 30.0  # for an agent that another server has just started, or that is leaving
_LEAVE_SECONDS: Final = 10.0  # for a keeper whose agent has ended
_HEALTH_SECONDS: Final = 5.0  # an agent that is alive answers in milliseconds
_LOOK_SECONDS: Final = 0.05
_TRIES: Final = 3  # another server on this machine may start or stop the same workspace at the same time
_NO_NAME: Final = re.compile(r"[^a-z0-9-]+")
_NO_SANDBOX: Final = (
    "Local workspaces run WITHOUT A SANDBOX (local_workspaces = unconfined): commands of models can do all that the "
    "server's user can, and read its files."
)
_NETWORKS: Final = {
    "off": "There is no network.",
    "allow_list": "Connections go through a proxy to public addresses of these hosts: {}.",
    "open": "The network is this machine's own, with all that can be reached from it.",
}


class LocalProvisioner:
    """`root` holds a folder per workspace and is ours alone. `user` runs the sandboxes where the server is root.

    `unconfined` is the operator's explicit wish to have no sandbox. `private_networks` are those that workspaces may
    reach besides public addresses, if their template's list has the host.
    """

    kind = "local"

    def __init__(
        self,
        root: Path,
        *,
        host_id: str,
        clock: Clock,
        unconfined: bool = False,
        user: str | None = None,
        bubblewrap: str = "bwrap",
        private_networks: Sequence[str] = (),
        idle_minutes: float = IDLE_MINUTES,
    ) -> None:
        self.host_id: str | None = host_id
        self._root = root.absolute()
        self._clock = clock
        self._unconfined = unconfined
        self._user = user
        self._program = bubblewrap
        self._private_networks = tuple(private_networks)
        self._idle_minutes = idle_minutes
        self._found: Bubblewrap | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        return (_NO_SANDBOX,) if self._unconfined else ()

    def check(self, config: str) -> None:
        """Raises InvalidRequest."""
        found = read_local_config(config)
        ours = self._root.parent
        refuse(
            [
                Validation(f"read_only_paths.{at}", "This would show the server's own data.")
                for at, path in enumerate(found.read_only_paths)
                if overlap(Path(path), ours)
            ]
        )

    async def start(self, spec: WorkspaceSpec, log: BuildLog) -> str:
        with at_a_build():
            self.check(spec.config)
            config = read_local_config(spec.config)
        folder = self._folder(spec)
        for _ in range(_TRIES):
            if (adopted := await self._adopt(folder, spec, log)) is not None:
                return adopted
            options = await self._options(spec, config, log)
            await self._make(folder, options)
            if await spawn_keeper(folder, options, log, self._clock) and await self.find(spec) is not None:
                log("agent", "The agent runs.")
                return folder.address
        raise BuildFailed("The workspace's agent started, but does not answer.", code="no_answer")

    async def stop(self, spec: WorkspaceSpec, log: BuildLog) -> None:
        folder = self._folder(spec)
        known = folder.record()
        if folder.is_held:
            log("stop", "Ending the workspace's processes.")
            await self._ask_to_leave(folder, spec)
        await kill_all(folder, str(spec.workspace_id), self._clock, known=known)
        log("stop", "Nothing of the workspace runs.")

    async def delete(self, spec: WorkspaceSpec, log: BuildLog) -> None:
        await self.stop(spec, log)
        try:
            await asyncio.to_thread(self._folder(spec).take_away)
        except OSError as error:
            raise BuildFailed("The workspace's files can't be deleted.", detail=str(error), code="files") from error
        log("delete", "The workspace's files are deleted.")

    async def find(self, spec: WorkspaceSpec) -> str | None:
        folder = self._folder(spec)
        if not folder.is_held:
            return None
        client = agent_client(folder.address, spec.token, self._clock)
        try:
            health = await client.health(seconds=_HEALTH_SECONDS)
        except (AgentRefused, AgentUnreachable):
            return None
        finally:
            await client.close()
        is_there = health.workspace_id == str(spec.workspace_id) and not health.is_stopping
        return folder.address if is_there else None

    def _folder(self, spec: WorkspaceSpec) -> WorkspaceFolder:
        return WorkspaceFolder(self._root, spec.workspace_id)

    async def _adopt(self, folder: WorkspaceFolder, spec: WorkspaceSpec, log: BuildLog) -> str | None:
        """The agent that runs; None when there is none any more."""
        until = self._clock.monotonic() + _ADOPT_SECONDS
        while folder.is_held:
            if (found := await self.find(spec)) is not None:
                log("agent", "An agent runs already, and is kept.")
                return found
            if self._clock.monotonic() >= until:
                log("agent", "The agent does not answer and is ended.", level="warning")
                await kill_all(folder, str(spec.workspace_id), self._clock)
                return None
            await self._clock.sleep(_LOOK_SECONDS, timer="agent adopted")
        return None

    async def _options(self, spec: WorkspaceSpec, config: LocalConfig, log: BuildLog) -> KeeperOptions:
        account = await asyncio.to_thread(sandbox_account, self._user)
        if self._unconfined:
            log("sandbox", "There is no sandbox: commands can do all that the server's user can.", level="warning")
        elif self._found is None:
            self._found = await find_bubblewrap(self._program, account)
        if self._found is not None and not self._found.filters_calls:
            log("sandbox", "Calls of the kernel are not filtered: seccomp does not work here.", level="warning")
        if not self._unconfined:
            log("sandbox", _NETWORKS[config.network].format(", ".join(config.allow)))
        return KeeperOptions(
            root=str(self._root),
            workspace_id=str(spec.workspace_id),
            hostname=_NO_NAME.sub("-", spec.name.lower()).strip("-")[:63].strip("-") or "workspace",
            token=spec.token.reveal(),
            config=config,
            environment={name: filled(value, spec.parameters) for name, value in config.environment.items()},
            account=account,
            bubblewrap=None if self._unconfined else self._found,
            private_networks=self._private_networks,
            idle_minutes=self._idle_minutes,
        )

    async def _make(self, folder: WorkspaceFolder, options: KeeperOptions) -> None:
        owner = options.account.owner if options.bubblewrap is not None else None
        try:
            await asyncio.to_thread(folder.make, owner)
        except OSError as error:
            raise BuildFailed("The workspace's folder can't be made.", detail=str(error), code="files") from error

    async def _ask_to_leave(self, folder: WorkspaceFolder, spec: WorkspaceSpec) -> None:
        """What runs is given the time to end in good order. Who does not answer is killed by the caller."""
        if await self.find(spec) is None:
            return
        client = agent_client(folder.address, spec.token, self._clock)
        try:
            await client.shutdown()
        except ChatdError:
            return
        finally:
            await client.close()
        await wait_until_left(folder, self._clock, within=_LEAVE_SECONDS)
