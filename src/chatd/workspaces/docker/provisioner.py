"""Workspaces as containers, one each, by the API of Docker or Podman."""

import asyncio
import os
from pathlib import Path
from typing import Any, Final, Literal

from chatd.clock import Clock
from chatd.core.errors import ChatdError, Validation
from chatd.workspaces.agent_folder import AgentFolder
from chatd.workspaces.agents.client import agent_client
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable
from chatd.workspaces.config_text import at_a_build, overlap, refuse
from chatd.workspaces.docker.config import DockerConfig, read_docker_config
from chatd.workspaces.docker.container import CONFIG, PORT, WORKSPACE, container, container_name, volume_names
from chatd.workspaces.docker.engine import Engine, EngineRefused, named
from chatd.workspaces.docker.image import ensure_image
from chatd.workspaces.docker.inspected import Inspected
from chatd.workspaces.provisioner import BuildFailed, BuildLog, WorkspaceSpec

_ANSWER_SECONDS: Final = 60.0  # for an agent in a container that has just begun, on a machine that swaps
_HEALTH_SECONDS: Final = 5.0  # an agent that is alive answers in milliseconds
_STOP_SECONDS: Final = 10  # between the engine's SIGTERM and its SIGKILL
_LOOK_SECONDS: Final = 0.1
_TRIES: Final = 3  # another server may make or take away the same container at the same time
_USER: Final = "1000:1000"  # in containers of a server that is root


