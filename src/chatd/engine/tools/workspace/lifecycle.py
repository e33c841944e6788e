"""create_workspace, start_workspace and stop_workspace: what is done with a chat's workspace, and waited for."""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta

from chatd.core.errors import ChatdError, Conflict, InvalidRequest, NotFound
from chatd.core.outcomes import Refused
from chatd.core.request_keys import build_key_of
from chatd.core.workspaces.kinds import BuildReason, BuildStatus, BuildTransition
from chatd.core.workspaces.states import Step, WorkspaceState, decide_create, decide_start, decide_stop, state_of
from chatd.engine.acting_for import owner_of
from chatd.engine.tools.tool import AfterCrash, ToolContext, ToolOutput, Traits, answered, failed
from chatd.engine.tools.typed import Run, TypedTool
from chatd.store.actor import acting_as
from chatd.store.queries import GetWorkspaceRow, WorkspaceBuild
from chatd.store.store import Store
from chatd.store.transitions import Transitions
from chatd.workspaces.lifecycle import Lifecycle, NewWorkspace

_MISSING: Final = "This chat has no workspace. Call create_workspace to get one."
_BUSY: Final = "The workspace is still being built, for a long time by now. Call start_workspace to wait on."
_ANOTHER: Final = "Call list_templates, and take one that it gives."
_AFTER_FAILURE: Final = (
    "Try once more with start_workspace if this looks like it may pass; else tell the person what went wrong, with the"
    " build's id."
)
_AFTER_CANCEL: Final = "Ask the person before you try again."
_SHOWN_LINES: Final = 40  # of a build's log, while it runs
_MOST_LOOKS: Final = 5  # at a workspace that others build as well

Args = TypeVar("Args", bound=msgspec.Struct)
Decide = Callable[[WorkspaceState | None], Step]


class CreateArgs(msgspec.Struct, frozen=True):
    template_id: Annotated[UUID, Meta(description="Id of the template, from list_templates.")]
    name: Annotated[
        str | None, Meta(description="Lower case letters, digits and dashes. Left out, a name is made.")
    ] = None
    parameters: Annotated[dict[str, str], Meta(description="Values of the template's parameters, by name.")] = {}


class StartArgs(msgspec.Struct, frozen=True):
    parameters: Annotated[dict[str, str], Meta(description="Values to change, by name of the parameter.")] = {}


class StopArgs(msgspec.Struct, frozen=True):
    pass


