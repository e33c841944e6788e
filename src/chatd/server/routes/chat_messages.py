"""/api/experimental/chats/{chat}/messages: what was said, and saying more."""

from typing import Annotated
from uuid import UUID

from litestar import Router, get, patch, post
from litestar.params import FromPath, JSONBody, PathParameter, QueryParameter

from chatd.server.routes.asking import IdempotencyKey, TheAsk, problems
from chatd.wire import chats as wire
from chatd.wire.chat_requests import EditMessage, SendMessage

_TAG = ["chats"]
LARGEST_ID = 2**63 - 1  # of a bigint
MessageCursor = Annotated[int | None, QueryParameter(ge=1, le=LARGEST_ID, description="A message's id.")]
MessageLimit = Annotated[int, QueryParameter(ge=1, le=200, description="How many to return, 1 to 200.")]
Words = Annotated[
    str,
    QueryParameter(max_length=200, description="What is looked for, as it is, in any case of letters."),
]
FoundLimit = Annotated[int, QueryParameter(ge=1, le=1000, description="How many to return, 1 to 1000.")]
MessageId = Annotated[int, PathParameter(ge=1, le=LARGEST_ID, description="A message's id.")]


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


@get("/search", tags=_TAG, responses=problems(400, 401, 404))
async def find_messages(
    chat: FromPath[UUID], ask: TheAsk, q: Words = "", before_id: MessageCursor = None, limit: FoundLimit = 100
) -> wire.FoundMessages:
    """Where in a chat something was said, by its users and assistants: newest first."""
    return await ask.chats.reading.found(chat, q, before_id=before_id, limit=limit)


@post("/", tags=_TAG, status_code=200, responses=problems(400, 401, 403, 404, 409, 413, 429))
async def send_message(
    chat: FromPath[UUID], data: JSONBody[SendMessage], ask: TheAsk, idempotency_key: IdempotencyKey = None
) -> wire.SentMessage:
    """Send a message. A chat that is at work answers it later, or stops for it."""
    return await ask.chats.sending.send(ask.person, chat, data, key=idempotency_key)


@patch("/{message:int}", tags=_TAG, responses=problems(400, 401, 403, 404, 409, 413))
async def edit_message(
    chat: FromPath[UUID], message: MessageId, data: JSONBody[EditMessage], ask: TheAsk
) -> wire.EditedMessage:
    """Replace a message of one's own and all that came after it. What waits in the queue is gone too."""
    return await ask.chats.sending.edit(ask.person, chat, message, data)


chat_messages_router = Router(
    "/api/experimental/chats/{chat:uuid}/messages",
    route_handlers=[list_messages, find_messages, send_message, edit_message],
)
