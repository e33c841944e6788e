"""Typed calls of an agent's API, in the name of a chat or of nobody."""

import json
from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, TypeVar
from urllib.parse import quote
from uuid import UUID

import aiohttp
import msgspec

from chatd.clock import Clock
from chatd.core.errors import TooLarge
from chatd.core.secret import Secret
from chatd.wire.agent import files as wire_files
from chatd.wire.agent import processes as wire_processes
from chatd.wire.agent.health import Done, Health, Stopped
from chatd.wire.agent.terminal import StartTerminal, Terminal
from chatd.workspaces.agents.exchange import ANSWER_SECONDS, WAIT_MARGIN_SECONDS, Exchange

WAIT_SECONDS: Final = 300.0  # the longest that an agent waits within one request; a longer wait asks again
_UPLOAD_SECONDS: Final = 3600.0  # of a gigabyte, over a slow network; an upload that stalls is ended by the agent
_NOBODY: Final[Mapping[str, str]] = {}

T = TypeVar("T")


class AgentClient:
    """All methods raise `AgentRefused` and `AgentUnreachable`. Whoever made it closes it; those of `for_chat` share
    its connections."""

    def __init__(self, exchange: Exchange, headers: Mapping[str, str] = _NOBODY) -> None:
        self._exchange = exchange
        self._headers = headers

    def for_chat(self, chat_id: UUID, ancestor_ids: Sequence[UUID], epoch: int) -> "AgentClient":
        """The same agent, asked in the name of a chat. `epoch` grows with every change of the chat's owner: the agent
        refuses changes under an older one."""
        headers = {"Chatd-Chat-Id": str(chat_id), "Chatd-Epoch": str(epoch)}
        if ancestor_ids:
            headers["Chatd-Ancestor-Chat-Ids"] = json.dumps([str(id) for id in ancestor_ids])
        return AgentClient(self._exchange, headers)

    async def close(self) -> None:
        await self._exchange.close()

    # The agent itself

    async def health(self, *, seconds: float = ANSWER_SECONDS) -> Health:
        return await self._exchange.call("GET", "/health", Health, headers=self._headers, seconds=seconds)

    async def heartbeat(self) -> None:
        await self._call("POST", "/heartbeat", Done)

    async def shutdown(self) -> Stopped:
        """End every process of the workspace, and the agent."""
        return await self._call("POST", "/shutdown", Stopped)

    async def get(
        self, path: str, query: msgspec.Struct | None, shape: type[T], *, wait_seconds: float | None = None
    ) -> T:
        """Any route that is only looked at. `wait_seconds` is how long the query lets the agent wait."""
        seconds = ANSWER_SECONDS if wait_seconds is None else wait_seconds + WAIT_MARGIN_SECONDS
        return await self._exchange.call("GET", path, shape, headers=self._headers, query=query, seconds=seconds)

    # Processes

    async def start(self, asked: wire_processes.StartProcess) -> wire_processes.StartedProcess:
        """Asked again with the same key, nothing is started again."""
        return await self._call("POST", "/processes", wire_processes.StartedProcess, body=asked)

    async def processes(self) -> wire_processes.ProcessList:
        return await self.get("/processes", None, wire_processes.ProcessList)

    async def output(
        self,
        process_id: str,
        *,
        wait_seconds: float = 0.0,
        since: int | None = None,
        most_bytes: int | None = None,
    ) -> wire_processes.ProcessOutput:
        """What there is. With `wait_seconds`: at the exit or after so long; with `since` as soon as there is more than
        in the answer that had this version."""
        wait = min(max(0.0, wait_seconds), WAIT_SECONDS)
        query = wire_processes.OutputQuery(
            wait=wait > 0 and since is None,
            since=since if wait > 0 else None,
            wait_seconds=wait if wait > 0 else None,
            most_bytes=most_bytes,
        )
        path = f"{_process(process_id)}/output"
        return await self.get(path, query, wire_processes.ProcessOutput, wait_seconds=wait if wait > 0 else None)

    async def signal(self, process_id: str, signal: wire_processes.SignalName) -> None:
        await self._call("POST", f"{_process(process_id)}/signal", Done, body=wire_processes.SendSignal(signal))

    async def write_stdin(self, process_id: str, asked: wire_processes.WriteStdin) -> wire_processes.StdinWritten:
        return await self._call("POST", f"{_process(process_id)}/stdin", wire_processes.StdinWritten, body=asked)

    async def acknowledge(self, process_id: str) -> None:
        """What this process was started for is stored: its key need not be remembered any more."""
        await self._call("DELETE", f"{_process(process_id)}/key", Done)

    async def acknowledge_all(self, *, keep: str) -> None:
        """Likewise for all of the chat but those whose key begins so."""
        asked = wire_processes.AcknowledgeProcesses(keep)
        await self._call("POST", "/processes/acknowledged", Done, body=asked)

    # Terminals

    async def open_terminal(self, asked: StartTerminal) -> Terminal:
        """Asked again with the same id, nothing is started again."""
        return await self._call("POST", "/terminals", Terminal, body=asked)

    def attach(self, terminal_id: str) -> AbstractAsyncContextManager[aiohttp.ClientWebSocketResponse]:
        """What it shows and what is typed, as `wire/agent/terminal.py` has it."""
        return self._exchange.socket(f"/terminals/{quote(terminal_id, safe='')}/attach", headers=self._headers)

    # Files

    async def lines(self, asked: wire_files.LinesQuery) -> wire_files.FileLines:
        return await self.get("/files/lines", asked, wire_files.FileLines)

    @asynccontextmanager
    async def open_content(
        self, path: str, *, headers: Mapping[str, str] = _NOBODY
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """A file of any size, to be read in pieces from `response.content`. `headers` may ask for a `Range`."""
        asked, sent = wire_files.PathQuery(path=path), {**headers, **self._headers}
        async with self._exchange.open("GET", "/files/content", headers=sent, query=asked) as response:
            yield response

    async def content(self, path: str, *, most_bytes: int) -> bytes:
        """A whole file. Raises TooLarge for one that is larger, without having read more of it than that."""
        read = bytearray()
        async with self.open_content(path) as response:
            async for chunk in response.content.iter_any():
                read += chunk
                if len(read) > most_bytes:
                    raise TooLarge(f"The file has more than {most_bytes} bytes.", limit=most_bytes)
        return bytes(read)

    async def write(
        self, path: str, content: bytes | AsyncIterable[bytes], *, exclusive: bool = False
    ) -> wire_files.Written:
        """Put a file in place, whole or not at all."""
        return await self._exchange.call(
            "PUT",
            "/files/content",
            wire_files.Written,
            headers=self._headers,
            query=wire_files.WriteQuery(path=path, exclusive=exclusive),
            body=content,
            seconds=_UPLOAD_SECONDS,
        )

    async def edit(self, asked: wire_files.EditFiles) -> wire_files.EditedFiles:
        """All edits, or none."""
        return await self._call("POST", "/files/edits", wire_files.EditedFiles, body=asked)

    async def list(self, asked: wire_files.ListQuery) -> wire_files.Listing:
        return await self.get("/files/list", asked, wire_files.Listing)

    async def resolve(self, path: str) -> wire_files.ResolvedPath:
        return await self.get("/files/resolve", wire_files.PathQuery(path=path), wire_files.ResolvedPath)

    async def status(self, path: str) -> wire_files.PathStatus:
        return await self.get("/files/status", wire_files.PathQuery(path=path), wire_files.PathStatus)

    async def make_directory(self, path: str) -> wire_files.ResolvedPath:
        asked = wire_files.MakeDirectory(path=path)
        return await self._call("POST", "/files/directories", wire_files.ResolvedPath, body=asked)

    async def move(self, asked: wire_files.MovePath) -> wire_files.ResolvedPath:
        return await self._call("POST", "/files/move", wire_files.ResolvedPath, body=asked)

    async def remove(self, asked: wire_files.RemoveQuery) -> wire_files.ResolvedPath:
        return await self._call("DELETE", "/files", wire_files.ResolvedPath, query=asked)

    async def _call(
        self,
        method: str,
        path: str,
        shape: type[T],
        *,
        query: msgspec.Struct | None = None,
        body: msgspec.Struct | None = None,
    ) -> T:
        return await self._exchange.call(method, path, shape, headers=self._headers, query=query, body=body)


def agent_client(address: str, token: Secret, clock: Clock) -> AgentClient:
    """A client for the agent that listens there. It connects when it is first used."""
    return AgentClient(Exchange(address, token, clock))


def _process(id: str) -> str:
    """An id may be anything that a model has thought of."""
    return f"/processes/{quote(id or '-', safe='')}"
