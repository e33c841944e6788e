"""A tiny server as real processes: alone, or as a parent of replicas. Run as a script, it is that server.

It writes a line for whatever a test has to know: `ready URL`, `pid N`, `death N`, `draining N`.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

WAIT_SECONDS = 20.0  # several interpreters start on a busy machine


class Running:
    """A server process and the lines it writes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def line(self, kind: str) -> str:
        """The rest of the next line of that kind; other lines are passed over."""
        assert self.process.stdout is not None
        async with asyncio.timeout(WAIT_SECONDS):
            while line := (await self.process.stdout.readline()).decode():
                name, _, rest = line.strip().partition(" ")
                if name == kind:
                    return rest
        raise AssertionError(f"The server ended without a line {kind!r}.")

    async def ended(self) -> int:
        """The exit code, once all output is closed: by then every process that had it is gone."""
        async with asyncio.timeout(WAIT_SECONDS):
            assert self.process.stdout is not None
            await self.process.stdout.read()
            return await self.process.wait()


@asynccontextmanager
async def started(*arguments: str) -> AsyncIterator[Running]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, *arguments, stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def main() -> int:
    from chatd.clock import SystemClock
    from chatd.server.replicas import Death, ReplicaOptions, Seat, announce_ready, keep_replicas, take_seat
    from chatd.server.serving import Draining, ServingOptions, open_socket, run, serve

    def say(*words: object) -> None:
        os.write(1, (" ".join(map(str, words)) + "\n").encode())

    async def serve_app(sock, on_ready) -> int:
        draining = Draining()

        async def app(scope, receive, send):
            if scope["type"] != "http":
                raise ValueError(scope["type"])
            await send({"type": "http.response.start", "status": 200, "headers": []})
            if scope["path"] in ("/until-drain", "/for-ever"):
                await send({"type": "http.response.body", "body": b"held\n", "more_body": True})
                await draining.wait()
                say("draining", os.getpid())
                if scope["path"] == "/for-ever":
                    await asyncio.Event().wait()
            await send({"type": "http.response.body", "body": str(os.getpid()).encode()})

        options = ServingOptions(drain_seconds=WAIT_SECONDS, on_ready=on_ready)
        return await serve(app, sock, draining=draining, clock=SystemClock(), options=options)

    async def alone() -> int:
        return await serve_app(open_socket("127.0.0.1", 0), lambda url: say("ready", url))

    def replica(given: str) -> int:
        seat = msgspec.json.decode(given, type=Seat)
        sock = take_seat(seat)
        say("pid", os.getpid())

        def ready(_url: str) -> None:
            announce_ready(seat)

        return run(lambda: serve_app(sock, ready))

    async def parent(count: int) -> int:
        async def died(death: Death) -> None:
            say("death", death.pid)

        def argv(seat: Seat) -> list[str]:
            return [sys.executable, __file__, "replica", msgspec.json.encode(seat).decode()]

        options = ReplicaOptions(
            count=count, argv=argv, drain_seconds=WAIT_SECONDS, on_death=died, on_ready=lambda url: say("ready", url)
        )
        return await keep_replicas(open_socket("127.0.0.1", 0), clock=SystemClock(), options=options)

    match sys.argv[1:]:
        case ["alone"]:
            return run(alone)
        case ["parent", count]:
            return asyncio.run(parent(int(count)))
        case ["replica", given]:
            return replica(given)
        case unknown:
            raise ValueError(unknown)


if __name__ == "__main__":
    sys.exit(main())
