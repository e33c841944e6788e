"""All that people do with workspaces, for the routes."""

from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.server.workspaces.building import WorkspaceBuilding
from chatd.server.workspaces.reaching import Reaching
from chatd.server.workspaces.reading import WorkspaceReading
from chatd.server.workspaces.templates import Templates
from chatd.store.store import Store
from chatd.workspaces.running import Workspaces


class AllWorkspaces(msgspec.Struct, frozen=True, kw_only=True):
    templates: Templates
    reading: WorkspaceReading
    building: WorkspaceBuilding
    reaching: Reaching


def workspaces_of(store: Store, running: Workspaces, clock: Clock, organization_id: UUID) -> AllWorkspaces:
    reading = WorkspaceReading(store)
    return AllWorkspaces(
        templates=Templates(store, running.lifecycle, clock, organization_id),
        reading=reading,
        building=WorkspaceBuilding(store, running.lifecycle, reading, clock, organization_id),
        reaching=Reaching(reading, running.resolver, clock),
    )
