"""A data directory that Postgres' user can reach, at rest and removed at the end."""

import shutil
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from chatd.clock import SystemClock
from chatd.store.embedded_lease import wait_stopped
from chatd.store.keeper.account import SHARED, Account, postgres_account
from chatd.store.keeper.paths import DataDirectory
from chatd.store.keeper.process import postgres_processes


def reachable_folder() -> Path:
    memory = Path("/dev/shm")  # removing a database takes a second on a slow disk
    parent = memory if memory.is_dir() and shutil.disk_usage(memory).free > 1_000_000_000 else None
    folder = Path(tempfile.mkdtemp(prefix="chatd-embedded-", dir=parent)).resolve()
    folder.chmod(0o711)
    return folder


@pytest.fixture
async def data_dir() -> AsyncGenerator[Path]:
    """Not below pytest's own folder, which only root can enter."""
    folder = reachable_folder()
    data_dir = folder / "data"
    yield data_dir
    clock = SystemClock()
    async with clock.timeout(30, timer="test"):
        await wait_stopped(data_dir, clock)
    location = DataDirectory(data_dir).location
    if location.exists():
        elsewhere = Path(location.read_text().strip())
        assert elsewhere.parent == SHARED
        shutil.rmtree(elsewhere)
    shutil.rmtree(folder)


@pytest.fixture
def account() -> Account:
    """Whom Postgres runs as here."""
    return postgres_account()


@pytest.fixture
def spawn(account: Account) -> Callable[..., "subprocess.Popen[bytes]"]:
    """Start a program as that user; use it as a context manager."""

    def start(*command: str | Path) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=account.user,
            group=account.group,
            extra_groups=account.groups,
        )

    return start


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.fixture
def postmasters() -> Callable[[Path], list[int]]:
    """The main processes of the Postgres servers that work in a data directory."""

    def find(data_dir: Path) -> list[int]:
        data = DataDirectory(data_dir).path / "postgres" / "data"
        if not data.exists():
            return []
        pids = postgres_processes(data)
        found: list[int] = []
        for pid in pids:
            try:
                if parent_of(pid) not in pids:
                    found.append(pid)
            except OSError:
                continue
        return found

    return find


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], object]:
    """Wait for a condition that another process brings about."""
    clock = SystemClock()

    async def wait(condition: Callable[[], bool]) -> None:
        async with clock.timeout(30, timer="test"):
            while not condition():
                await clock.sleep(0.02, timer="test")

    return wait
