"""Tools that work in real agents: the contexts of their calls, and a resolver that a test holds in its hand."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from agent.running import CHAT, AgentProcess
from chatd.agent.place import Place
from chatd.clock import Clock, SystemClock
from chatd.core.secret import Secret
from chatd.engine.tools.results import capped
from chatd.engine.tools.tool import Tool, ToolCall, ToolContext, ToolOutput
from chatd.engine.turn_workspace import TurnWorkspace
from chatd.workspaces.resolving import NoWorkspaces, Reason, Resolved, Resolver, WorkspaceUnavailable
from engine.deployment import PATIENCE, Deployment, new_id

LARGE_BUDGET = 200_000


def resolved_of(agent: AgentProcess, *, address: str | None = None) -> Resolved:
    return Resolved(
        workspace_id=new_id(),
        name="ws",
        address=address or agent.address,
        token=Secret(agent.token),
        template_name="test",
    )


async def stored_workspace(deployment: Deployment) -> UUID:
    """A workspace of the deployment's user, as far as the database is concerned."""
    template, workspace = new_id(), new_id()
    await deployment.pool.execute(
        "INSERT INTO templates (id, organization_id, name, provisioner) VALUES ($1, $2, 'test', 'local')",
        template,
        deployment.organization_id,
    )
    await deployment.pool.execute(
        "INSERT INTO workspaces (id, organization_id, owner_id, template_id, name, agent_token, build_number)"
        " VALUES ($1, $2, $3, $4, 'ws', $5, 1)",
        workspace,
        deployment.organization_id,
        deployment.user_id,
        template,
        f"enc1:{'0' * 16}:AAAA",
    )
    return workspace


class FixedResolver:
    """One workspace for all chats. `recovery` is what finds it again; without one it is not found."""

    def __init__(
        self, resolved: Resolved | None, recovery: Callable[[Resolved], Awaitable[Resolved]] | None = None
    ) -> None:
        self.now = resolved
        self.recovery = recovery
        self.resolves = 0
        self.recovers = 0
        self.uses: list[UUID] = []

    async def resolve(self, chat_id: UUID) -> Resolved:
        self.resolves += 1
        if self.now is None:
            raise WorkspaceUnavailable(Reason.NONE)
        return self.now

    async def recover(self, failed: Resolved) -> Resolved:
        self.recovers += 1
        if self.recovery is None:
            raise WorkspaceUnavailable(Reason.UNREACHABLE)
        self.now = await self.recovery(failed)
        return self.now

    def used(self, workspace_id: UUID) -> None:
        self.uses.append(workspace_id)


class FolderResolver:
    """The agent that runs in a folder, whichever it is, as soon as there is one."""

    def __init__(self, folder: Path) -> None:
        self._place = Place(folder)
        self._id = new_id()

    async def resolve(self, chat_id: UUID) -> Resolved:
        while (record := self._place.live_record()) is None:
            await SystemClock().sleep(0.02, timer="test")
        return Resolved(
            workspace_id=self._id, name="ws", address=record.address, token=self._place.token(), template_name="test"
        )

    async def recover(self, failed: Resolved) -> Resolved:
        return await self.resolve(self._id)

    def used(self, workspace_id: UUID) -> None:
        pass


class Trial:
    """A chat whose calls a test makes by hand."""

    def __init__(self, workspace: TurnWorkspace, clock: Clock, budget: int) -> None:
        self.workspace = workspace
        self.shown: list[str] = []
        self.told = asyncio.Event()  # set with each progress
        self.if_cut: list[ToolOutput] = []
        self._clock = clock
        self._budget = budget
        self._calls = 0

    def context(self) -> ToolContext:
        def progress(text: str) -> None:
            self.shown.append(text)
            self.told.set()

        return ToolContext(
            chat_id=CHAT,
            runner_id=new_id(),
            owner_id=new_id(),
            organization_id=new_id(),
            clock=self._clock,
            progress=progress,
            if_cut=self.if_cut.append,
            workspace=self.workspace,
            budget=self._budget,
        )

    async def output(self, tool: Tool, args: Any, *, key: str = "") -> ToolOutput:
        self._calls += 1
        call = ToolCall(key or f"{CHAT}:1:{self._calls}", "id", tool.spec.name, msgspec.json.encode(args).decode())
        output = await tool.run(call, self.context())
        short = capped(output, self._budget)
        assert short.removed == 0, "a result was cut a second time"
        return short.output

    async def call(self, tool: Tool, args: Any, *, key: str = "") -> dict[str, Any]:
        """What comes back when it goes well."""
        output = await self.output(tool, args, key=key)
        assert not output.is_error, output.result
        return msgspec.json.decode(output.result)

    async def fail(self, tool: Tool, args: Any) -> str:
        """What the model is told when it does not."""
        output = await self.output(tool, args)
        assert output.is_error, output.result
        return msgspec.json.decode(output.result)["error"]


@asynccontextmanager
async def trial(
    resolver: Resolver | None, *, clock: Clock | None = None, budget: int = LARGE_BUDGET, epoch: int = 1
) -> AsyncGenerator[Trial]:
    clock = clock or SystemClock()
    workspace = TurnWorkspace(resolver or NoWorkspaces(), clock, chat_id=CHAT, ancestors=(), epoch=epoch)
    try:
        yield Trial(workspace, clock, budget)
    finally:
        await workspace.close()


class Relay:
    """Between a client and an agent, to cut their connections. While `is_open` is not set, new ones wait."""

    def __init__(self, address: str, agent: AgentProcess) -> None:
        self.address = address
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.connected = 0
        self.heard = bytearray()  # of requests
        self._hears = asyncio.Event()
        self.answers = True  # else what the agent says is kept from the client, and the connection is cut
        self._agent = agent.address.removeprefix("unix:")
        self._writers: set[asyncio.StreamWriter] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected += 1
        self._writers.add(writer)
        try:
            await self.is_open.wait()
            agent_reader, agent_writer = await asyncio.open_unix_connection(self._agent)
            self._writers.add(agent_writer)
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._requests(reader, agent_writer))
                    both.create_task(self._answers(agent_reader, writer))
            except* (ConnectionError, OSError):
                pass
            finally:
                agent_writer.close()
                self._writers.discard(agent_writer)
        finally:
            writer.close()
            self._writers.discard(writer)

    async def until_heard(self, text: bytes) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in self.heard:
                self._hears.clear()
                await self._hears.wait()

    def cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while text := await reader.read(65536):
            self.heard += text
            self._hears.set()
            writer.write(text)
            await writer.drain()
        writer.close()

    async def _answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while text := await reader.read(65536):
            if not self.answers and not text.startswith(b"HTTP/1.1 100"):  # that one may send what it wants to change
                self.cut()
                return
            writer.write(text)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def relay_to(agent: AgentProcess, folder: Path) -> AsyncGenerator[Relay]:
    path = folder / "relay.sock"
    relay = Relay(f"unix:{path}", agent)
    server = await asyncio.start_unix_server(relay.serve, path)
    try:
        yield relay
    finally:
        relay.is_open.set()
        server.close()
        relay.cut()
        await server.wait_closed()
