"""What a program does with workspaces and templates."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Final
from urllib.parse import quote, urlencode
from uuid import UUID

import aiohttp
import msgspec

from chatd.client.errors import Unexpected, Unreachable
from chatd.client.exchange import CONNECT_SECONDS, MOST_TRIES, Content, Exchange
from chatd.core.workspaces.kinds import BuildTransition
from chatd.wire import workspaces as wire
from chatd.wire.agent.files import Listing, Written
from chatd.wire.agent.ports import Ports
from chatd.wire.templates import CreateTemplate, Template, UpdateTemplate

TEMPLATES: Final = "/api/experimental/templates"
WORKSPACES: Final = "/api/experimental/workspaces"
_PAGE: Final = 100  # the most that the server gives at once
_SILENT_SECONDS: Final = 60.0  # the server says something every 25 seconds: two are missed
_LONG: Final = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS, sock_read=_SILENT_SECONDS)
_MOST_LINE_BYTES: Final = 1 << 20  # of an event: a line of a log has a few kB


class TemplateCalls:
    def __init__(self, exchange: Exchange) -> None:
        self._to = exchange

    async def all(self) -> list[Template]:
        return await self._to.call("GET", TEMPLATES, list[Template])

    async def get(self, id: UUID) -> Template:
        return await self._to.call("GET", f"{TEMPLATES}/{id}", Template)

    async def create(self, asked: CreateTemplate) -> Template:
        return await self._to.call("POST", TEMPLATES, Template, asked)

    async def update(self, id: UUID, change: UpdateTemplate) -> Template:
        return await self._to.call("PATCH", f"{TEMPLATES}/{id}", Template, change)

    async def delete(self, id: UUID) -> None:
        await self._to.call("DELETE", f"{TEMPLATES}/{id}", type(None))


class _LogEvent(msgspec.Struct, frozen=True, tag="log"):
    log: wire.BuildLogLine


class _EndEvent(msgspec.Struct, frozen=True, tag="end"):
    build: wire.WorkspaceBuild


_EVENT: Final = msgspec.json.Decoder(_LogEvent | _EndEvent)


class WorkspaceCalls:
    def __init__(self, exchange: Exchange, new_key: Callable[[], str]) -> None:
        self._to = exchange
        self._new_key = new_key

    async def all(self, *, owner: str = "me") -> list[wire.Workspace]:
        """One's own; or those of a user, or of `all`, that one may see."""
        found: list[wire.Workspace] = []
        after: UUID | None = None
        while True:
            query = {"owner": owner, "after": after, "limit": _PAGE}
            page = await self._to.call("GET", WORKSPACES, wire.WorkspacePage, query=query)
            found += page.workspaces
            if (after := page.next_after) is None:
                return found

    async def get(self, id: UUID, *, agent: bool = False) -> wire.Workspace:
        return await self._to.call("GET", f"{WORKSPACES}/{id}", wire.Workspace, query={"agent": agent})

    async def create(
        self,
        template_id: UUID,
        *,
        name: str | None = None,
        parameters: Mapping[str, str] | None = None,
        ttl_ms: int | None = None,
        key: str | None = None,
    ) -> wire.Workspace:
        """It is built at once; `follow` its `latest_build`. Done once, however often the connection breaks."""
        asked = wire.CreateWorkspace(
            template_id=template_id, name=name, parameters=dict(parameters or {}), ttl_ms=ttl_ms
        )
        return await self._to.call("POST", WORKSPACES, wire.Workspace, asked, key=key or self._new_key())

    async def update(self, id: UUID, change: wire.UpdateWorkspace) -> wire.Workspace:
        return await self._to.call("PATCH", f"{WORKSPACES}/{id}", wire.Workspace, change)

    async def build(
        self, id: UUID, transition: BuildTransition, *, parameters: Mapping[str, str] | None = None
    ) -> wire.WorkspaceBuild:
        asked = wire.CreateBuild(transition=transition, parameters=None if parameters is None else dict(parameters))
        return await self._to.call("POST", f"{WORKSPACES}/{id}/builds", wire.WorkspaceBuild, asked)

    async def orphan(self, id: UUID) -> wire.WorkspaceBuild:
        """Delete one whose machine is gone for good. Nothing is done there."""
        return await self._to.call("DELETE", f"{WORKSPACES}/{id}", wire.WorkspaceBuild, query={"orphan": True})

    async def builds(self, id: UUID, *, limit: int = 25) -> list[wire.WorkspaceBuild]:
        """The newest first."""
        page = await self._to.call("GET", f"{WORKSPACES}/{id}/builds", wire.WorkspaceBuildPage, query={"limit": limit})
        return page.builds

    async def cancel(self, id: UUID, build_id: UUID) -> wire.WorkspaceBuild:
        return await self._to.call("POST", f"{WORKSPACES}/{id}/builds/{build_id}/cancel", wire.WorkspaceBuild)

    async def logs(self, id: UUID, build_id: UUID) -> list[wire.BuildLogLine]:
        """What the build has said so far."""
        found: list[wire.BuildLogLine] = []
        after = 0
        while True:
            path, query = f"{WORKSPACES}/{id}/builds/{build_id}/logs", {"after": after, "limit": 1000}
            page = await self._to.call("GET", path, wire.BuildLogs, query=query)
            found += page.logs
            if page.next_after is None:
                return found
            after = page.next_after

    async def follow(self, id: UUID, build_id: UUID) -> AsyncGenerator[wire.BuildLogLine | wire.WorkspaceBuild]:
        """What the build says until it is over; the last is the build. A connection that breaks is made again, a few
        times."""
        after, tries = 0, MOST_TRIES
        while True:
            try:
                async with aclosing(self._events(id, build_id, after)) as events:
                    async for event in events:
                        tries = MOST_TRIES
                        if isinstance(event, _EndEvent):
                            yield event.build
                            return
                        after = event.log.id
                        yield event.log
            except Unreachable:
                if tries <= 0:
                    raise
            tries -= 1
            await self._to.clock.sleep(1.0, timer="client retry")

    async def files(self, id: UUID, path: str | None = None, *, offset: int = 0) -> Listing:
        query = {"path": path, "offset": offset, "limit": 1000}
        return await self._to.call("GET", f"{WORKSPACES}/{id}/files", Listing, query=query)

    async def download(self, id: UUID, path: str) -> AsyncGenerator[bytes]:
        """A file in pieces. One that breaks off raises Unreachable: what came is not all."""
        address, query = f"{WORKSPACES}/{id}/files/content", {"path": path}
        async with self._to.open("GET", address, timeout=_LONG, query=query) as response:
            async for piece in response.content.iter_any():
                yield piece

    async def upload(self, id: UUID, path: str, content: Content, *, exclusive: bool = False) -> Written:
        """Put a file in place, whole or not at all. An open file is read while it is sent."""
        return await self._to.put(
            f"{WORKSPACES}/{id}/files/content", Written, content, query={"path": path, "exclusive": exclusive}
        )

    async def ports(self, id: UUID) -> Ports:
        return await self._to.call("GET", f"{WORKSPACES}/{id}/ports", Ports)

    @asynccontextmanager
    async def terminal(
        self, id: UUID, *, reconnect: UUID, columns: int, rows: int, command: str | None = None
    ) -> AsyncGenerator[aiohttp.ClientWebSocketResponse]:
        """Bytes both ways, and JSON as `wire/agent/terminal.py` has it. The same `reconnect` is the same terminal."""
        query = {"reconnect": str(reconnect), "width": str(columns), "height": str(rows)}
        if command is not None:
            query["command"] = command
        async with self._to.socket(f"{WORKSPACES}/{id}/terminal?{urlencode(query, quote_via=quote)}") as socket:
            yield socket

    async def _events(self, id: UUID, build_id: UUID, after: int) -> AsyncGenerator[_LogEvent | _EndEvent]:
        path, query = f"{WORKSPACES}/{id}/builds/{build_id}/logs", {"after": after}
        headers = {"Accept": "text/event-stream"}
        async with self._to.open("GET", path, timeout=_LONG, query=query, headers=headers) as response:
            rest = b""
            async for piece in response.content.iter_any():
                *lines, rest = (rest + piece).split(b"\n")
                if len(rest) > _MOST_LINE_BYTES:
                    raise Unexpected("The server sends a line that is too long to be one of a log.")
                for line in lines:
                    if line.startswith(b"data: "):
                        yield _EVENT.decode(line[6:])
