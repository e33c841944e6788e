"""/api/experimental/chats/usage-limits: how much users may spend."""

from typing import Annotated
from uuid import UUID

from litestar import Router, delete, get, put
from litestar.params import FromPath, JSONBody, QueryParameter

from chatd.core.spend import Period
from chatd.observe.logs import get_logger
from chatd.server.routes.asking import Ask, TheAsk, problems
from chatd.wire import chat_config as wire

_TAG = ["usage limits"]
_log = get_logger("chatd.server.usage-limits")
OfUser = Annotated[UUID | None, QueryParameter(description="The limit of this user.")]
OfGroup = Annotated[UUID | None, QueryParameter(description="The limit of each member of this group.")]


@get("/", tags=_TAG, responses=problems(401, 404))
async def list_usage_limits(ask: TheAsk) -> wire.UsageLimits:
    """All limits. For owners and auditors. A user's own count alone; else those of the user's groups, of which the most
    generous one does; else everyone's."""
    return await ask.chat_config.usage_limits()


@put("/", tags=_TAG, status_code=204, responses=problems(400, 401, 404))
async def put_usage_limit(data: JSONBody[wire.SaveUsageLimit], ask: TheAsk) -> None:
    """Set a limit of one user, of each member of a group, or of everyone. For owners."""
    await ask.chat_config.save_usage_limit(data)
    _changed(ask, "a usage limit was set", data.period, data.user_id, data.group_id)


@delete("/{period:str}", tags=_TAG, responses=problems(400, 401, 404))
async def delete_usage_limit(
    period: FromPath[Period], ask: TheAsk, user_id: OfUser = None, group_id: OfGroup = None
) -> None:
    """Remove the limit of a user, of a group, or of everyone. For owners."""
    await ask.chat_config.delete_usage_limit(period, user_id=user_id, group_id=group_id)
    _changed(ask, "a usage limit was removed", period, user_id, group_id)


def _changed(ask: Ask, what: str, period: Period, user_id: UUID | None, group_id: UUID | None) -> None:
    ask.versions.changed("usage_limits")
    _log.info(what, by=ask.person.username, period=str(period), user_id=str(user_id), group_id=str(group_id))


usage_limits_router = Router(
    "/api/experimental/chats/usage-limits",
    route_handlers=[list_usage_limits, put_usage_limit, delete_usage_limit],
)
