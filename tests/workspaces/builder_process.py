"""A replica in a process of its own that begins a build and never ends it: for tests that kill it."""

import asyncio
import sys
from pathlib import Path
from uuid import UUID

from chatd.clock import SystemClock
from chatd.observe.metrics import Metrics
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.encrypted import EncryptedStore
from chatd.store.migrate import shipped_functions
from chatd.store.pool import open_pool
from chatd.store.store import SqlStore
from chatd.workspaces.running import running_workspaces
from engine.deployment import LocalHints
from store.world import CIPHER
from workspaces.folders import FolderProvisioner


async def main(dsn: str, replica_id: UUID, root: Path, hangs_after_start: bool) -> None:
    folders = FolderProvisioner(root)
    original = folders.start

    async def start(*args: object) -> str:
        if hangs_after_start:
            await original(*args)  # pyright: ignore[reportArgumentType]
        print("begun", flush=True)  # noqa: T201 - the test reads it
        return await asyncio.Event().wait() and ""

    folders.start = start  # pyright: ignore[reportAttributeAccessIssue]
    async with open_pool(dsn, function_schema=shipped_functions().schema, size=4) as pool:
        store = AuthorizedStore(EncryptedStore(SqlStore(pool), CIPHER), RoleAuthorizer())
        async with running_workspaces(
            store,
            LocalHints(),
            [folders],
            Metrics().workspaces,
            clock=SystemClock(),
            replica_id=replica_id,
            host_id="here",
        ):
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], UUID(sys.argv[2]), Path(sys.argv[3]), sys.argv[4] == "after"))
