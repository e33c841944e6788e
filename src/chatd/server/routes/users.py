"""/api/v2/users: who there is, and one's own account."""

from typing import Annotated

from litestar import Router, delete, get, patch, post, put
from litestar.params import JSONBody, QueryParameter
from msgspec import UNSET

from chatd.core.access import Role
from chatd.core.errors import InvalidRequest, Validation
from chatd.core.secret import Secret
from chatd.server import convert
from chatd.server.routes.asking import After, PageLimit, TheAsk, UserRef, find_user, problems
from chatd.store.queries import UserStatus
from chatd.wire import users as wire

_TAG = ["users"]
Search = Annotated[str | None, QueryParameter(max_length=254, description="Part of a name or email address.")]


@get("/", tags=_TAG, responses=problems(400, 401))
async def list_users(ask: TheAsk, search: Search = None, after: After = None, limit: PageLimit = 25) -> wire.UserPage:
    """The users one may see, in the order of their creation."""
    if search is not None and not search.isprintable():
        raise InvalidRequest("Check search.", validations=[Validation("search", "printable characters only")])
    rows = await ask.store.list_users(after_id=after, search=search, max_rows=limit + 1)
    page = rows[:limit]
    return wire.UserPage(
        users=[convert.user(row, ask.organization_id) for row in page],
        count=await ask.store.count_users(search=search),
        next_after=page[-1].id if len(rows) > limit else None,
    )


@post("/", tags=_TAG, responses=problems(400, 401, 404, 409))
async def create_user(data: JSONBody[wire.CreateUser], ask: TheAsk) -> wire.User:
    """Make an account. For owners."""
    row = await ask.accounts.create_user(
        email=data.email,
        username=data.username,
        display_name=data.display_name,
        password=Secret(data.password),
        role=data.role,
    )
    return convert.user(row, ask.organization_id)


@get("/{user:str}", tags=_TAG, responses=problems(401, 404))
async def get_user(user: UserRef, ask: TheAsk) -> wire.User:
    """One user, as far as one may see them."""
    return convert.user(await find_user(ask, user), ask.organization_id)


@patch("/{user:str}", tags=_TAG, responses=problems(400, 401, 404, 409))
async def update_user(user: UserRef, data: JSONBody[wire.UpdateUser], ask: TheAsk) -> wire.User:
    """Change a profile; what is left out stays."""
    row = await find_user(ask, user)
    changed = await ask.accounts.change_profile(
        row,
        email=row.email if data.email is UNSET else data.email,
        username=row.username if data.username is UNSET else data.username,
        display_name=row.display_name if data.display_name is UNSET else data.display_name,
    )
    ask.versions.changed("auth")
    return convert.user(changed, ask.organization_id)


@put("/{user:str}/role", tags=_TAG, responses=problems(400, 401, 404, 409))
async def update_role(user: UserRef, data: JSONBody[wire.UpdateRole], ask: TheAsk) -> wire.User:
    """Make someone an owner, auditor or member. The last active owner stays one."""
    row = await ask.accounts.set_role((await find_user(ask, user)).id, Role(data.role))
    ask.versions.changed("auth")
    return convert.user(row, ask.organization_id)


@put("/{user:str}/status/suspend", tags=_TAG, responses=problems(401, 404, 409))
async def suspend_user(user: UserRef, ask: TheAsk) -> wire.User:
    """Keep someone from signing in; their tokens stop working and work again when activated. Their turns are
    interrupted, their streams and terminals closed."""
    row = await ask.accounts.set_status((await find_user(ask, user)).id, UserStatus.SUSPENDED)
    ask.versions.changed("auth")
    return convert.user(row, ask.organization_id)


@put("/{user:str}/status/activate", tags=_TAG, responses=problems(401, 404))
async def activate_user(user: UserRef, ask: TheAsk) -> wire.User:
    """Let a suspended user sign in again."""
    row = await ask.accounts.set_status((await find_user(ask, user)).id, UserStatus.ACTIVE)
    ask.versions.changed("auth")
    return convert.user(row, ask.organization_id)


@put("/{user:str}/password", tags=_TAG, status_code=204, responses=problems(400, 401, 404, 429))
async def update_password(user: UserRef, data: JSONBody[wire.UpdatePassword], ask: TheAsk) -> None:
    """Change one's own password (with the old one) or, as an owner, reset another's. Ends the other sessions."""
    row = await find_user(ask, user)
    if row.id == ask.person.user_id:
        await ask.accounts.change_own_password(
            row,
            old=Secret(data.old_password),
            new=Secret(data.password),
            session_id=ask.person.token_id,
            client=ask.client,
        )
    else:
        await ask.accounts.reset_password(row.id, Secret(data.password))
    ask.versions.changed("auth")


@delete("/{user:str}", tags=_TAG, responses=problems(401, 404, 409))
async def delete_user(user: UserRef, ask: TheAsk) -> None:
    """Remove an account. Its name and email become free; what it did stays counted."""
    await ask.accounts.delete_user((await find_user(ask, user)).id)
    ask.versions.changed("auth")


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
