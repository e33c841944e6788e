"""/api/experimental/chats/files: what users attach to messages."""

import hashlib
from email.message import Message
from typing import Annotated
from urllib.parse import quote
from uuid import UUID

import msgspec
from litestar import Response, Router, get, post
from litestar.params import FromPath, QueryParameter

from chatd.core import file_types
from chatd.core.errors import InvalidRequest, NotFound, TooLarge, Validation
from chatd.minting import uuid7
from chatd.server.routes.asking import AnyRequest, TheAsk, problems

_TAG = ["files"]
_Organization = Annotated[UUID | None, QueryParameter(name="organization", description="May be left out.")]


class UploadedFile(msgspec.Struct):
    """To be named in a message's `file` part."""

    id: UUID


@post("/", tags=_TAG, responses=problems(400, 401, 413))
async def upload_file(request: AnyRequest, ask: TheAsk, organization: _Organization = None) -> UploadedFile:
    """Store a file of at most 10 MiB. The body is its content; `Content-Disposition` has its `filename`. What it is
    is told by its content: JSON, PDF, GIF, JPEG, PNG, WebP, CSV, Markdown and plain text can be used. A file that no
    message names within a day is removed."""
    if organization not in (None, ask.organization_id):
        raise InvalidRequest("Check organization.", validations=[Validation("organization", "is not one of yours")])
    name = file_types.file_name(_filename(request.headers.get("content-disposition", "")))
    data = await request.body()
    if not data:
        raise InvalidRequest("The file is empty.")
    if len(data) > file_types.MOST_BYTES:
        raise TooLarge("The file is too large.", limit=file_types.MOST_BYTES)
    kind = file_types.media_type(name, request.headers.get("content-type", ""), data)
    id = uuid7(ask.clock.now())
    await ask.store.insert_file(
        id=id,
        organization_id=ask.organization_id,
        owner_id=ask.person.user_id,
        name=name,
        media_type=kind,
        data=data,
        sha256=hashlib.sha256(data).digest(),
    )
    return UploadedFile(id)


@get("/{file:uuid}", tags=_TAG, responses=problems(401, 404), media_type="application/octet-stream")
async def get_file(file: FromPath[UUID], ask: TheAsk) -> Response[bytes]:
    """The content of a file of one's own, or of a chat that one may read."""
    row = await ask.store.get_file(id=file)
    if row is None:
        raise NotFound("File")
    shown = "attachment" if row.media_type == "application/pdf" else "inline"
    return Response(
        row.data,
        media_type=row.media_type,  # a text is said to be UTF-8 by the framework
        headers={
            "content-disposition": f"{shown}; filename*=UTF-8''{quote(row.name)}",
            "cache-control": "private, max-age=31536000, immutable",
            # Whatever a browser makes of it, it does nothing.
            "content-security-policy": "sandbox; default-src 'none'",
            "x-content-type-options": "nosniff",
        },
    )


def _filename(disposition: str) -> str:
    header = Message()
    header["content-disposition"] = disposition
    try:
        return header.get_filename("") or ""
    except (UnicodeError, LookupError, ValueError):  # an encoding that is none
        return ""


FILES_PATH = "/api/experimental/chats/files"
files_router = Router(FILES_PATH, route_handlers=[upload_file, get_file])
