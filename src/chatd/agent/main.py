"""Starts an agent: here in the foreground, or detached so that it outlives whoever started it."""

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Final

import chatd
from chatd.agent.options import AgentOptions, parse, tcp_address
from chatd.agent.place import Place, Record
from chatd.agent.system_processes import boot_id, look_up
from chatd.clock import Clock, SystemClock
from chatd.core.errors import ChatdError, StartRefused

_OTHER_SECONDS: Final = 20.0  # five to end processes, five to kill them, five for requests, and a busy machine
_LOOK_SECONDS: Final = 0.05


def main(arguments: Sequence[str]) -> int:
    """The exit code. The address goes to standard output once the agent can be reached."""
    try:
        return start(parse(arguments))
    except ChatdError as error:
        print(f"chatd agent: {error.message}", file=sys.stderr)  # noqa: T201  a command's words to who runs it
        if error.detail:
            print(f"  {error.detail}", file=sys.stderr)  # noqa: T201
        return 1


def start(options: AgentOptions) -> int:
    """Raises StartRefused, saying what to change. An agent that lives already is found, not doubled."""
    if not options.foreground:
        from chatd.agent.detached import start_detached  # the foreground needs none of it

        say_address(start_detached(options).address)
        return 0
    place = Place.at(options.folder)
    lock = asyncio.run(_lock_or_record(place, SystemClock()))
    if isinstance(lock, Record):
        say_address(lock.address)
        return 0
    try:
        asyncio.run(_serve(options, place))
    finally:
        place.clean()
        os.close(lock)
    return 0


def say_address(address: str) -> None:
    """One line, for programs to read."""
    print(address, flush=True)  # noqa: T201


async def _lock_or_record(place: Place, clock: Clock) -> int | Record:
    """The folder for ourselves, or who has it. Another that starts or stops just now is waited for."""
    until = clock.monotonic() + _OTHER_SECONDS
    while clock.monotonic() < until:
        if (lock := place.hold()) is not None:
            return lock
        if (live := place.live_record()) is not None:
            return live
        await clock.sleep(_LOOK_SECONDS, timer="other agent")
    raise StartRefused(f"Another agent holds {place.folder}, but can't be reached.", detail="End it and try again.")


async def _serve(options: AgentOptions, place: Place) -> None:
    from chatd.agent.compose import Agent  # imports the server: not needed to find an agent that lives
    from chatd.agent.serving import AgentServer, on_stop_signals, tcp_socket, unix_socket

    place.clean()
    workspace_id = options.workspace_id or place.workspace_id()
    tcp = tcp_address(options.listen)
    bound = unix_socket(place.socket_path()) if tcp is None else tcp_socket(*tcp)
    if tcp is None:
        address = f"unix:{place.socket_path()}"
    else:
        host, port = bound.getsockname()[:2]
        address = f"tcp:[{host}]:{port}" if ":" in host else f"tcp:{host}:{port}"
    egress = None
    if options.egress_socket is not None:
        from chatd.agent.egress import EgressForwarder

        egress = EgressForwarder(tcp_socket("127.0.0.1", options.egress_port), options.egress_socket, SystemClock())
    agent = Agent(options, place, workspace_id=workspace_id, clock=SystemClock(), egress=egress)
    server = AgentServer(agent.app)
    on_stop_signals(agent.stop)
    me = look_up(os.getpid())
    async with agent.running(server.stop):
        place.write_record(
            Record(
                pid=os.getpid(),
                start_ticks=me.start_ticks if me is not None else 0,
                boot_id=boot_id(),
                address=address,
                version=chatd.__version__,
                workspace_id=workspace_id,
            )
        )
        say_address(address)  # the socket listens since before: who connects now waits for the loop at most
        await server.serve(sockets=[bound])
