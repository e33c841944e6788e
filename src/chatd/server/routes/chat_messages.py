"""/api/experimental/chats/{chat}/messages: what was said."""

from typing import Annotated
from uuid import UUID

from litestar import Router, get
from litestar.params import FromPath, QueryParameter

from chatd.server.routes.asking import TheAsk, problems
from chatd.wire import chats as wire

_TAG = ["chats"]
_LARGEST_ID = 2**63 - 1
MessageCursor = Annotated[int | None, QueryParameter(ge=1, le=_LARGEST_ID, description="A message's id.")]
MessageLimit = Annotated[int, QueryParameter(ge=1, le=200, description="How many to return, 1 to 200.")]


@get("/", tags=_TAG, responses=problems(400, 401, 404))
async def list_messages(
    chat: FromPath[UUID],
    ask: TheAsk,
    before_id: MessageCursor = None,
    after_id: MessageCursor = None,
    limit: MessageLimit = 50,
) -> wire.ChatMessagesPage:
    """The messages of a chat, newest first; with `after_id` alone, oldest first. The first page has what waits too."""
    return await ask.chats.reading.messages(chat, before_id=before_id, after_id=after_id, limit=limit)


chat_messages_router = Router("/api/experimental/chats/{chat:uuid}/messages", route_handlers=[list_messages])
