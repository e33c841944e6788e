"""Ports on which programs of the workspace listen, as the kernel tells. Reads the disk."""

import os
import re
import socket
from pathlib import Path
from typing import Final

from chatd.agent.files.disk import on_disk
from chatd.agent.processes.ending import Members
from chatd.agent.request import Request
from chatd.agent.response import Response, answer
from chatd.agent.routes import Route
from chatd.wire.agent.ports import ListeningPort, Ports

MOST_PORTS: Final = 1000
_MOST_COMMAND: Final = 200  # characters
_LISTENING: Final = "0A"  # TCP_LISTEN of linux/tcp_states.h
_SOCKET: Final = re.compile(r"socket:\[(\d+)\]")


class PortRoutes:
    def __init__(self, members: Members) -> None:
        self._members = members

    def routes(self) -> tuple[Route, ...]:
        return (Route("GET", "/ports", self._ports),)

    async def _ports(self, _request: Request) -> Response:
        return answer(Ports(tuple(await on_disk(listening, self._members))))


def listening(members: Members) -> list[ListeningPort]:
    """By port. A socket that several processes share is that of the oldest."""
    sockets = {inode: at for table in ("tcp", "tcp6") for inode, at in _table(Path("/proc/net") / table)}
    found: list[ListeningPort] = []
    for process in sorted(members.look(), key=lambda one: (one.start_ticks, one.pid)):
        for inode in _sockets_of(process.pid):
            if (at := sockets.pop(inode, None)) is not None:
                address, port = at
                found.append(ListeningPort(port=port, address=address, pid=process.pid, command=_command(process.pid)))
    return sorted(found, key=lambda one: (one.port, one.address))[:MOST_PORTS]


def _table(file: Path) -> list[tuple[str, tuple[str, int]]]:
    try:
        lines = file.read_text("ascii").splitlines()[1:]
    except OSError:
        return []
    rows = [line.split() for line in lines]
    return [(row[9], _address(row[1])) for row in rows if row[3] == _LISTENING]


def _address(text: str) -> tuple[str, int]:
    """The kernel prints words of four bytes in its own order, which is that of all machines we run on: little."""
    address, _, port = text.partition(":")
    words = [bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8)]
    family = socket.AF_INET if len(words) == 1 else socket.AF_INET6
    return socket.inet_ntop(family, b"".join(words)), int(port, 16)


def _sockets_of(pid: int) -> list[str]:
    folder = f"/proc/{pid}/fd"
    found: list[str] = []
    try:
        for name in os.listdir(folder):  # noqa: PTH208 - names only
            try:
                leads_to = _SOCKET.fullmatch(os.readlink(f"{folder}/{name}"))  # noqa: PTH115 - many of them
            except OSError:
                continue
            if leads_to is not None:
                found.append(leads_to[1])
    except OSError:
        return found
    return found


def _command(pid: int) -> str:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
    except OSError:
        return ""
    return line.decode("utf-8", "replace")[:_MOST_COMMAND]
