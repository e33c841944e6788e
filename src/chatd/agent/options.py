"""What an agent is started with, and the command line that says it."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from chatd.core.errors import StartRefused

IDLE_MINUTES: Final = 10.0  # a server that restarts is back long before
EGRESS_PORT: Final = 3128  # what HTTP proxies are known by; in a sandbox nobody else has it
_LONGEST_SOCKET_PATH: Final = 107  # what a Unix socket's address holds on Linux


class AgentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`folder` is the agent's own; `home` is where commands start and what HOME is for them.

    `listen` is `unix`, or `tcp:HOST:PORT` with port 0 for any. `idle_minutes` of 0 means: never leave by itself.
    `egress_socket` is that of a proxy outside, to which `egress_port` of loopback leads; port 0 for any.
    """

    folder: Path
    listen: str = "unix"
    home: Path
    workdir: Path | None = None
    workspace_id: str | None = None
    idle_minutes: float = IDLE_MINUTES
    foreground: bool = False
    egress_socket: Path | None = None
    egress_port: int = EGRESS_PORT

    def arguments(self) -> list[str]:
        """The command line that gives these options."""
        given = ["--dir", str(self.folder), "--listen", self.listen, "--home", str(self.home)]
        given += ["--idle-minutes", str(self.idle_minutes)]
        given += ["--workdir", str(self.workdir)] if self.workdir is not None else []
        given += ["--workspace-id", self.workspace_id] if self.workspace_id is not None else []
        if self.egress_socket is not None:
            given += ["--egress-socket", str(self.egress_socket), "--egress-port", str(self.egress_port)]
        return [*given, *(["--foreground"] if self.foreground else [])]


def parse(arguments: Sequence[str]) -> AgentOptions:
    parser = argparse.ArgumentParser(
        prog="chatd agent", description="Run commands and edit files in a workspace for a chatd server."
    )
    parser.add_argument("--dir", type=Path, required=True, help="the agent's own folder: socket, token, keys")
    parser.add_argument("--listen", default="unix", help="unix, or tcp:HOST:PORT")
    parser.add_argument("--home", type=Path, default=None, help="HOME of the commands; default: that of the user")
    parser.add_argument("--workdir", type=Path, default=None, help="where commands start; default: home")
    parser.add_argument("--workspace-id", default=None, help="marks every process of this workspace")
    parser.add_argument(
        "--idle-minutes", type=float, default=IDLE_MINUTES, help="leave after so long without use; 0: stay"
    )
    parser.add_argument("--foreground", action="store_true", help="stay in this process instead of detaching")
    parser.add_argument(
        "--egress-socket", type=Path, default=None, help="the Unix socket of an HTTP proxy: the way out of a sandbox"
    )
    parser.add_argument(
        "--egress-port", type=int, default=EGRESS_PORT, help="the port on 127.0.0.1 at which commands find that proxy"
    )
    given = parser.parse_args(arguments)
    return checked(
        AgentOptions(
            folder=given.dir,
            listen=given.listen,
            home=given.home or Path.home(),
            workdir=given.workdir,
            workspace_id=given.workspace_id,
            idle_minutes=given.idle_minutes,
            foreground=given.foreground,
            egress_socket=given.egress_socket,
            egress_port=given.egress_port,
        )
    )


def checked(options: AgentOptions) -> AgentOptions:
    """The same options with absolute paths. Raises StartRefused for what can't work."""
    tcp_address(options.listen)
    if not 0 <= options.idle_minutes < float("inf"):
        raise StartRefused("--idle-minutes must be 0 or more.")
    if not 0 <= options.egress_port <= 65535:
        raise StartRefused("--egress-port must be a port, 0 to 65535.")
    egress = options.egress_socket.absolute() if options.egress_socket is not None else None
    if egress is not None and len(os.fsencode(egress)) > _LONGEST_SOCKET_PATH:
        raise StartRefused(
            f"--egress-socket is longer than {_LONGEST_SOCKET_PATH} bytes, the most that a socket takes."
        )
    mark = options.workspace_id
    if mark is not None and not (mark and mark.isascii() and mark.replace("-", "").replace("_", "").isalnum()):
        raise StartRefused("--workspace-id may have letters, digits, - and _ only.")
    return msgspec.structs.replace(
        options,
        folder=options.folder.absolute(),
        home=options.home.absolute(),
        workdir=options.workdir.absolute() if options.workdir is not None else None,
        egress_socket=egress,
    )


def tcp_address(listen: str) -> tuple[str, int] | None:
    """Host and port of `tcp:HOST:PORT`; None for `unix`."""
    if listen == "unix":
        return None
    kind, _, rest = listen.partition(":")
    host, _, port = rest.rpartition(":")
    if kind != "tcp" or not host or not port.isdigit() or int(port) > 65535:
        raise StartRefused(f"--listen {listen!r} is not an address.", detail="Give unix, or tcp:HOST:PORT.")
    return host.strip("[]"), int(port)
