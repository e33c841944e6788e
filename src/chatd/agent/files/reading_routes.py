"""The routes that look at files."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from chatd.agent.files.byte_range import range_of
from chatd.agent.files.disk import on_disk
from chatd.agent.files.line_page import MOST_LINES
from chatd.agent.files.listing import MOST_ENTRIES, list_directory, status_of
from chatd.agent.files.mishaps import telling
from chatd.agent.files.paths import path_of, resolved, shown, text_of
from chatd.agent.files.reading import chunks_of, open_file, opened, read_page
from chatd.agent.refusals import Refused
from chatd.agent.request import Request
from chatd.agent.response import Response, answer
from chatd.agent.routes import Route
from chatd.core.errors import InvalidRequest
from chatd.wire.agent.files import FileLines, LinesQuery, ListQuery, PathQuery, ResolvedPath

_BYTES: Final = "application/octet-stream"  # what a file is, whoever shows it decides


class ReadingRoutes:
    def __init__(self, home: Path) -> None:
        self._home = os.fsencode(home)

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", "/files/lines", self._lines),
            Route("GET", "/files/content", self._content, deadline_seconds=None),
            Route("GET", "/files/list", self._list),
            Route("GET", "/files/resolve", self._resolve),
            Route("GET", "/files/status", self._status),
        )

    async def _lines(self, request: Request) -> Response:
        query = request.query(LinesQuery)
        path = path_of(query.path)
        limit = MOST_LINES if query.limit is None else query.limit
        if query.offset < 1 or limit < 1:
            raise InvalidRequest("Lines are counted from 1, and at least one must be asked for.")
        async with opened(path) as file:
            page, is_counted = await read_page(file, query.offset, limit)
        if page.read == 0 and query.offset > 1:
            said = f"{shown(path)} has {page.lines} lines, so there is no line {query.offset}."
            raise Refused(said, status=400, kind="past_end")
        return answer(
            FileLines(
                content=page.content,
                lines_read=page.read,
                file_size=file.size,
                total_lines=page.lines if is_counted else None,
                next_offset=page.next_line,
                lossy=page.is_lossy,
            )
        )

    async def _content(self, request: Request) -> Response:
        """The bytes; a part of them with `Range`, as long as the file is that of `If-Range`."""
        path = path_of(request.query(PathQuery).path)
        file = await on_disk(open_file, path)
        status = file.status
        tag = f'"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"'
        headers: Mapping[str, str] = {"accept-ranges": "bytes", "etag": tag}
        if not file.size:
            # Files of the kernel's say 0 and have content all the same, so the length is not told.
            return Response(chunks=chunks_of(file, 0, None), content_type=_BYTES, headers=headers)
        try:
            wanted = range_of(request.header("range") if request.header("if-range") in (None, tag) else None, file.size)
        except Refused:
            file.close()
            raise
        if wanted is None:
            headers = {**headers, "content-length": str(file.size)}
            return Response(chunks=chunks_of(file, 0, file.size), content_type=_BYTES, headers=headers)
        last = wanted.begin + wanted.size - 1
        part = {"content-length": str(wanted.size), "content-range": f"bytes {wanted.begin}-{last}/{file.size}"}
        chunks = chunks_of(file, wanted.begin, wanted.size)
        return Response(status=206, chunks=chunks, content_type=_BYTES, headers={**headers, **part})

    async def _list(self, request: Request) -> Response:
        query = request.query(ListQuery)
        path = self._home if query.path is None else path_of(query.path)
        limit = MOST_ENTRIES if query.limit is None else min(query.limit, MOST_ENTRIES)
        if query.offset < 0 or limit < 1:
            raise InvalidRequest("The offset must be 0 or more, and the limit at least 1.")
        return answer(await on_disk(list_directory, path, query.offset, limit))

    async def _resolve(self, request: Request) -> Response:
        path = path_of(request.query(PathQuery).path)
        return answer(await on_disk(_resolved, path))

    async def _status(self, request: Request) -> Response:
        path = path_of(request.query(PathQuery).path)
        return answer(await on_disk(status_of, path))


def _resolved(path: bytes) -> ResolvedPath:
    with telling(path):
        found = resolved(path)
    return ResolvedPath(text_of(found.path), found.exists)
