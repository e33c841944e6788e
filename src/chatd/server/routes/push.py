"""/api/v2/users/{user}/webpush: browsers that are told when a turn ends."""

from litestar import Router, delete, post
from litestar.params import JSONBody

from chatd.server.routes.asking import TheAsk, UserRef, find_user_id, problems
from chatd.wire import push as wire

_TAG = ["push"]


@post("/subscription", tags=_TAG, status_code=204, responses=problems(400, 401, 404))
async def subscribe(user: UserRef, data: JSONBody[wire.CreatePushSubscription], ask: TheAsk) -> None:
    """Tell this browser when a turn of one's chats ends. It ends with the session; a page subscribes at every visit."""
    await ask.push.subscribe(await find_user_id(ask, user), data, ask.person)


@delete("/subscription", tags=_TAG, responses=problems(400, 401, 404))
async def unsubscribe(user: UserRef, data: JSONBody[wire.DeletePushSubscription], ask: TheAsk) -> None:
    """Tell it no more."""
    await ask.push.unsubscribe(await find_user_id(ask, user), data.endpoint)


@post("/test", tags=_TAG, status_code=204, responses=problems(401, 404, 429, 502))
async def send_trial(user: UserRef, ask: TheAsk) -> None:
    """Send a message to one's browsers now. 404 when there are none, 502 when no push service takes it."""
    await ask.push.try_out(await find_user_id(ask, user))


push_router = Router("/api/v2/users/{user:str}/webpush", route_handlers=[subscribe, unsubscribe, send_trial])
