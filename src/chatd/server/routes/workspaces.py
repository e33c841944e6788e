"""/api/experimental/workspaces: where commands of chats run."""

from typing import Annotated
from uuid import UUID

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath, JSONBody, QueryParameter

from chatd.server.routes.asking import After, Ask, IdempotencyKey, PageLimit, TheAsk, find_user_id, problems
from chatd.wire import workspaces as wire

_TAG = ["workspaces"]
_HIGHEST_ID = 2**63 - 1
Whose = Annotated[
    str,
    QueryParameter(max_length=64, description="Whose workspaces: `me`, a user's id or username, or `all` one may see."),
]
WithAgent = Annotated[
    bool, QueryParameter(description="Ask the agent in it how it is, where one may reach into the workspace.")
]
Orphan = Annotated[
    bool,
    QueryParameter(
        description="Its machine is gone for good: delete it without doing anything there. Refused while a server runs "
        "that can delete it. A server that can, and comes back, deletes the files."
    ),
]
Before = Annotated[int | None, QueryParameter(ge=1, le=2**31 - 1, description="`next_before` of the page before.")]
AfterLine = Annotated[int, QueryParameter(ge=0, le=_HIGHEST_ID, description="The id of the last line that you have.")]
LineLimit = Annotated[int, QueryParameter(ge=1, le=1000, description="How many lines to return, 1 to 1000.")]


@get("/", tags=_TAG, responses=problems(400, 401, 404))
async def list_workspaces(
    ask: TheAsk, owner: Whose = "me", after: After = None, limit: PageLimit = 50
) -> wire.WorkspacePage:
    """Workspaces that are there, the oldest first: one's own; admins and auditors may ask for those of others."""
    owner_id = None if owner == "all" else await _owner(ask, owner)
    return await ask.workspaces.reading.page(owner_id=owner_id, after=after, limit=limit)


@post("/", tags=_TAG, responses=problems(400, 401, 404, 409))
async def create_workspace(
    data: JSONBody[wire.CreateWorkspace], ask: TheAsk, idempotency_key: IdempotencyKey = None
) -> wire.Workspace:
    """Make a workspace of a template. It is built at once; `latest_build` says how far it is. With an
    `Idempotency-Key` that has made a workspace, that one."""
    return await ask.workspaces.building.create(ask.person, data, key=idempotency_key)


@get("/{workspace:uuid}", tags=_TAG, responses=problems(400, 401, 403, 404))
async def get_workspace(workspace: FromPath[UUID], ask: TheAsk, agent: WithAgent = False) -> wire.Workspace:
    """One workspace, with its latest build and the chats that work in it."""
    health = await ask.workspaces.reaching.health(ask.person, workspace) if agent else None
    return await ask.workspaces.reading.workspace(workspace, agent=health)


@patch("/{workspace:uuid}", tags=_TAG, responses=problems(400, 401, 403, 404, 409))
async def update_workspace(
    workspace: FromPath[UUID], data: JSONBody[wire.UpdateWorkspace], ask: TheAsk
) -> wire.Workspace:
    """Rename it, or say how long it may run without being used."""
    return await ask.workspaces.building.change(ask.person, workspace, data)


@delete("/{workspace:uuid}", tags=_TAG, status_code=202, responses=problems(400, 401, 403, 404, 409))
async def delete_workspace(workspace: FromPath[UUID], ask: TheAsk, orphan: Orphan = False) -> wire.WorkspaceBuild:
    """Delete it with its files: what runs in it ends. It is gone when the build has succeeded."""
    return await ask.workspaces.building.delete(ask.person, workspace, orphan=orphan)


@get("/{workspace:uuid}/builds", tags=_TAG, responses=problems(400, 401, 404))
async def list_builds(
    workspace: FromPath[UUID], ask: TheAsk, before: Before = None, limit: PageLimit = 25
) -> wire.WorkspaceBuildPage:
    """What was done to it, the newest first."""
    return await ask.workspaces.reading.builds(workspace, before=before, limit=limit)


@post("/{workspace:uuid}/builds", tags=_TAG, responses=problems(400, 401, 403, 404, 409))
async def create_build(workspace: FromPath[UUID], data: JSONBody[wire.CreateBuild], ask: TheAsk) -> wire.WorkspaceBuild:
    """Start, stop or delete it. There is one build at a time."""
    return await ask.workspaces.building.build(ask.person, workspace, data)


@get("/{workspace:uuid}/builds/{build:uuid}", tags=_TAG, responses=problems(401, 404))
async def get_build(workspace: FromPath[UUID], build: FromPath[UUID], ask: TheAsk) -> wire.WorkspaceBuild:
    """One build."""
    return await ask.workspaces.reading.shown_build(workspace, build)


@post(
    "/{workspace:uuid}/builds/{build:uuid}/cancel",
    tags=_TAG,
    status_code=200,
    responses=problems(401, 403, 404, 409),
)
async def cancel_build(workspace: FromPath[UUID], build: FromPath[UUID], ask: TheAsk) -> wire.WorkspaceBuild:
    """Give a build up. One that has begun ends as soon as it can, and a start that is given up is taken back."""
    return await ask.workspaces.building.cancel(ask.person, workspace, build)


@get("/{workspace:uuid}/builds/{build:uuid}/logs", tags=_TAG, responses=problems(400, 401, 404))
async def get_build_logs(
    workspace: FromPath[UUID], build: FromPath[UUID], ask: TheAsk, after: AfterLine = 0, limit: LineLimit = 500
) -> wire.BuildLogs:
    """What a build has said so far. Asked for as `text/event-stream` it goes on until the build is over: the data of
    each event is `{"type": "log", "log": …}`, that of the last one `{"type": "end", "build": …}`."""
    return await ask.workspaces.reading.logs(workspace, build, after=after, limit=limit)


async def _owner(ask: Ask, owner: str) -> UUID:
    """An id is not looked up: of who is not there, or not to be seen, there are no workspaces."""
    try:
        return UUID(owner)
    except ValueError:
        return await find_user_id(ask, owner)


workspaces_router = Router(
    "/api/experimental/workspaces",
    route_handlers=[
        list_workspaces,
        create_workspace,
        get_workspace,
        update_workspace,
        delete_workspace,
        list_builds,
        create_build,
        get_build,
        cancel_build,
        get_build_logs,
    ],
)
