"""/api/experimental/workspaces/{workspace}: files in it, and ports that its programs listen on."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, cast
from urllib.parse import parse_qs, quote
from uuid import UUID

import msgspec
from litestar import Response, Router, get, put
from litestar.openapi.spec import OpenAPIFormat, OpenAPIMediaType, OpenAPIResponse, OpenAPIType, Operation, Schema
from litestar.params import FromPath, QueryParameter
from litestar.response import Stream

from chatd.core import escaped_json
from chatd.core.errors import InvalidRequest, Validation
from chatd.server.routes.asking import AnyRequest, Ask, TheAsk, problems
from chatd.wire.agent import files as wire
from chatd.wire.agent.ports import Ports

_TAG = ["workspaces"]
_CHUNK_BYTES: Final = 64 * 1024
_PASSED_ON: Final = ("content-length", "content-range", "accept-ranges", "etag")
_ASKED: Final = ("range", "if-range")
# What a browser may show: pictures that can't hold scripts, and text as text. By the name, which is all that is known
# of a part of a file; what it really is does not matter, for nothing is sniffed and nothing is run.
_IMAGES: Final = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".bmp": "image/bmp",
}
_TEXTS: Final = frozenset(
    [
        ".txt",
        ".md",
        ".log",
        ".csv",
        ".tsv",
        ".json",
        ".toml",
        ".yaml",
        ".yml",
        ".ini",
        ".cfg",
        ".py",
        ".go",
        ".rs",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".hpp",
        ".java",
        ".kt",
        ".rb",
        ".sh",
        ".js",
        ".ts",
        ".tsx",
        ".jsx",
        ".css",
        ".sql",
        ".diff",
        ".patch",
        ".html",
        ".xml",
        ".svg",
    ]
)

Path = Annotated[
    str | None,
    QueryParameter(max_length=16_384, description="An absolute path; bytes that are no UTF-8 as `%80`."),
]
NeededPath = Annotated[
    str, QueryParameter(max_length=16_384, description="An absolute path; bytes that are no UTF-8 as `%80`.")
]
Offset = Annotated[int, QueryParameter(ge=0, le=2**31 - 1, description="`next` of the page before.")]
EntryLimit = Annotated[int, QueryParameter(ge=1, le=1000, description="How many entries to return, 1 to 1000.")]
Inline = Annotated[
    bool, QueryParameter(description="Let a browser show it where that is safe: pictures, and text as plain text.")
]
Exclusive = Annotated[bool, QueryParameter(description="Refuse to replace a file that is there.")]


@dataclass
class _ContentOperation(Operation):
    """In the API document: bytes, all of them or some."""

    def __post_init__(self) -> None:
        schema = Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.BINARY)
        content = {"application/octet-stream": OpenAPIMediaType(schema=schema)}
        self.responses = {
            **(self.responses or {}),
            "200": OpenAPIResponse("The whole file.", content=dict(content)),
            "206": OpenAPIResponse("The part that `Range` asked for.", content=dict(content)),
        }


class _Head(msgspec.Struct, frozen=True):
    status: int
    headers: Mapping[str, str]


@get("/files", tags=_TAG, responses=problems(400, 401, 403, 404, 409, 502))
async def list_files(
    workspace: FromPath[UUID],
    ask: TheAsk,
    request: AnyRequest,
    path: Path = None,
    offset: Offset = 0,
    limit: EntryLimit = 200,
) -> Response[wire.Listing]:
    """What is in a directory; without a path, in the home. Directories first, then by name. Names that are no UTF-8
    have their bytes as `\\udc80` to `\\udcff`."""
    asked = wire.ListQuery(path=_path(request) if path is not None else None, offset=offset, limit=limit)
    async with ask.workspaces.reaching.agent(ask.person, workspace) as agent:
        listing = await agent.list(asked)
    return _json(listing)


@get(
    "/files/content",
    tags=_TAG,
    responses=problems(400, 401, 403, 404, 409, 502),
    operation_class=_ContentOperation,
)
async def download_file_of_workspace(
    workspace: FromPath[UUID], ask: TheAsk, request: AnyRequest, path: NeededPath = "", inline: Inline = False
) -> Stream:
    """The bytes of a file, or with `Range` a part of them."""
    wanted = _path(request)
    asked = {name: value for name in _ASKED if (value := request.headers.get(name)) is not None}
    pieces = _pieces(ask, workspace, wanted, asked)
    head = cast("_Head", await anext(pieces))
    kind = _shown_as(wanted) if inline else None
    name = quote(PurePosixPath(wanted).name.encode("utf-8", "surrogateescape"), safe="")
    return Stream(
        cast("AsyncGenerator[bytes]", pieces),
        status_code=head.status,
        media_type=kind or "application/octet-stream",
        headers={
            **head.headers,
            "content-disposition": f"{'inline' if kind else 'attachment'}; filename*=UTF-8''{name}",
            "cache-control": "no-store",
            # Whatever a browser makes of it, it does nothing.
            "content-security-policy": "sandbox; default-src 'none'",
            "x-content-type-options": "nosniff",
        },
    )


@put("/files/content", tags=_TAG, responses=problems(400, 401, 403, 404, 409, 413, 502))
async def upload_file_to_workspace(
    workspace: FromPath[UUID], ask: TheAsk, request: AnyRequest, path: NeededPath = "", exclusive: Exclusive = False
) -> Response[wire.Written]:
    """Put a file in place, whole or not at all; directories that are missing are made. The body is its content."""
    wanted = _path(request)
    async with ask.workspaces.reaching.agent(ask.person, workspace) as agent:
        written = await agent.write(wanted, request.stream(), exclusive=exclusive)
    return _json(written)


@get("/ports", tags=_TAG, responses=problems(401, 403, 404, 409, 502))
async def list_ports(workspace: FromPath[UUID], ask: TheAsk) -> Ports:
    """TCP ports on which programs of the workspace listen."""
    async with ask.workspaces.reaching.agent(ask.person, workspace) as agent:
        return await agent.get("/ports", None, Ports)


async def _pieces(ask: Ask, workspace: UUID, path: str, headers: Mapping[str, str]) -> AsyncGenerator["_Head | bytes"]:
    """First how it is sent, then what. Begun by who makes the answer, so that it is ended also if nobody reads it."""
    async with (
        ask.workspaces.reaching.agent(ask.person, workspace) as agent,
        agent.open_content(path, headers=headers) as response,
    ):
        passed = {name: value for name in _PASSED_ON if (value := response.headers.get(name)) is not None}
        yield _Head(response.status, passed)
        async for piece in response.content.iter_chunked(_CHUNK_BYTES):
            yield piece
            ask.workspaces.reaching.used(workspace)


def _path(request: AnyRequest) -> str:
    """As the address has it, which need not be UTF-8."""
    query = parse_qs(request.scope["query_string"].decode("latin-1"), errors="surrogateescape", keep_blank_values=True)
    path = query.get("path", [""])[-1]
    if not path:
        raise InvalidRequest("Check path.", validations=[Validation("path", "an absolute path in the workspace")])
    return path


def _shown_as(path: str) -> str | None:
    """A text is said to be UTF-8 by the framework."""
    suffix = PurePosixPath(path).suffix.lower()
    return _IMAGES.get(suffix) or ("text/plain" if suffix in _TEXTS else None)


def _json(answer: msgspec.Struct) -> Any:
    """Also with names that are no UTF-8."""
    return Response(escaped_json.encode(answer), media_type="application/json")


workspace_files_router = Router(
    "/api/experimental/workspaces/{workspace:uuid}",
    route_handlers=[list_files, download_file_of_workspace, upload_file_to_workspace, list_ports],
)
UPLOAD_PATH: Final = "/api/experimental/workspaces/{workspace}/files/content"
