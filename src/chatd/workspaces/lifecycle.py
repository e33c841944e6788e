"""What people and models ask for: create, start, stop, delete. Each makes a build and answers at once.

All of it is done with the rights of who acts (`store/actor.py`). Which build may follow is decided in
`core/workspaces/states.py`; the row's number sees to it that two who decide at once do not both build.
"""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.chat_settings import WORKSPACE_TTL, read_setting
from chatd.core.errors import Conflict, InvalidRequest, NotFound, Validation
from chatd.core.workspaces.kinds import BuildReason, BuildTransition, ProvisionerKind
from chatd.core.workspaces.lifetime import chosen_ttl_ms
from chatd.core.workspaces.names import another_name, workspace_name
from chatd.core.workspaces.parameters import Values, check_values, read_parameters
from chatd.core.workspaces.states import WorkspaceState, may_build, state_of
from chatd.minting import new_suffix, new_token, uuid7
from chatd.store.actor import require_actor
from chatd.store.constraints import UniqueConstraint
from chatd.store.hints import Hints
from chatd.store.queries import GetWorkspaceRow, Template, WorkspaceBuild
from chatd.store.store import Store
from chatd.workspaces.build_hints import BUILDS_TOPIC, CANCEL, build_topic
from chatd.workspaces.provisioner import Provisioner
from chatd.workspaces.waiting import WAIT_SECONDS, wait_build

Provisioners = Mapping[ProvisionerKind, Provisioner]
_DONE: Final = {
    WorkspaceState.RUNNING: "It runs already.",
    WorkspaceState.STOPPED: "It is stopped already.",
    WorkspaceState.DELETED: "It is deleted.",
}


class NewWorkspace(msgspec.Struct, frozen=True, kw_only=True):
    """`for_chat`: a model asks, so that the deployment's TTL and the templates' policy for agents count. `key`: of the
    call that asks (core/request_keys.py); the same one makes one workspace, however often it asks."""

    owner_id: UUID
    organization_id: UUID
    template_id: UUID
    name: str = ""  # one that is no name, or none, has one made of it
    parameters: Mapping[str, str] = {}
    ttl_ms: int | None = None
    for_chat: bool = False
    key: UUID | None = None


