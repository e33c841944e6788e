"""/api/v2/buildinfo and the one organization."""

from typing import Annotated

from litestar import Router, get
from litestar.params import PathParameter

from chatd.core.errors import NotFound
from chatd.server import convert
from chatd.server.routes.asking import TheAsk, TheVisit, UserRef, find_user, problems
from chatd.wire import users as wire

OrganizationRef = Annotated[str, PathParameter(description="The organization's id or name, or `default`.")]


@get("/buildinfo", tags=["site"])
async def get_build_info(visit: TheVisit) -> wire.BuildInfo:
    """What runs here."""
    return visit.build_info


@get("/organizations", tags=["site"], responses=problems(401))
async def list_organizations(ask: TheAsk) -> list[wire.Organization]:
    """The one organization, for clients that expect organizations."""
    return [convert.organization(await ask.store.get_default_organization())]


@get("/organizations/{organization:str}", tags=["site"], responses=problems(401, 404))
async def get_organization(organization: OrganizationRef, ask: TheAsk) -> wire.Organization:
    """The one organization, by its id or name."""
    row = await ask.store.get_default_organization()
    if organization not in ("default", row.name, str(row.id)):
        raise NotFound("Organization")
    return convert.organization(row)


@get("/users/{user:str}/organizations", tags=["site"], responses=problems(401, 404))
async def list_user_organizations(user: UserRef, ask: TheAsk) -> list[wire.Organization]:
    """The organizations of a user: the one there is."""
    await find_user(ask, user)
    return [convert.organization(await ask.store.get_default_organization())]


site_router = Router(
    "/api/v2",
    route_handlers=[get_build_info, list_organizations, get_organization, list_user_organizations],
)