class DockerProvisioner:
    """`connect` is how agents are reached: by a socket in a folder of this machine, below `root`, or by a port.

    A port is published on `publish_on` of the engine's machine, and reached at `reach_at` by every replica.
    """

    kind = "docker"

    def __init__(
        self,
        url: str,
        root: Path,
        *,
        host_id: str,
        clock: Clock,
        connect: Literal["socket", "port"] = "socket",
        publish_on: str = "127.0.0.1",
        reach_at: str | None = None,
    ) -> None:
        self.host_id: str | None = host_id if connect == "socket" else None
        self.notes: tuple[str, ...] = ()
        self._engine = Engine(url, clock)
        self._root = root.absolute()
        self._clock = clock
        self._by_socket = connect == "socket"
        self._publish_on = publish_on
        self._reach_at = reach_at or publish_on

    def check(self, config: str) -> None:
        """Raises InvalidRequest."""
        found = read_docker_config(config, publishes=not self._by_socket)
        refuse(
            [
                Validation(f"mounts.{at}.source", "This would show the server's own data.")
                for at, mount in enumerate(found.mounts)
                if overlap(Path(mount.source), self._root.parent)
            ]
        )

    async def start(self, spec: WorkspaceSpec, log: BuildLog) -> str:
        with at_a_build():
            self.check(spec.config)
            config = read_docker_config(spec.config, publishes=not self._by_socket)
        try:
            for _ in range(_TRIES):
                if (address := await self._started(spec, config, log)) is not None:
                    return address
        except EngineRefused as refused:
            raise _failed("The container can't be started.", refused) from refused
        raise BuildFailed("The container's agent does not answer.", detail=await self._words(spec), code="no_answer")

    async def stop(self, spec: WorkspaceSpec, log: BuildLog) -> None:
        try:
            if await self._running(spec) is not None:
                log("stop", "Ending the workspace's processes.")
                await self._ask_to_leave(spec)
                await self._stop(spec)
        except EngineRefused as refused:
            raise _failed("The container can't be stopped.", refused) from refused
        self._folder(spec).forget_socket()
        log("stop", "Nothing of the workspace runs.")

    async def delete(self, spec: WorkspaceSpec, log: BuildLog) -> None:
        await self.stop(spec, log)
        try:
            await self._remove(f"/containers/{container_name(spec)}", {"force": "true", "v": "true"})
            for volume in volume_names(spec):
                await self._remove(f"/volumes/{volume}", {"force": "true"})
            await asyncio.to_thread(self._folder(spec).take_away)
        except EngineRefused as refused:
            raise _failed("The container and its volumes can't be deleted.", refused) from refused
        except OSError as error:
            raise BuildFailed("The workspace's files can't be deleted.", detail=str(error), code="files") from error
        log("delete", "The container and its volumes are deleted.")

    async def find(self, spec: WorkspaceSpec) -> str | None:
        try:
            found = await self._running(spec)
        except (EngineRefused, BuildFailed):
            return None
        return None if found is None else await self._reached(spec, found)

    async def _started(self, spec: WorkspaceSpec, config: DockerConfig, log: BuildLog) -> str | None:
        """The address; None when it is to be tried again."""
        body = self._body(spec, config)
        found = await self._inspected(spec)
        if found is not None and found.state.running:
            if (address := await self._awaited(spec)) is not None:
                log("container", "A container runs already, and is kept.")
                return address
            log("container", "The container's agent does not answer: it is started again.", level="warning")
            await self._stop(spec)
            return None
        if found is None or found.label(CONFIG) != body["Labels"][CONFIG]:
            await self._make(spec, config, body, log)
        await asyncio.to_thread(self._prepare, spec, body["User"])
        await self._engine.call("POST", f"/containers/{container_name(spec)}/start")
        log("container", "The container runs.")
        return await self._awaited(spec)

    def _body(self, spec: WorkspaceSpec, config: DockerConfig) -> dict[str, Any]:
        return container(
            spec,
            config,
            user=config.user or _own_user(),
            agent_folder=str(self._folder(spec).agent) if self._by_socket else None,
            publish_on=None if self._by_socket else self._publish_on,
        )

    async def _make(self, spec: WorkspaceSpec, config: DockerConfig, body: dict[str, Any], log: BuildLog) -> None:
        """Anew where it is to be another than the one that there is; volumes stay."""
        await ensure_image(self._engine, body["Image"], config, log)
        await asyncio.to_thread(self._prepare, spec, body["User"])
        name = container_name(spec)
        await self._remove(f"/containers/{name}", {"force": "true"})
        home, agent = volume_names(spec)
        for volume in (home,) if self._by_socket else (home, agent):
            labels = {WORKSPACE: str(spec.workspace_id)}
            await self._create("/volumes/create", {"Name": volume, "Labels": labels})
        await self._create("/containers/create", body, {"name": name})
        log("container", f"The container {name} is made.")

    def _prepare(self, spec: WorkspaceSpec, user: str) -> None:
        """The folder in which the agent's socket will be. Takes as long as what the workspace has put there."""
        if not self._by_socket:
            return
        uid, _, gid = user.partition(":")
        folder = self._folder(spec)
        try:
            folder.make_agent((int(uid), int(gid or uid)) if os.geteuid() == 0 else None)
            folder.forget_agent_socket()
            folder.forget_socket()
        except OSError as error:
            raise BuildFailed("The workspace's folder can't be made.", detail=str(error), code="files") from error

    async def _create(self, path: str, body: dict[str, Any], query: dict[str, str] | None = None) -> None:
        try:
            await self._engine.call("POST", path, body=body, query=query)
        except EngineRefused as refused:
            if refused.status != 409:  # another server was quicker: then it is there
                raise

    async def _remove(self, path: str, query: dict[str, str]) -> None:
        try:
            await self._engine.call("DELETE", path, query=query)
        except EngineRefused as refused:
            if refused.status != 404:
                raise

    async def _stop(self, spec: WorkspaceSpec) -> None:
        """It does not run when this returns."""
        name = container_name(spec)
        try:
            await self._engine.call("POST", f"/containers/{name}/stop", query={"t": str(_STOP_SECONDS)})
        except EngineRefused as refused:
            if refused.status not in (304, 404):
                raise
        if await self._running(spec) is None:
            return
        try:
            await self._engine.call("POST", f"/containers/{name}/kill")
        except EngineRefused:
            if await self._running(spec) is not None:  # else it has ended by itself meanwhile
                raise

    async def _inspected(self, spec: WorkspaceSpec) -> Inspected | None:
        name = container_name(spec)
        try:
            found = await self._engine.get(f"/containers/{named(name)}/json", Inspected)
        except EngineRefused as refused:
            if refused.status == 404:
                return None
            raise
        if found.label(WORKSPACE) != str(spec.workspace_id):
            raise BuildFailed(f"There is a container {name} that is not ours.", detail="Rename it.", code="name_taken")
        return found

    async def _running(self, spec: WorkspaceSpec) -> Inspected | None:
        found = await self._inspected(spec)
        return found if found is not None and found.state.running else None

    async def _awaited(self, spec: WorkspaceSpec) -> str | None:
        """The address of a container that runs, once its agent answers; None when it has ended or does not answer."""
        until = self._clock.monotonic() + _ANSWER_SECONDS
        while self._clock.monotonic() < until:
            found = await self._running(spec)
            if found is None:
                return None
            if (address := await self._reached(spec, found)) is not None:
                return address
            await self._clock.sleep(_LOOK_SECONDS, timer="container's agent")
        return None

    async def _reached(self, spec: WorkspaceSpec, found: Inspected) -> str | None:
        address = self._address(spec, found)
        if address is None:
            return None
        if await self._answers(spec, address):
            return address
        # A server that was killed before it named the socket, or a container that was started by hand.
        if self._by_socket and self._folder(spec).link_socket() and await self._answers(spec, address):
            return address
        return None

    def _address(self, spec: WorkspaceSpec, found: Inspected) -> str | None:
        if self._by_socket:
            return self._folder(spec).address
        port = found.port(PORT)
        host = f"[{self._reach_at}]" if ":" in self._reach_at else self._reach_at
        return None if port is None else f"tcp:{host}:{port}"

    async def _answers(self, spec: WorkspaceSpec, address: str) -> bool:
        client = agent_client(address, spec.token, self._clock)
        try:
            health = await client.health(seconds=_HEALTH_SECONDS)
        except (AgentRefused, AgentUnreachable):
            return False
        finally:
            await client.close()
        return health.workspace_id == str(spec.workspace_id) and not health.is_stopping

    async def _ask_to_leave(self, spec: WorkspaceSpec) -> None:
        """What runs is given the time to end in good order; who does not answer is ended by the engine."""
        if (address := await self.find(spec)) is None:
            return
        client = agent_client(address, spec.token, self._clock)
        try:
            await client.shutdown()
        except ChatdError:
            return
        finally:
            await client.close()

    async def _words(self, spec: WorkspaceSpec) -> str | None:
        """How a container that did not stay has ended."""
        try:
            found = await self._inspected(spec)
        except (EngineRefused, BuildFailed):
            return None
        if found is None:
            return None
        ended = f"It ended with {found.state.exit_code}. {found.state.error}".strip()
        return f"{ended} See `docker logs {container_name(spec)}`; the image must have chatd in it."

    def _folder(self, spec: WorkspaceSpec) -> AgentFolder:
        return AgentFolder(self._root, spec.workspace_id)


def _own_user() -> str:
    return _USER if os.geteuid() == 0 else f"{os.geteuid()}:{os.getegid()}"


def _failed(message: str, refused: EngineRefused) -> BuildFailed:
    return BuildFailed(message, detail=f"The engine says: {refused}.", code="engine")
