"""Starts an agent: here in the foreground, or detached so that it outlives whoever started it."""

import asyncio
import os
import sys
from collections.abc import Sequence

import chatd
from chatd.agent.options import AgentOptions, parse, tcp_address
from chatd.agent.place import Place, Record
from chatd.agent.system_processes import boot_id, look_up
from chatd.clock import SystemClock
from chatd.core.errors import ChatdError, StartRefused


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
    lock = place.hold()
    if lock is None:
        if (live := place.live_record()) is None:
            raise StartRefused(f"Another agent is starting or stopping in {place.folder}.", detail="Try again.")
        say_address(live.address)
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
    agent = Agent(options, place, workspace_id=workspace_id, clock=SystemClock())
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
