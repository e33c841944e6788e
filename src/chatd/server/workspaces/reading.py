"""What people read of workspaces: themselves, their builds, and what a build said."""

from typing import Final
from uuid import UUID

from chatd.core.access import Action, Kind, Person, Resource, may
from chatd.core.errors import Forbidden, NotFound
from chatd.server.workspaces.shown_workspaces import shown_build, shown_line, shown_workspace
from chatd.store.queries import GetWorkspaceRow, WorkspaceBuild
from chatd.store.store import Store
from chatd.wire import workspaces as wire

MOST_CHATS: Final = 50  # shown with a workspace; a few are the rule


class WorkspaceReading:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def row(self, id: UUID) -> GetWorkspaceRow:
        """Raises NotFound, also for one that the asker may not see."""
        row = await self._store.get_workspace(id=id)
        if row is None:
            raise NotFound("Workspace")
        return row

    async def allowed(self, person: Person, action: Action, id: UUID) -> GetWorkspaceRow:
        """As `row`. Raises Forbidden for who can see it and may not do this, NotFound for one that was deleted."""
        row = await self.row(id)
        if not may(person, action, Resource(Kind.WORKSPACE, owner=row.owner_id)):
            raise Forbidden(
                "You can see this workspace, but not do this with it.",
                detail="Only its owner reaches into it; administrators can stop, start, rename and delete it.",
            )
        if row.deleted:
            raise NotFound("Workspace")
        return row

    async def workspace(self, id: UUID, *, agent: wire.WorkspaceAgent | None = None) -> wire.Workspace:
        row = await self.row(id)
        chats = await self._store.list_chats_in_workspace(workspace_id=id, max_rows=MOST_CHATS)
        return shown_workspace(row, chats=chats, agent=agent)

    async def page(self, *, owner_id: UUID | None, after: UUID | None, limit: int) -> wire.WorkspacePage:
        """Those that are there and that the asker may see; of everyone where no owner is given."""
        rows = await self._store.list_workspaces(owner_id=owner_id, after_id=after, max_rows=limit + 1)
        page = rows[:limit]
        return wire.WorkspacePage(
            [shown_workspace(row) for row in page], next_after=page[-1].id if len(rows) > limit else None
        )

    async def builds(self, id: UUID, *, before: int | None, limit: int) -> wire.WorkspaceBuildPage:
        """Newest first."""
        rows = await self._store.list_workspace_builds(workspace_id=id, before_number=before, max_rows=limit + 1)
        if not rows:
            await self.row(id)
        page = rows[:limit]
        return wire.WorkspaceBuildPage(
            [shown_build(row) for row in page], next_before=page[-1].number if len(rows) > limit else None
        )

    async def build(self, id: UUID, build_id: UUID) -> WorkspaceBuild:
        """Of this workspace. Raises NotFound."""
        row = await self._store.get_workspace_build(id=build_id)
        if row is None or row.workspace_id != id:
            raise NotFound("Build")
        return row

    async def shown_build(self, id: UUID, build_id: UUID) -> wire.WorkspaceBuild:
        return shown_build(await self.build(id, build_id))

    async def logs(self, id: UUID, build_id: UUID, *, after: int, limit: int) -> wire.BuildLogs:
        """The build as it was before its lines were read: where it is over, they are all there is."""
        build = await self.build(id, build_id)
        rows = await self._store.list_build_logs(build_id=build_id, after_id=after, max_rows=limit + 1)
        page = rows[:limit]
        return wire.BuildLogs(
            [shown_line(row) for row in page],
            next_after=page[-1].id if len(rows) > limit else None,
            build=shown_build(build),
        )
