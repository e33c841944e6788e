"""A provisioner that is real and simple: a folder per workspace with an unconfined agent process in it."""

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path

from agent.running import SOURCE
from chatd.agent.place import Place, Record
from chatd.workspaces.provisioner import BuildFailed, BuildLog, WorkspaceSpec

PATIENCE = 30.0  # for an agent to start or to end, on a machine that does five other things


class FolderProvisioner:
    """`calls` are what it was asked for. `trouble` is what the next start says went wrong. A start says `begun` and
    waits for `gate`."""

    kind = "local"
    notes: tuple[str, ...] = ("Nothing is confined.",)

    def __init__(self, root: Path, *, host_id: str = "here") -> None:
        self.root = root
        self.host_id = host_id
        self.calls: list[str] = []
        self.trouble: Exception | None = None
        self.stop_trouble: Exception | None = None  # likewise of every stop
        self.gate = asyncio.Event()
        self.gate.set()
        self.begun = asyncio.Event()

    def check(self, config: str) -> None:
        pass

    def folder(self, spec: WorkspaceSpec) -> Path:
        return self.root / spec.workspace_id.hex[-12:]  # short, because sockets are in it

    async def start(self, spec: WorkspaceSpec, log: BuildLog) -> str:
        self.calls.append("start")
        log("start", "begins")
        self.begun.set()
        await self.gate.wait()
        if self.trouble is not None:
            raise self.trouble
        if (known := self._record(spec)) is not None:
            return known.address
        home = self.folder(spec) / "home"
        home.mkdir(parents=True, exist_ok=True)
        place = Place.at(self.folder(spec) / "agent")
        (place.folder / "token").write_text(spec.token.reveal())
        said = self.folder(spec) / "said"
        with said.open("wb") as file:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "chatd.agent", "--dir", str(place.folder), "--home", str(home)),
                env={**os.environ, "PYTHONPATH": str(SOURCE)},
                stdout=file,
                stderr=file,
            )
        try:
            await process.wait()
        finally:
            if process.returncode is None:  # cancelled: an agent that is half started is left as it is
                await process.wait()
        record = self._record(spec)
        if record is None:
            raise BuildFailed("The agent does not start.", detail=said.read_text()[-500:])
        log("start", f"parameters {spec.parameters}")
        return record.address

    async def stop(self, spec: WorkspaceSpec, log: BuildLog) -> None:
        self.calls.append("stop")
        if self.stop_trouble is not None:
            raise self.stop_trouble
        record = self._record(spec)
        if record is not None:
            await _ended(record, signal.SIGTERM)

    async def delete(self, spec: WorkspaceSpec, log: BuildLog) -> None:
        await self.stop(spec, log)
        self.calls.append("delete")
        shutil.rmtree(self.folder(spec), ignore_errors=True)

    async def find(self, spec: WorkspaceSpec) -> str | None:
        record = self._record(spec)
        return None if record is None else record.address

    def _record(self, spec: WorkspaceSpec) -> Record | None:
        return Place(self.folder(spec) / "agent").live_record()

    def records(self) -> list[Record]:
        """Of all agents that run."""
        found = [Place(folder / "agent").live_record() for folder in self.root.glob("*")]
        return [record for record in found if record is not None]

    async def kill_all(self) -> None:
        """SIGKILL: they have no time for anything."""
        for record in self.records():
            await _ended(record, signal.SIGKILL)


async def _ended(record: Record, number: signal.Signals) -> None:
    """Signal a process that is not our child, and wait for its end, which a descriptor of it tells."""
    try:
        process = os.pidfd_open(record.pid)
    except ProcessLookupError:
        return
    gone = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(process, gone.set)
    try:
        if record.is_live:
            signal.pidfd_send_signal(process, number)
            async with asyncio.timeout(PATIENCE):
                await gone.wait()
    finally:
        loop.remove_reader(process)
        os.close(process)
