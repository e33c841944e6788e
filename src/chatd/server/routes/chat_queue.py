"""/api/experimental/chats/{chat}/queue: messages that wait."""

from typing import Annotated
from uuid import UUID

from litestar import Router, delete, post, put
from litestar.params import FromPath, JSONBody, PathParameter

from chatd.server.routes.asking import TheAsk, problems
from chatd.server.routes.chat_messages import LARGEST_ID
from chatd.wire import chats as wire
from chatd.wire.chat_requests import ReleaseQueued, ReorderQueue

_TAG = ["chats"]
QueuedId = Annotated[int, PathParameter(ge=1, le=LARGEST_ID, description="A queued message's id.")]


@put("/", tags=_TAG, status_code=204, responses=problems(400, 401, 403, 404, 409))
async def reorder_queue(chat: FromPath[UUID], data: JSONBody[ReorderQueue], ask: TheAsk) -> None:
    """Put the messages that wait into another order."""
    await ask.chats.queueing.reorder(chat, data.ids)


@delete("/{queued:int}", tags=_TAG, responses=problems(400, 401, 403, 404, 409))
async def delete_queued(chat: FromPath[UUID], queued: QueuedId, ask: TheAsk) -> None:
    """Take a message out of the queue."""
    await ask.chats.queueing.delete(chat, queued)


@post("/{queued:int}/promote", tags=_TAG, status_code=202, responses=problems(400, 401, 403, 404, 409))
async def promote_queued(chat: FromPath[UUID], queued: QueuedId, ask: TheAsk) -> wire.PromotedMessage:
    """Send a message now that waits. A chat that is at work stops for it."""
    return await ask.chats.queueing.promote(chat, queued)


@post("/{queued:int}/hold", tags=_TAG, status_code=200, responses=problems(400, 401, 403, 404, 409))
async def hold_queued(chat: FromPath[UUID], queued: QueuedId, ask: TheAsk) -> wire.ChatQueuedMessage:
    """Keep a message from being sent while one edits it, until `held_until`; ask again for more time."""
    return await ask.chats.queueing.hold(ask.person, chat, queued)


@post("/{queued:int}/release", tags=_TAG, status_code=200, responses=problems(400, 401, 403, 404, 409, 413))
async def release_queued(
    chat: FromPath[UUID], queued: QueuedId, data: JSONBody[ReleaseQueued], ask: TheAsk
) -> wire.SentMessage:
    """End one's edit, with what became of the message. A chat that rests goes on with it."""
    return await ask.chats.queueing.release(ask.person, chat, queued, data)


chat_queue_router = Router(
    "/api/experimental/chats/{chat:uuid}/queue",
    route_handlers=[reorder_queue, delete_queued, promote_queued, hold_queued, release_queued],
)