class LifecycleTools:
    """Everything is done with the rights of the chat's owner. The key of a call is that of its build: whoever settles
    the call finds what it has begun, and begins it if nobody did."""

    def __init__(self, store: Store, transitions: Transitions, lifecycle: Lifecycle) -> None:
        self._store = store
        self._transitions = transitions
        self._lifecycle = lifecycle

    async def create(self, args: CreateArgs, context: ToolContext) -> ToolOutput:
        begun = await self._begun(context)
        if begun is None:
            step, workspace = await self._settled(context, decide_create)
            if workspace is not None and step is Step.NOTHING:
                said = "This chat has a workspace, and it runs. Use it; there is no need to create one."
                return answered({"created": False, "status": "already_exists", "message": said, **_named(workspace)})
            if workspace is not None and step is Step.IS_STOPPED:
                said = "This chat has a workspace, which is stopped. Call start_workspace."
                return answered({"created": False, "status": "stopped", "message": said, **_named(workspace)})
            if workspace is not None and workspace.has_agent and step is Step.CREATE:
                said = "This chat has a workspace; only its last build failed. Call start_workspace."
                return answered({"created": False, "status": "failed", "message": said, **_named(workspace)})
            if step is not Step.CREATE:
                return failed(_BUSY)
            begun = await self._created(
                NewWorkspace(
                    owner_id=context.owner_id,
                    organization_id=context.organization_id,
                    template_id=args.template_id,
                    name=(args.name or "").strip(),
                    parameters=args.parameters,
                    for_chat=True,
                    key=build_key_of(context.key),
                )
            )
        bound = await self._transitions.bind_workspace(context.chat_id, begun.workspace_id, runner_id=context.runner_id)
        if isinstance(bound, Refused):
            return failed(f"The workspace was made, but this chat can't use it: {bound.error().message}")
        context.workspace.rebound()
        return await self._built(begun, context, done={"created": True})

    async def _created(self, new: NewWorkspace) -> WorkspaceBuild:
        try:
            return await self._lifecycle.create(new)
        except (NotFound, Conflict) as error:  # it is the template that is not for this
            if isinstance(error, Conflict) and error.validations:
                raise
            raise Conflict(error.message, detail=f"{error.detail or ''} {_ANOTHER}".strip()) from None

    async def start(self, args: StartArgs, context: ToolContext) -> ToolOutput:
        async def build(workspace: GetWorkspaceRow) -> WorkspaceBuild:
            return await self._lifecycle.start(
                workspace.id, parameters=args.parameters, key=build_key_of(context.key), reason=BuildReason.CHAT
            )

        return await self._brought(context, decide_start, build, done={"started": True})

    async def stop(self, args: StopArgs, context: ToolContext) -> ToolOutput:
        async def build(workspace: GetWorkspaceRow) -> WorkspaceBuild:
            return await self._lifecycle.stop(workspace.id, key=build_key_of(context.key), reason=BuildReason.CHAT)

        return await self._brought(context, decide_stop, build, done={"stopped": True})

    async def _brought(
        self,
        context: ToolContext,
        decide: Decide,
        build: Callable[[GetWorkspaceRow], Awaitable[WorkspaceBuild]],
        *,
        done: Mapping[str, Any],
    ) -> ToolOutput:
        """The chat's workspace into the state that is wanted."""
        begun = await self._begun(context)
        if begun is None:
            step, workspace = await self._settled(context, decide)
            if step is Step.WAIT:
                return failed(_BUSY)
            if workspace is None or step is Step.MISSING:
                return failed(_MISSING)
            if step is Step.NOTHING:
                return answered({**done, "no_build": True, **_named(workspace)})
            begun = await build(workspace)
        context.workspace.forget()
        return await self._built(begun, context, done=done)

    async def _begun(self, context: ToolContext) -> WorkspaceBuild | None:
        """What this call has begun already, before a server died."""
        return await self._store.get_workspace_build_by_key(key=build_key_of(context.key))

    async def _settled(self, context: ToolContext, decide: Decide) -> tuple[Step, GetWorkspaceRow | None]:
        """What is to be done with the chat's workspace, once nobody builds it."""
        for _ in range(_MOST_LOOKS):
            chat = await self._store.get_chat(id=context.chat_id)
            bound = None if chat is None else chat.workspace_id
            workspace = None if bound is None else await self._store.get_workspace(id=bound)
            step = decide(None if workspace is None else _state(workspace))
            if workspace is None or step is not Step.WAIT:
                return step, workspace
            await self._lifecycle.wait(workspace.build_id, said=_showing(context))
        return Step.WAIT, None

    async def _built(self, begun: WorkspaceBuild, context: ToolContext, *, done: Mapping[str, Any]) -> ToolOutput:
        """What came of a build, when it is over."""
        is_start = begun.transition is BuildTransition.START
        going_on = (
            f"This call was interrupted; the build goes on.{' start_workspace waits for it.' if is_start else ''}"
        )
        context.if_cut(answered({"error": going_on, "build_id": begun.id}))
        build = await self._lifecycle.wait(begun.id, said=_showing(context))
        workspace = await self._store.get_workspace(id=build.workspace_id)
        named = {} if workspace is None else _named(workspace)
        match build.status:
            case BuildStatus.SUCCEEDED:
                return answered({**done, "build_id": build.id, **named})
            case BuildStatus.FAILED:
                told = {"error": build.error, "error_code": build.error_code, "next_step": _AFTER_FAILURE}
                return answered({**told, "build_id": build.id, **named})
            case BuildStatus.CANCELLED:
                told = {"error": "The build was cancelled by someone.", "next_step": _AFTER_CANCEL}
                return answered({**told, "build_id": build.id, **named})
            case BuildStatus.PENDING | BuildStatus.RUNNING:
                return answered({"error": _BUSY, "build_id": build.id, **named})


def _state(workspace: GetWorkspaceRow) -> WorkspaceState:
    return state_of(workspace.transition, workspace.build_status, deleted=workspace.deleted)


def _named(workspace: GetWorkspaceRow) -> dict[str, Any]:
    return {"workspace_name": f"{workspace.owner_name}/{workspace.name}", "workspace_id": workspace.id}


def _showing(context: ToolContext) -> Callable[[str], None]:
    """The last lines of a build's log, while it runs."""
    lines: deque[str] = deque(maxlen=_SHOWN_LINES)

    def said(line: str) -> None:
        lines.append(line)
        context.progress("\n".join(lines))

    return said


def _for_owner(run: Run[Args], store: Store) -> Run[Args]:
    """With the rights of the chat's owner; what is refused becomes a result with all that is wrong."""

    async def acting(args: Args, context: ToolContext) -> ToolOutput:
        try:
            with acting_as(await owner_of(store, context.owner_id)):
                return await run(args, context)
        except InvalidRequest as error:
            wrong = [{"field": each.field, "detail": each.detail} for each in error.validations]
            said: dict[str, Any] = {"error": error.message, **({"detail": error.detail} if error.detail else {})}
            if wrong:
                said["validations"] = wrong
                said["next_step"] = "Call read_template to see what the parameters must be, and try again with them."
            return answered(said)
        except ChatdError as error:
            return failed(f"{error.message} {error.detail or ''}".strip())

    return acting


def lifecycle_tools(
    store: Store, transitions: Transitions, lifecycle: Lifecycle
) -> tuple[TypedTool[CreateArgs], TypedTool[StartArgs], TypedTool[StopArgs]]:
    """One after the other, after all else of a step: the second finds what the first has done."""
    tools = LifecycleTools(store, transitions, lifecycle)
    traits = Traits(after_crash=AfterCrash.KEYED, is_serial=True)

    def made(name: str, args: type[Args], run: Run[Args]) -> TypedTool[Args]:
        ours = _for_owner(run, store)
        return TypedTool(name, args, ours, settle=ours, traits=traits)

    return (
        made("create_workspace", CreateArgs, tools.create),
        made("start_workspace", StartArgs, tools.start),
        made("stop_workspace", StopArgs, tools.stop),
    )
