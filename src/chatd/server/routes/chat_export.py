"""/api/experimental/chats/{chat}: a copy of it, as a file or as another chat, and what it has changed."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from litestar import Router, get, post
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIResponse, OpenAPIType, Operation, Schema
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.response import Stream

from chatd.core.export_names import ascii_name
from chatd.server.routes.asking import IdempotencyKey, TheAsk, problems
from chatd.wire import chats as wire
from chatd.wire.chat_requests import ForkChat

_TAG = ["chats"]
Format = Annotated[
    wire.ExportFormat, QueryParameter(description="`markdown`, `json`, or `html`: one page with all in it.")
]
_WHOLE = ForkChat()


@dataclass
class _ExportOperation(Operation):
    """In the API document: a file, in one of three types."""

    def __post_init__(self) -> None:
        content = {
            "text/markdown": OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING)),
            "text/html": OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING)),
            "application/json": OpenAPIMediaType(schema=Schema(type=OpenAPIType.OBJECT)),
        }
        self.responses = {**(self.responses or {}), "200": OpenAPIResponse("The file.", content=dict(content))}


@get("/export", tags=_TAG, responses=problems(400, 401, 404), operation_class=_ExportOperation)
async def export_chat(chat: FromPath[UUID], ask: TheAsk, format: Format = "markdown") -> Stream:
    """The whole chat as a file: what people see of it, oldest first."""
    file = await ask.chats.exporting.export(chat, format)
    name = f"attachment; filename=\"{ascii_name(file.name)}\"; filename*=UTF-8''{quote(file.name)}"
    return Stream(
        file.pieces,
        media_type=file.media_type,  # a text is said to be UTF-8 by the framework
        headers={
            "content-disposition": name,
            "cache-control": "no-store",
            # Also when a browser shows it all the same.
            "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
            "x-content-type-options": "nosniff",
        },
    )


@post("/fork", tags=_TAG, responses=problems(400, 401, 404, 409))
async def fork_chat(
    chat: FromPath[UUID], ask: TheAsk, data: JSONBody[ForkChat] = _WHOLE, idempotency_key: IdempotencyKey = None
) -> wire.Chat:
    """Begin a chat of one's own with the history of another one, up to a message. It rests until a message is sent."""
    return await ask.chats.forking.fork(ask.person, chat, data, key=idempotency_key)


@get("/diff", tags=_TAG, responses=problems(401, 404))
async def get_diff(chat: FromPath[UUID], ask: TheAsk) -> wire.ChatDiff:
    """What the chat has changed: its open pull request's diff, else that of its workspace against the default branch.
    The diff itself is for the chat's owner; others who may read the chat learn what it is about."""
    return await ask.chats.diffing.diff(ask.person, chat)


chat_export_router = Router("/api/experimental/chats/{chat:uuid}", route_handlers=[export_chat, fork_chat, get_diff])
