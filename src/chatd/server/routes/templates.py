"""/api/experimental/templates: what workspaces are made of."""

from uuid import UUID

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath, JSONBody

from chatd.server.routes.asking import TheAsk, problems
from chatd.wire import templates as wire

_TAG = ["templates"]


@get("/", tags=_TAG, responses=problems(401, 404))
async def list_templates(ask: TheAsk) -> list[wire.Template]:
    """All templates, in the order of their names. Deprecated ones, and what the provisioner is told (`config`), are
    shown to admins and auditors only."""
    return await ask.workspaces.templates.shown(ask.person)


@post("/", tags=_TAG, responses=problems(400, 401, 404, 409))
async def create_template(data: JSONBody[wire.CreateTemplate], ask: TheAsk) -> wire.Template:
    """Add a template. For owners."""
    return await ask.workspaces.templates.create(ask.person, data)


@get("/{template:uuid}", tags=_TAG, responses=problems(401, 404))
async def get_template(template: FromPath[UUID], ask: TheAsk) -> wire.Template:
    """One template, with the parameters that a workspace of it takes."""
    return await ask.workspaces.templates.get(ask.person, template)


@patch("/{template:uuid}", tags=_TAG, responses=problems(400, 401, 404, 409))
async def update_template(template: FromPath[UUID], data: JSONBody[wire.UpdateTemplate], ask: TheAsk) -> wire.Template:
    """Change a template; what is left out stays. Its workspaces have it from their next start on. For owners."""
    return await ask.workspaces.templates.change(ask.person, template, data)


@delete("/{template:uuid}", tags=_TAG, responses=problems(401, 404, 409))
async def delete_template(template: FromPath[UUID], ask: TheAsk) -> None:
    """Remove a template that has no workspaces; 409 says how many it has. For owners."""
    await ask.workspaces.templates.delete(template)


templates_router = Router(
    "/api/experimental/templates",
    route_handlers=[list_templates, create_template, get_template, update_template, delete_template],
)
