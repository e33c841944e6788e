"""/api/experimental/chats/files: what users attach to messages."""

import hashlib
from email.message import Message
from typing import Annotated
from urllib.parse import quote
from uuid import UUID

import msgspec
from litestar import Response, Router, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, QueryParameter

from chatd.core import file_types
from chatd.core.errors import InvalidRequest, NotFound, TooLarge, Validation
from chatd.minting import uuid7
from chatd.server.routes.asking import AnyRequest, TheAsk, TheVisit, problems
from chatd.store.queries import File, GetFileMetadataRow
from chatd.wire import chats as wire

_TAG = ["files"]
_Organization = Annotated[UUID | None, QueryParameter(name="organization", description="May be left out.")]


class UploadedFile(msgspec.Struct):
    """To be named in a message's `file` part."""

    id: UUID


_Token = Annotated[str, QueryParameter(max_length=200, description="As in the `url` that was made.")]


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


@get(
    "/{file:uuid}",
    tags=_TAG,
    responses={304: ResponseSpec(None, description="You have it already."), **problems(401, 404)},
    media_type="application/octet-stream",
)
async def get_file(request: AnyRequest, file: FromPath[UUID], ask: TheAsk) -> Response[bytes]:
    """The content of a file of one's own, or of a chat that one may read. 304 for who has it already
    (`If-None-Match`) and may still read it."""
    if known := request.headers.get("if-none-match"):
        metadata = await ask.store.get_file_metadata(id=file)
        if metadata is not None and _tag(metadata) in known:
            return Response(b"", status_code=304, headers=_headers(metadata, _shown(metadata), _ASKED_FOR))
    row = await ask.store.get_file(id=file)
    if row is None:
        raise NotFound("File")
    return _content(row, _shown(row), _ASKED_FOR)


@post("/{file:uuid}/download-url", tags=_TAG, status_code=200, responses=problems(401, 404))
async def make_download_url(file: FromPath[UUID], ask: TheAsk) -> wire.FileDownload:
    """An address of a file that can be given to something without a session, for five minutes. It ends sooner when
    the file is gone, or when who has made it may not read the file any more."""
    row = await ask.store.get_file_metadata(id=file)
    if row is None:
        raise NotFound("File")
    link = ask.links.make(ask.person, file)
    return wire.FileDownload(
        url=f"{ask.build_info.external_url.rstrip('/')}{FILES_PATH}/{file}/download?token={link.token}",
        expires_at=link.expires_at,
        sha256=row.sha256.hex(),
        size_bytes=row.size,
        name=row.name,
        mime_type=row.media_type,
    )


@get("/{file:uuid}/download", tags=_TAG, responses=problems(400, 404), media_type="application/octet-stream")
async def download_file(file: FromPath[UUID], visit: TheVisit, token: _Token = "") -> Response[bytes]:
    """The content of a file, for whoever has its address. 404 when the address is not valid any more, or never was."""
    return _content(await visit.links.open(file, token), "attachment", "no-store")


# A file never changes; whether this browser's user may see it does.
_ASKED_FOR = "private, no-cache"


def _tag(file: File | GetFileMetadataRow) -> str:
    return f'"{file.sha256.hex()}"'


def _shown(file: File | GetFileMetadataRow) -> str:
    return "attachment" if file.media_type == "application/pdf" else "inline"


def _content(row: File, shown: str, kept: str) -> Response[bytes]:
    # A text is said to be UTF-8 by the framework.
    return Response(row.data, media_type=row.media_type, headers=_headers(row, shown, kept))


def _headers(file: File | GetFileMetadataRow, shown: str, kept: str) -> dict[str, str]:
    return {
        "content-disposition": f"{shown}; filename*=UTF-8''{quote(file.name)}",
        "cache-control": kept,
        "etag": _tag(file),
        # Whatever a browser makes of it, it does nothing.
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
    }


def _filename(disposition: str) -> str:
    header = Message()
    header["content-disposition"] = disposition
    try:
        return header.get_filename("") or ""
    except (UnicodeError, LookupError, ValueError):  # an encoding that is none
        return ""


FILES_PATH = "/api/experimental/chats/files"
files_router = Router(FILES_PATH, route_handlers=[upload_file, get_file, make_download_url, download_file])
