"""What people ask of workspaces: create, rename, start, stop, delete, cancel."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

import asyncpg
from msgspec import UNSET

from chatd.clock import Clock
from chatd.core.access import Action, Person
from chatd.core.errors import Conflict, InvalidRequest, NotFound, Validation
from chatd.core.request_keys import check_key, workspace_key_of
from chatd.core.workspaces.kinds import BuildTransition
from chatd.core.workspaces.lifetime import lifetime
from chatd.core.workspaces.template_checks import check_workspace
from chatd.server.workspaces.reading import WorkspaceReading
from chatd.server.workspaces.shown_workspaces import shown_build
from chatd.store.constraints import UniqueConstraint
from chatd.store.queries import GetWorkspaceRow
from chatd.store.store import Store
from chatd.wire import workspaces as wire
from chatd.workspaces.lifecycle import Lifecycle, NewWorkspace


class WorkspaceBuilding:
    def __init__(
        self, store: Store, lifecycle: Lifecycle, reading: WorkspaceReading, clock: Clock, organization_id: UUID
    ) -> None:
        self._store = store
        self._lifecycle = lifecycle
        self._reading = reading
        self._clock = clock
        self._organization_id = organization_id

    async def create(self, person: Person, asked: wire.CreateWorkspace, *, key: str | None) -> wire.Workspace:
        """With a key that has made a workspace already, that one as it is now."""
        made_by = None
        if key is not None:
            check_key(key)
            made_by = workspace_key_of(person.user_id, key)
            if (known := await self._store.get_workspace_build_by_key(key=made_by)) is not None:
                return await self._reading.workspace(known.workspace_id)
        template = await self._store.get_template(id=asked.template_id)
        if template is None:
            wrong = Validation("template_id", "the id of a template")
            raise InvalidRequest("The template is not there.", validations=[wrong])
        check_workspace(name=asked.name, ttl_ms=asked.ttl_ms, allows_ttl=template.allows_user_autostop)
        build = await self._lifecycle.create(
            NewWorkspace(
                owner_id=person.user_id,
                organization_id=self._organization_id,
                template_id=asked.template_id,
                name=asked.name or "",
                parameters=asked.parameters,
                ttl_ms=asked.ttl_ms,
                key=made_by,
            )
        )
        return await self._reading.workspace(build.workspace_id)

    async def change(self, person: Person, id: UUID, asked: wire.UpdateWorkspace) -> wire.Workspace:
        row = await self._reading.allowed(person, Action.UPDATE, id)
        name = row.name if asked.name is UNSET else asked.name
        ttl_ms = row.ttl_ms if asked.ttl_ms is UNSET else asked.ttl_ms
        template = await self._store.get_template(id=row.template_id)
        allows_ttl = ttl_ms == row.ttl_ms or template is None or template.allows_user_autostop
        check_workspace(name=name, ttl_ms=None if ttl_ms == row.ttl_ms else ttl_ms, allows_ttl=allows_ttl)
        with _taken_name_refused():
            if await self._store.update_workspace(id=id, name=name, ttl_ms=ttl_ms) is None:
                raise NotFound("Workspace")
        if ttl_ms != row.ttl_ms and row.has_agent and template is not None:
            lives = lifetime(
                ttl_ms=ttl_ms,
                default_ttl_ms=template.default_ttl_ms,
                allows_user_autostop=template.allows_user_autostop,
                max_lifetime_ms=template.max_lifetime_ms,
            )
            await self._live_for(row, lives.ttl)
        return await self._reading.workspace(id)

    async def build(self, person: Person, id: UUID, asked: wire.CreateBuild) -> wire.WorkspaceBuild:
        if asked.parameters is not None and asked.transition is not BuildTransition.START:
            wrong = Validation("parameters", "left out: only a start has values")
            raise InvalidRequest("Check parameters.", validations=[wrong])
        action = Action.DELETE if asked.transition is BuildTransition.DELETE else Action.UPDATE
        await self._reading.allowed(person, action, id)
        match asked.transition:
            case BuildTransition.START:
                made = await self._lifecycle.start(id, parameters=asked.parameters)
            case BuildTransition.STOP:
                made = await self._lifecycle.stop(id)
            case BuildTransition.DELETE:
                made = await self._lifecycle.delete(id)
        return shown_build(made)

    async def delete(self, person: Person, id: UUID, *, orphan: bool) -> wire.WorkspaceBuild:
        await self._reading.allowed(person, Action.DELETE, id)
        return shown_build(await (self._lifecycle.orphan(id) if orphan else self._lifecycle.delete(id)))

    async def cancel(self, person: Person, id: UUID, build_id: UUID) -> wire.WorkspaceBuild:
        await self._reading.allowed(person, Action.UPDATE, id)
        await self._reading.build(id, build_id)
        return shown_build(await self._lifecycle.cancel(build_id))

    async def _live_for(self, row: GetWorkspaceRow, ttl: timedelta | None) -> None:
        """From now on; None: as long as it may."""
        deadline = None if ttl is None else self._clock.now() + ttl
        await self._store.set_workspace_deadline(id=row.id, deadline=deadline)


@contextmanager
def _taken_name_refused() -> Iterator[None]:
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name != UniqueConstraint.WORKSPACES_NAME_KEY:
            raise
        raise Conflict(
            "There is a workspace of this name.", validations=[Validation("name", "already used by another workspace")]
        ) from error
