"""A terminal of a workspace in one's own: keys go there as they are, and what it shows comes here."""

import asyncio
import os
import shutil
import signal
import sys
import termios
import tty
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, Final
from uuid import UUID

import aiohttp
import msgspec

from chatd.background import beside
from chatd.client import Client
from chatd.clock import SystemClock
from chatd.core.errors import ChatdError
from chatd.minting import uuid7
from chatd.wire.agent.terminal import Dropped, Exit, Resize, Skipped

LEAVE: Final = b"\x1d\x1d\x1d"  # Ctrl-] three times
_READ_BYTES: Final = 16 * 1024
_ENDS: Final = (
    *(aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR),
)
_FROM: Final = msgspec.json.Decoder(Exit | Skipped | Dropped)


class _Left(Exception):
    pass


async def run_terminal(
    client: Client, workspace_id: UUID, command: str | None, *, reconnect: UUID | None, back: str
) -> int:
    """The exit code of what ran in it; 0 for who has left it running. `back` is the command with which one comes back,
    but for the id. Raises ChatdError."""
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise ChatdError("A terminal needs a terminal.", detail="Run this where you can type.")
    columns, rows = shutil.get_terminal_size()
    id = reconnect or uuid7(SystemClock().now())
    again = f"It goes on for ten minutes. Come back: {back} {id}"
    opened = client.workspaces.terminal(workspace_id, reconnect=id, columns=columns, rows=rows, command=command)
    async with opened as socket:
        with _raw(), suppress(_Left):
            async with beside({"keys": _send_keys(socket), "size": _send_sizes(socket)}):
                return await _show(socket, again)
    print(f"\n{again}", file=sys.stderr)
    return 0


async def _show(socket: aiohttp.ClientWebSocketResponse, again: str) -> int:
    code: int | None = None
    while (frame := await socket.receive()).type not in _ENDS:
        if frame.type is aiohttp.WSMsgType.BINARY:
            sys.stdout.buffer.write(frame.data)
            sys.stdout.buffer.flush()
        elif frame.type is aiohttp.WSMsgType.TEXT:
            told = _FROM.decode(frame.data)
            code = told.exit_code if isinstance(told, Exit) else code
    if code is None:
        said = frame.extra if frame.type is aiohttp.WSMsgType.CLOSE and frame.extra else ""
        raise ChatdError(said or "The connection to the terminal has ended.", detail=again)
    return code


async def _send_keys(socket: aiohttp.ClientWebSocketResponse) -> None:
    """As fast as the other side takes them: what was not sent yet stays in the terminal."""
    last = b""
    while typed := await _keys(sys.stdin.fileno()):
        last = (last + typed)[-len(LEAVE) :]
        if last == LEAVE:
            break
        await socket.send_bytes(typed)
    raise _Left


async def _keys(fd: int) -> bytes:
    """What is typed next; nothing when the terminal is gone."""
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)
    try:
        return os.read(fd, _READ_BYTES)
    except OSError:
        return b""


async def _send_sizes(socket: aiohttp.ClientWebSocketResponse) -> None:
    changed = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGWINCH, changed.set)
    try:
        while True:
            await changed.wait()
            changed.clear()
            columns, rows = shutil.get_terminal_size()
            await socket.send_str(msgspec.json.encode(Resize(columns=columns, rows=rows)).decode())
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)


@contextmanager
def _raw() -> "Generator[None]":
    """Every key goes to the other side, Ctrl-C too; afterwards all is as it was."""
    fd = sys.stdin.fileno()
    before: list[Any] = termios.tcgetattr(fd)
    tty.setraw(fd, termios.TCSADRAIN)  # what was typed already goes there too
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
