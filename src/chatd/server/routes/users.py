"""/api/v2/users: who there is, and one's own account."""

from typing import Annotated
from uuid import UUID

from litestar import Router, delete, get, patch, post, put
from litestar.params import JSONBody, QueryParameter
from msgspec import UNSET

from chatd.core.access import Role
from chatd.core.errors import InvalidRequest, Validation
from chatd.core.secret import Secret
from chatd.server import convert
from chatd.server.routes.asking import (
    OrganizationId,
    PageLimit,
    TheAccounts,
    TheClient,
    ThePerson,
    TheStore,
    TheVersions,
    UserRef,
    find_user,
    problems,
)
from chatd.store.queries import UserStatus
from chatd.wire import users as wire

_TAG = ["users"]


@get("/", tags=_TAG, responses=problems(400, 401))
async def list_users(
    store: TheStore,
    person: ThePerson,
    organization_id: OrganizationId,
    search: Annotated[
        str | None, QueryParameter(max_length=254, description="Part of a name or email address.")
    ] = None,
    after: Annotated[UUID | None, QueryParameter(description="`next_after` of the page before.")] = None,
    limit: PageLimit = 25,
) -> wire.UserPage:
    """The users one may see, in the order of their creation."""
    if search is not None and not search.isprintable():
        raise InvalidRequest("Check search.", validations=[Validation("search", "printable characters only")])
    rows = await store.list_users(after_id=after, search=search, max_rows=limit + 1)
    page = rows[:limit]
    return wire.UserPage(
        users=[convert.user(row, organization_id) for row in page],
        count=await store.count_users(search=search),
        next_after=page[-1].id if len(rows) > limit else None,
    )


@post("/", tags=_TAG, responses=problems(400, 401, 404, 409))
async def create_user(
    data: JSONBody[wire.CreateUser], accounts: TheAccounts, person: ThePerson, organization_id: OrganizationId
) -> wire.User:
    """Make an account. For owners."""
    row = await accounts.create_user(
        email=data.email,
        username=data.username,
        display_name=data.display_name,
        password=Secret(data.password),
        role=data.role,
    )
    return convert.user(row, organization_id)


@get("/{user:str}", tags=_TAG, responses=problems(401, 404))
async def get_user(user: UserRef, store: TheStore, person: ThePerson, organization_id: OrganizationId) -> wire.User:
    return convert.user(await find_user(store, person, user), organization_id)


@patch("/{user:str}", tags=_TAG, responses=problems(400, 401, 404, 409))
async def update_user(
    user: UserRef,
    data: JSONBody[wire.UpdateUser],
    store: TheStore,
    accounts: TheAccounts,
    person: ThePerson,
    versions: TheVersions,
    organization_id: OrganizationId,
) -> wire.User:
    """Change a profile; what is left out stays."""
    row = await find_user(store, person, user)
    changed = await accounts.change_profile(
        row,
        email=row.email if data.email is UNSET else data.email,
        username=row.username if data.username is UNSET else data.username,
        display_name=row.display_name if data.display_name is UNSET else data.display_name,
    )
    versions.changed("auth")
    return convert.user(changed, organization_id)


@put("/{user:str}/role", tags=_TAG, responses=problems(400, 401, 404, 409))
async def update_role(
    user: UserRef,
    data: JSONBody[wire.UpdateRole],
    store: TheStore,
    accounts: TheAccounts,
    person: ThePerson,
    versions: TheVersions,
    organization_id: OrganizationId,
) -> wire.User:
    """Make someone an owner, auditor or member. The last active owner stays one."""
    row = await accounts.set_role((await find_user(store, person, user)).id, Role(data.role))
    versions.changed("auth")
    return convert.user(row, organization_id)


@put("/{user:str}/status/suspend", tags=_TAG, responses=problems(401, 404, 409))
async def suspend_user(
    user: UserRef,
    store: TheStore,
    accounts: TheAccounts,
    person: ThePerson,
    versions: TheVersions,
    organization_id: OrganizationId,
) -> wire.User:
    """Keep someone from signing in; their tokens stop working and work again when activated."""
    row = await accounts.set_status((await find_user(store, person, user)).id, UserStatus.SUSPENDED)
    versions.changed("auth")
    return convert.user(row, organization_id)


@put("/{user:str}/status/activate", tags=_TAG, responses=problems(401, 404))
async def activate_user(
    user: UserRef,
    store: TheStore,
    accounts: TheAccounts,
    person: ThePerson,
    versions: TheVersions,
    organization_id: OrganizationId,
) -> wire.User:
    row = await accounts.set_status((await find_user(store, person, user)).id, UserStatus.ACTIVE)
    versions.changed("auth")
    return convert.user(row, organization_id)


@put("/{user:str}/password", tags=_TAG, status_code=204, responses=problems(400, 401, 404, 429))
async def update_password(
    user: UserRef,
    data: JSONBody[wire.UpdatePassword],
    store: TheStore,
    accounts: TheAccounts,
    person: ThePerson,
    versions: TheVersions,
    client: TheClient,
) -> None:
    """Change one's own password (with the old one) or, as an owner, reset another's. Ends the other sessions."""
    row = await find_user(store, person, user)
    if row.id == person.user_id:
        await accounts.change_own_password(
            row,
            old=Secret(data.old_password),
            new=Secret(data.password),
            session_id=person.token_id,
            client=client,
        )
    else:
        await accounts.reset_password(row.id, Secret(data.password))
    versions.changed("auth")


@delete("/{user:str}", tags=_TAG, responses=problems(401, 404, 409))
async def delete_user(
    user: UserRef, store: TheStore, accounts: TheAccounts, person: ThePerson, versions: TheVersions
) -> None:
    """Remove an account. Its name and email become free; what it did stays counted."""
    await accounts.delete_user((await find_user(store, person, user)).id)
    versions.changed("auth")


users_router = Router(
    "/api/v2/users",
    route_handlers=[
        list_users,
        create_user,
        get_user,
        update_user,
        update_role,
        suspend_user,
        activate_user,
        update_password,
        delete_user,
    ],
)
