"""/api/experimental/chats: chats as a whole."""

from uuid import UUID

from litestar import Router, get, post
from litestar.params import FromPath, JSONBody

from chatd.server.routes.asking import IdempotencyKey, TheAsk, problems
from chatd.wire import chats as wire
from chatd.wire.chat_requests import CreateChat

_TAG = ["chats"]


@post("/", tags=_TAG, responses=problems(400, 401, 404, 409, 413))
async def create_chat(data: JSONBody[CreateChat], ask: TheAsk, idempotency_key: IdempotencyKey = None) -> wire.Chat:
    """Begin a chat with a message. It runs at once. With an `Idempotency-Key` that has made a chat, that chat."""
    return await ask.chats.creating.create(ask.person, data, key=idempotency_key)


@get("/{chat:uuid}", tags=_TAG, responses=problems(401, 404))
async def get_chat(chat: FromPath[UUID], ask: TheAsk) -> wire.Chat:
    """The chat, without its messages."""
    return await ask.chats.reading.chat(chat)


chats_router = Router("/api/experimental/chats", route_handlers=[create_chat, get_chat])
