"""The workspaces of a replica, running: builds are carried out, use is stored, deadlines are kept."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

import msgspec

from chatd.background import beside
from chatd.clock import Clock
from chatd.core.workspaces.kinds import ProvisionerKind
from chatd.observe.workspace_metrics import WorkspaceMetrics
from chatd.store.hints import Hints
from chatd.store.store import Store
from chatd.workspaces.adoption import Adoption
from chatd.workspaces.builds import Builder
from chatd.workspaces.finding import StoredResolver
from chatd.workspaces.lifecycle import Lifecycle
from chatd.workspaces.provisioner import Provisioner
from chatd.workspaces.seeding import seed_template
from chatd.workspaces.upkeep import Upkeep
from chatd.workspaces.usage import UsageTracker


class Workspaces(msgspec.Struct, frozen=True):
    """`lifecycle` is for people and models who ask for something; `resolver` for turns, terminals and files."""

    lifecycle: Lifecycle
    resolver: StoredResolver
    usage: UsageTracker
    notes: tuple[str, ...]  # for the operator, at every start


@asynccontextmanager
async def running_workspaces(
    store: Store,
    hints: Hints,
    provisioners: Sequence[Provisioner],
    metrics: WorkspaceMetrics,
    *,
    clock: Clock,
    replica_id: UUID,
    host_id: str,
    keeps_agents: bool = False,
    most_per_user: int = 0,
) -> AsyncGenerator[Workspaces]:
    """For as long as the block. `keeps_agents`: a clean stop of the last server leaves its machine's agents running."""
    by_kind = {ProvisionerKind(each.kind): each for each in provisioners}
    if ProvisionerKind.LOCAL in by_kind:
        await seed_template(store, clock)
    usage = UsageTracker(store, clock, replica_id=replica_id)
    builder = Builder(store, hints, clock, by_kind, metrics, replica_id=replica_id, host_id=host_id)
    adoption = Adoption(store, clock, by_kind, replica_id=replica_id, host_id=host_id)
    tasks = {
        "builds": builder.run(),
        "workspace heartbeat": usage.keep(),
        "workspace upkeep": Upkeep(store, hints, clock, metrics).keep(),
        "adoption": adoption.adopt(),
    }
    async with beside(tasks):
        yield Workspaces(
            Lifecycle(store, hints, clock, by_kind, most_per_user=most_per_user),
            StoredResolver(store, hints, clock, by_kind, usage, host_id=host_id),
            usage,
            tuple(note for each in provisioners for note in each.notes),
        )
    await usage.flush()
    if not keeps_agents:
        await adoption.stop_agents()
