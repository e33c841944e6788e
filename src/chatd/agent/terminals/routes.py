"""The routes of terminals, and what goes over the WebSocket of one."""

from typing import Final

import msgspec

from chatd.agent.request import ClientGone, Request
from chatd.agent.response import Response, answer
from chatd.agent.routes import Route
from chatd.agent.terminals.terminal import LiveTerminal, Reader
from chatd.agent.terminals.terminals import TerminalSet, check_size
from chatd.agent.websocket import Socket, SocketRoute
from chatd.background import beside
from chatd.core.errors import InvalidRequest
from chatd.wire.agent.health import Done
from chatd.wire.agent.terminal import Dropped, Exit, Resize, Skipped, StartTerminal, Terminal, Terminals

_MOST_START_BYTES: Final = 256 * 1024
_NORMAL: Final = 1000  # of RFC 6455: it is over
_BAD_FRAME: Final = 1003  # of RFC 6455: what can't be understood


class TerminalRoutes:
    def __init__(self, terminals: TerminalSet) -> None:
        self._terminals = terminals

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("POST", "/terminals", self._start, fenced=True),
            Route("GET", "/terminals", self._list),
            Route("DELETE", "/terminals/{id}", self._end, fenced=True),
        )

    def sockets(self) -> tuple[SocketRoute, ...]:
        return (SocketRoute("/terminals/{id}/attach", self._attach),)

    async def _start(self, request: Request) -> Response:
        asked = await request.json(StartTerminal, most_bytes=_MOST_START_BYTES)
        """Asked again with the same id, nothing is started again."""
        return answer(_told(self._terminals.start(asked)), status=201)

    async def _list(self, _request: Request) -> Response:
        return answer(Terminals(tuple(_told(terminal) for terminal in self._terminals.all())))

    async def _end(self, request: Request) -> Response:
        self._terminals.end(self._terminals.find(request.arguments["id"]))
        return answer(Done())

    async def _attach(self, socket: Socket) -> None:
        """What was last seen is shown again, then what comes, until the end or until the client leaves."""
        terminal = self._terminals.find(socket.argument)
        await socket.accept()
        self._terminals.attached(terminal)
        with terminal.reading() as reader:
            async with beside({"terminal input": _typing(socket, terminal)}):
                await _show(socket, terminal, reader)


async def _show(socket: Socket, terminal: LiveTerminal, reader: Reader) -> None:
    while True:
        lost, chunk = reader.take()
        if lost:
            await socket.send(Skipped(bytes=lost))
        if chunk:
            await socket.send(chunk)
        elif terminal.exit_code is not None:
            await socket.send(Exit(exit_code=terminal.exit_code))
            await socket.close(_NORMAL)
            return
        else:
            await terminal.wait_for_more(reader.number)


async def _typing(socket: Socket, terminal: LiveTerminal) -> None:
    while True:
        frame = await socket.receive()
        if isinstance(frame, bytes):
            taken = await terminal.write(frame)
            if taken < len(frame) and terminal.exit_code is None:
                await socket.send(Dropped(bytes=len(frame) - taken))
            continue
        try:
            size = msgspec.json.decode(frame, type=Resize)
            check_size(size.columns, size.rows)
        except (msgspec.MsgspecError, InvalidRequest):
            await socket.close(_BAD_FRAME, "This text frame is not understood.")
            raise ClientGone from None
        terminal.resize(size.columns, size.rows)


def _told(terminal: LiveTerminal) -> Terminal:
    return Terminal(
        id=terminal.shape.id,
        command=terminal.shape.command,
        workdir=terminal.shape.workdir,
        columns=terminal.columns,
        rows=terminal.rows,
        attached=terminal.attached,
        running=terminal.exit_code is None,
        started_at_unix=terminal.shape.started_at_unix,
        exit_code=terminal.exit_code,
    )
