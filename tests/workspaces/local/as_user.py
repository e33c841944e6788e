"""Makes a workspace, runs a command in it and deletes it, as whoever runs this: as_user.py FOLDER."""

import asyncio
import sys
from pathlib import Path
from uuid import UUID

from chatd.clock import SystemClock
from chatd.core.secret import Secret
from chatd.wire.agent.processes import StartProcess
from chatd.workspaces.agents.client import agent_client
from chatd.workspaces.local.provisioner import LocalProvisioner
from chatd.workspaces.provisioner import WorkspaceSpec


def log(stage: str, line: str, *, level: str = "info") -> None:
    sys.stderr.write(f"{stage}: {line}\n")


async def main(root: Path) -> None:
    clock = SystemClock()
    provisioner = LocalProvisioner(root / "workspaces", host_id="h", clock=clock)
    spec = WorkspaceSpec(
        workspace_id=UUID(int=7),
        name="Trial",
        owner_id=UUID(int=1),
        owner_name="ada",
        config="{}",
        parameters={},
        token=Secret("trial"),
    )
    client = agent_client(await provisioner.start(spec, log), spec.token, clock)
    started = await client.start(StartProcess(key="k", command="id -u; pwd"))
    print((await client.output(started.id, wait_seconds=20)).output)  # noqa: T201
    await client.close()
    await provisioner.delete(spec, log)
    print(await provisioner.find(spec))  # noqa: T201


asyncio.run(main(Path(sys.argv[1])))
