"""How long until a server answers: first start and later ones, beside the imports alone."""

import asyncio
import sys

from bench.processes import chatd_serve, median, new_data_dir, started

RUNS = 5


async def main() -> None:
    first: list[float] = []
    later: list[float] = []
    for _ in range(2):
        with new_data_dir() as data_dir:
            async with started(*chatd_serve(data_dir)) as server:
                first.append(server.ready_seconds)
            for _ in range(RUNS):
                async with started(*chatd_serve(data_dir)) as server:
                    later.append(server.ready_seconds)
    imports = [await _import_seconds() for _ in range(RUNS)]
    print(f"first start (initdb, migrations)  {median(first):5.2f} s")
    ratio = median(later) / median(imports)
    print(f"later start                       {median(later):5.2f} s  ({ratio:.2f} x the imports alone)")


async def _import_seconds() -> float:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    imports = "import chatd.cli.serve, chatd.server.replica_app"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", imports)
    await process.wait()
    return loop.time() - begun
