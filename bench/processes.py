"""A server to measure: started for real, its CPU time read from the kernel."""

import asyncio
import os
import re
import signal
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec

PASSWORD = "correct horse battery staple"
_TICK = os.sysconf("SC_CLK_TCK")


class Measured(msgspec.Struct, frozen=True):
    url: str
    pid: int
    ready_seconds: float

    def cpu_seconds(self) -> float:
        """User and system time of the process so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK


@asynccontextmanager
async def started(*command: str, ready: str = r"is ready: (http\S+)", **environ: str) -> AsyncIterator[Measured]:
    """Run a server until it says where it is; stop it at the end."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **environ}, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        async for line in process.stdout:
            if found := re.search(ready, line.decode()):
                yield Measured(found[1], process.pid, loop.time() - begun)
                break
    finally:
        process.send_signal(signal.SIGTERM)
        await process.communicate()


def chatd_serve(data_dir: Path) -> Sequence[str]:
    return [sys.executable, "-m", "chatd", "serve", "--port", "0", "--data-dir", str(data_dir), "--log-level", "error"]


@contextmanager
def new_data_dir() -> Iterator[Path]:
    """On a real disk, and open to the user that Postgres runs as when this is root."""
    with tempfile.TemporaryDirectory(prefix="chatd-bench-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder) / "data"


def median(values: Sequence[float]) -> float:
    return statistics.median(values)
