"""/api/v2/groups: sets of users that limits and sharing can name."""

from uuid import UUID

import asyncpg
from litestar import Router, delete, get, post, put
from litestar.params import FromPath, JSONBody

from chatd.core import people
from chatd.core.errors import InvalidRequest, NotFound, Validation
from chatd.minting import uuid7
from chatd.server import convert
from chatd.server.accounts import taken_names_refused
from chatd.server.routes.asking import After, PageLimit, TheAsk, problems
from chatd.store.constraints import ForeignKeyConstraint
from chatd.store.queries import InsertGroupMembersItem
from chatd.wire import users as wire

_TAG = ["groups"]


@get("/", tags=_TAG, responses=problems(400, 401))
async def list_groups(ask: TheAsk, after: After = None, limit: PageLimit = 25) -> wire.GroupPage:
    """The groups one may see: one's own; for owners and auditors all."""
    rows = await ask.store.list_groups(after_id=after, max_rows=limit + 1)
    page = rows[:limit]
    return wire.GroupPage(
        groups=[convert.group(row) for row in page], next_after=page[-1].id if len(rows) > limit else None
    )


@post("/", tags=_TAG, responses=problems(400, 401, 404, 409))
async def create_group(data: JSONBody[wire.SaveGroup], ask: TheAsk) -> wire.Group:
    """Make a group, without members at first. For owners."""
    people.check_group(name=data.name, display_name=data.display_name)
    with taken_names_refused():
        row = await ask.store.insert_group(id=uuid7(ask.clock.now()), name=data.name, display_name=data.display_name)
    return convert.group(row)


@get("/{group:uuid}", tags=_TAG, responses=problems(401, 404))
async def get_group(group: FromPath[UUID], ask: TheAsk) -> wire.Group:
    """One group."""
    return convert.group(await ask.store.get_group_by_id(id=group))


@get("/{group:uuid}/members", tags=_TAG, responses=problems(400, 401, 404))
async def list_members(
    group: FromPath[UUID], ask: TheAsk, after: After = None, limit: PageLimit = 25
) -> wire.GroupMemberPage:
    """Who is in a group."""
    rows = await ask.store.list_group_members(group_id=group, after_id=after, max_rows=limit + 1)
    page = rows[:limit]
    return wire.GroupMemberPage(
        members=[wire.GroupMember(row.id, row.username, row.display_name) for row in page],
        next_after=page[-1].id if len(rows) > limit else None,
    )


@put("/{group:uuid}", tags=_TAG, responses=problems(400, 401, 404, 409))
async def update_group(group: FromPath[UUID], data: JSONBody[wire.SaveGroup], ask: TheAsk) -> wire.Group:
    """Change the names of a group. For owners."""
    people.check_group(name=data.name, display_name=data.display_name)
    with taken_names_refused():
        row = await ask.store.update_group(id=group, name=data.name, display_name=data.display_name)
    return convert.group(row)


@delete("/{group:uuid}", tags=_TAG, responses=problems(401, 404))
async def delete_group(group: FromPath[UUID], ask: TheAsk) -> None:
    """Remove a group; its members stay users."""
    if not await ask.store.delete_group(id=group):
        raise NotFound("Group")


@post("/{group:uuid}/members", tags=_TAG, status_code=204, responses=problems(400, 401, 404))
async def add_members(group: FromPath[UUID], data: JSONBody[wire.AddGroupMembers], ask: TheAsk) -> None:
    """Add users; those who are in the group stay."""
    try:
        await ask.store.insert_group_members(
            group_id=group, items=[InsertGroupMembersItem(user_id) for user_id in data.user_ids]
        )
    except asyncpg.ForeignKeyViolationError as error:
        if error.constraint_name == ForeignKeyConstraint.GROUP_MEMBERS_GROUP_ID_FKEY:
            raise NotFound("Group") from error
        raise InvalidRequest(
            "Check user_ids.", validations=[Validation("user_ids", "contains an id that is no user's")]
        ) from error


@delete("/{group:uuid}/members/{user:uuid}", tags=_TAG, responses=problems(401, 404))
async def remove_member(group: FromPath[UUID], user: FromPath[UUID], ask: TheAsk) -> None:
    """Take someone out of a group."""
    if not await ask.store.delete_group_member(group_id=group, user_id=user):
        raise NotFound("Member")


groups_router = Router(
    "/api/v2/groups",
    route_handlers=[
        list_groups,
        create_group,
        get_group,
        update_group,
        delete_group,
        list_members,
        add_members,
        remove_member,
    ],
)