class Lifecycle:
    """`most_per_user`: a user who has so many workspaces can't make another; 0: there is no such limit."""

    def __init__(
        self, store: Store, hints: Hints, clock: Clock, provisioners: Provisioners, *, most_per_user: int = 0
    ) -> None:
        self._store = store
        self._hints = hints
        self._clock = clock
        self._provisioners = provisioners
        self._most_per_user = most_per_user

    def check_config(self, kind: ProvisionerKind, config: str) -> None:
        """Whether a template can have it. Raises InvalidRequest."""
        provisioner = self._provisioners.get(kind)
        if provisioner is None:
            there = ", ".join(self._provisioners) or "none"
            raise InvalidRequest(
                f"This server makes no workspaces of the kind {kind}.",
                detail="The operator's settings say which there are; see docs/workspaces.md.",
                validations=[Validation("provisioner", f"one that this server has: {there}")],
            )
        provisioner.check(config)

    async def create(self, new: NewWorkspace) -> WorkspaceBuild:
        """The build that starts it. Raises InvalidRequest, Conflict, NotFound."""
        if new.key is not None and (known := await self._store.get_workspace_build_by_key(key=new.key)):
            return known
        template = await self._template(new)
        provisioner = self._provisioners.get(template.provisioner)
        if provisioner is None:
            raise Conflict(
                f"This server makes no workspaces of the kind {template.provisioner}.",
                detail="Choose another template, or ask an administrator.",
            )
        values = check_values(read_parameters(template.parameters), new.parameters)
        ttl_ms = await self._ttl_ms() if new.for_chat else new.ttl_ms
        name = workspace_name(new.name, template.name, new_suffix())
        for wanted in (name, another_name(name, new_suffix())):
            try:
                build = await self._insert(new, values, wanted, ttl_ms, provisioner.host_id)
            except asyncpg.UniqueViolationError as error:
                if error.constraint_name == UniqueConstraint.WORKSPACE_BUILDS_KEY_KEY and new.key is not None:
                    known = await self._store.get_workspace_build_by_key(key=new.key)
                    if known is not None:
                        return known
                if error.constraint_name != UniqueConstraint.WORKSPACES_NAME_KEY:
                    raise
                if not new.for_chat and name == new.name:
                    break  # who has chosen a name wants that one
                continue
            self._hints.publish(BUILDS_TOPIC)
            return build
        raise Conflict(
            "You have a workspace of this name.", validations=[Validation("name", "already used by another workspace")]
        )

    async def start(
        self, workspace_id: UUID, *, parameters: Mapping[str, str] | None = None, key: UUID | None = None,
        reason: BuildReason = BuildReason.INITIATOR,
    ) -> WorkspaceBuild:  # fmt: skip
        """Values that are not given stay as they are. Raises InvalidRequest, Conflict, NotFound."""
        return await self._build(workspace_id, BuildTransition.START, parameters or {}, key, reason)

    async def stop(
        self, workspace_id: UUID, *, key: UUID | None = None, reason: BuildReason = BuildReason.INITIATOR
    ) -> WorkspaceBuild:
        return await self._build(workspace_id, BuildTransition.STOP, None, key, reason)

    async def delete(self, workspace_id: UUID) -> WorkspaceBuild:
        """Its files too. What is running in it ends."""
        return await self._build(workspace_id, BuildTransition.DELETE, None, None, BuildReason.INITIATOR)

    async def orphan(self, workspace_id: UUID) -> WorkspaceBuild:
        """Delete one that no server can delete, because its machine is gone for good: nothing is done there. Its files
        stay until the machine is back. The build is over already. Raises Conflict while a server that can lives, and
        NotFound."""
        workspace = await self._store.get_workspace(id=workspace_id)
        if workspace is None or workspace.deleted:
            raise NotFound("Workspace")
        build = await self._store.orphan_workspace(
            id=uuid7(self._clock.now()), workspace_id=workspace_id, initiator_id=_person_id()
        )
        if build is None:
            raise Conflict(
                "A server runs that can delete this workspace.",
                detail="Delete it without `orphan`: its files are deleted too.",
            )
        self._hints.publish(build_topic(workspace.build_id))
        return build

    async def cancel(self, build_id: UUID) -> WorkspaceBuild:
        """One that nobody has begun is over at once; another as soon as it can stop. Raises Conflict, NotFound."""
        build = await self._store.cancel_workspace_build(id=build_id, cancelled_by=_person_id())
        if build is None:
            if await self._store.get_workspace_build(id=build_id) is None:
                raise NotFound("Build")
            raise Conflict("The build is over.")
        self._hints.publish(build_topic(build.id), CANCEL)
        return build

    async def wait(
        self, build_id: UUID, *, seconds: float = WAIT_SECONDS, said: Callable[[str], None] | None = None
    ) -> WorkspaceBuild:
        """The build when it is over; or as it is after `seconds`. `said` gets each line of its log."""
        return await wait_build(self._store, self._hints, self._clock, build_id, seconds=seconds, said=said)

    async def _template(self, new: NewWorkspace) -> Template:
        template = await self._store.get_template(id=new.template_id)
        if template is None or template.organization_id != new.organization_id:
            raise NotFound("Template")
        if template.deprecated:
            raise Conflict("This template is deprecated.", detail=template.deprecated)
        if new.for_chat and not template.agents_allowed:
            raise Conflict("Agents may not make workspaces of this template.", detail="Choose another one.")
        return template

    async def _ttl_ms(self) -> int | None:
        stored = await self._store.get_site_setting(key=WORKSPACE_TTL)
        return chosen_ttl_ms(read_setting(stored, 0))

    async def _insert(
        self, new: NewWorkspace, values: Values, name: str, ttl_ms: int | None, host_id: str | None
    ) -> WorkspaceBuild:
        now = self._clock.now()
        async with self._store.transaction() as tx:
            if self._most_per_user:
                await tx.lock_workspaces_of(owner_id=new.owner_id)
                if await tx.count_workspaces(owner_id=new.owner_id) >= self._most_per_user:
                    raise Conflict(
                        f"You have {self._most_per_user} workspaces, which is the most that one user may have.",
                        detail="Delete one that is not needed any more, or ask an administrator.",
                    )
            return await tx.insert_workspace(
                id=uuid7(now),
                organization_id=new.organization_id,
                owner_id=new.owner_id,
                template_id=new.template_id,
                name=name,
                host_id=host_id,
                parameters=_json(values.kept),
                agent_token=new_token(),
                ttl_ms=ttl_ms,
                build_id=uuid7(now),
                reason=BuildReason.CHAT if new.for_chat else BuildReason.INITIATOR,
                initiator_id=_person_id(),
                key=new.key,
                build_parameters=_json(values.build),
            )

    async def _build(
        self,
        workspace_id: UUID,
        transition: BuildTransition,
        given: Mapping[str, str] | None,
        key: UUID | None,
        reason: BuildReason,
    ) -> WorkspaceBuild:
        if key is not None and (known := await self._store.get_workspace_build_by_key(key=key)):
            return known
        workspace = await self._store.get_workspace(id=workspace_id)
        if workspace is None or workspace.deleted:
            raise NotFound("Workspace")
        _check_may_build(workspace, transition)
        stored = msgspec.json.decode(workspace.parameters, type=dict[str, str])
        values = Values(stored, stored)
        if given is not None:
            template = await self._store.get_template(id=workspace.template_id)
            if template is None:
                raise NotFound("Template")
            values = check_values(read_parameters(template.parameters), given, stored=stored)
        build = await self._store.insert_workspace_build(
            id=uuid7(self._clock.now()),
            workspace_id=workspace_id,
            after_number=workspace.build_number,
            transition=transition,
            reason=reason,
            initiator_id=_person_id(),
            key=key,
            parameters=_json(values.build),
            kept_parameters=_json(values.kept),
        )
        if build is None:
            # Someone else was faster, or this actor may see the workspace and not change it.
            if await self._is_as_seen(workspace):
                raise NotFound("Workspace")
            raise Conflict("The workspace has changed meanwhile.", detail="Look at it again.")
        self._hints.publish(BUILDS_TOPIC)
        return build

    async def _is_as_seen(self, seen: GetWorkspaceRow) -> bool:
        now = await self._store.get_workspace(id=seen.id)
        return now is not None and now.build_number == seen.build_number


def _check_may_build(workspace: GetWorkspaceRow, transition: BuildTransition) -> None:
    state = state_of(workspace.transition, workspace.build_status, deleted=workspace.deleted)
    if state.is_built:
        raise Conflict(f"The workspace is {state} now.", detail="Wait until its build is over, or cancel that.")
    if not may_build(state, transition):
        raise Conflict(f"The workspace can't be built so. {_DONE.get(state, '')}".strip())


def _json(values: Mapping[str, str]) -> str:
    return msgspec.json.encode(dict(values)).decode()


def _person_id() -> UUID | None:
    actor = require_actor("build")
    return actor.user_id if isinstance(actor, Person) else None
