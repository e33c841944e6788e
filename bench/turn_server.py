"""The server under test, as a process on its own core: `floor`s or chatd's engine behind the same bare HTTP front."""

import asyncio
import gc
import resource
import sys
import tracemalloc
from contextlib import AsyncExitStack

from aiohttp import web

from bench.cores import SERVER, allow_many_files, pin
from bench.sampling import Sampler
from bench.turn_engine import open_engine
from bench.turn_floor import open_floor
from chatd.observe.logs import configure_logs
from chatd.server.serving import run


class Instruments:
    """What is asked of the process from outside."""

    def __init__(self) -> None:
        self._sampler = Sampler()

    async def cpu(self, request: web.Request) -> web.Response:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return web.Response(text=str(used.ru_utime + used.ru_stime))

    async def collect(self, request: web.Request) -> web.Response:
        gc.collect()
        return web.Response()

    async def profile(self, request: web.Request) -> web.Response:
        self._sampler.start()
        return web.Response()

    async def profiled(self, request: web.Request) -> web.Response:
        self._sampler.stop()
        return web.Response(text=self._sampler.report(80))

    async def trace(self, request: web.Request) -> web.Response:
        tracemalloc.start()
        return web.Response()

    async def traced(self, request: web.Request) -> web.Response:
        snapshot = tracemalloc.take_snapshot().filter_traces((tracemalloc.Filter(False, tracemalloc.__file__),))
        lines = [f"{stat.size:>12,} {stat.count:>9,} {stat.traceback}" for stat in snapshot.statistics("lineno")[:60]]
        return web.Response(text="\n".join(lines))


async def main() -> int:
    kind, dsn, vendor = sys.argv[1:]
    pin(SERVER)
    allow_many_files()
    configure_logs(level="warning")
    async with AsyncExitStack() as stack:
        opened = open_engine(dsn) if kind == "chatd" else open_floor(kind, dsn, vendor)
        turns = await stack.enter_async_context(opened)
        instruments = Instruments()
        app = web.Application()
        app.router.add_post("/{pace}/begin/{chat}", turns.begin)
        app.router.add_post("/{pace}/turn/{chat}", turns.turn)
        for name in ("cpu", "collect", "profile", "profiled", "trace", "traced"):
            app.router.add_get(f"/{name}", getattr(instruments, name))
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=4096)
        await site.start()
        sys.stdout.write(f"is ready: http://127.0.0.1:{runner.addresses[0][1]}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()
    return 0


if __name__ == "__main__":
    run(main)
