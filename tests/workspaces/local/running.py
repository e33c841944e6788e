"""Real local workspaces, and what runs in them."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from chatd.agent.system_processes import living, look_up
from chatd.clock import SystemClock
from chatd.core.secret import Secret
from chatd.minting import new_token, uuid7
from chatd.wire.agent.processes import ProcessOutput, StartProcess
from chatd.workspaces.agents.client import AgentClient, agent_client
from chatd.workspaces.local.folder import KeeperRecord, WorkspaceFolder
from chatd.workspaces.local.provisioner import LocalProvisioner
from chatd.workspaces.provisioner import WorkspaceSpec

WAIT_SECONDS = 30.0  # for what must happen soon, on a machine that does five other things
OWNER = UUID("01900000-0000-7000-8000-000000000001")


def new_spec(config: str = "{}", *, parameters: dict[str, str] | None = None, token: Secret | None = None):
    return WorkspaceSpec(
        workspace_id=uuid7(datetime.now(UTC)),  # noqa: TID251  a new one for every test
        name="Trial workspace",
        owner_id=OWNER,
        owner_name="ada",
        config=config,
        parameters=parameters or {},
        token=token or new_token(),
    )


class Log:
    """Keeps the lines of a build."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, str]] = []

    def __call__(self, stage: str, line: str, *, level: str = "info") -> None:
        self.lines.append((stage, line, level))

    @property
    def text(self) -> str:
        return "\n".join(line for _, line, _ in self.lines)


def local(root: Path, **more: object) -> LocalProvisioner:
    return LocalProvisioner(root, host_id="this-host", clock=SystemClock(), **more)  # type: ignore[arg-type]


class Workspace:
    """One that runs. `client` asks its agent."""

    def __init__(self, provisioner: LocalProvisioner, root: Path, spec: WorkspaceSpec, address: str, log: Log) -> None:
        self.provisioner = provisioner
        self.spec = spec
        self.address = address
        self.log = log
        self.folder = WorkspaceFolder(root, spec.workspace_id)
        self.client: AgentClient = agent_client(address, spec.token, SystemClock())
        self._started = 0

    async def start(self, command: str) -> str:
        self._started += 1
        return (await self.client.start(StartProcess(key=f"trial-{self._started}", command=command))).id

    async def run(self, command: str) -> ProcessOutput:
        return await self.client.output(await self.start(command), wait_seconds=WAIT_SECONDS)

    def record(self) -> KeeperRecord:
        found = self.folder.record()
        assert found is not None
        return found


@asynccontextmanager
async def workspace(
    root: Path, config: str = "{}", *, provisioner: LocalProvisioner | None = None, spec: WorkspaceSpec | None = None
) -> AsyncGenerator[Workspace]:
    """Started before the block, and deleted after it."""
    provisioner, spec, log = provisioner or local(root), spec or new_spec(config), Log()
    running: Workspace | None = None
    try:
        running = Workspace(provisioner, root, spec, await provisioner.start(spec, log), log)
        yield running
    finally:
        if running is not None:
            await running.client.close()
        await provisioner.delete(spec, Log())
        assert not (root / str(spec.workspace_id)).exists()


async def until(condition: object, *, seconds: float = WAIT_SECONDS) -> None:
    """Look until it holds; the test fails when it does not."""
    clock = SystemClock()
    deadline = clock.monotonic() + seconds
    assert callable(condition)
    while not condition():
        assert clock.monotonic() < deadline, "this did not happen in time"
        await clock.sleep(0.02, timer="test")


def inside(record: KeeperRecord) -> list[int]:
    """All processes of the sandbox's own pid namespace, as they are seen from here."""
    namespace = _namespace(record.inner_pid)
    assert namespace is not None
    return [process.pid for process in living() if _namespace(process.pid) == namespace]


def _namespace(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}/ns/pid").stat().st_ino
    except OSError:
        return None


def lives(pid: int) -> bool:
    found = look_up(pid)
    return found is not None and not found.is_dead


def environ(pid: int) -> str:
    """What a process was started with."""
    return Path(f"/proc/{pid}/environ").read_text()


def program(pid: int) -> str:
    """The name of what a process runs."""
    return Path(f"/proc/{pid}/exe").resolve().name


def existing(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if Path(path).exists()]


def groups_of(workspace_id: str) -> list[Path]:
    """All control groups that bear its name, whoever has made them."""
    return list(Path("/sys/fs/cgroup").rglob(f"chatd-{workspace_id}"))
