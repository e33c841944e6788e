"""The routes that change files. One change is put in place at a time, so that two edits of a file add up."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from typing import Final

from chatd.agent.edits.diffs import unified
from chatd.agent.epochs import Epochs
from chatd.agent.files.batch import Changed, computed, written
from chatd.agent.files.disk import on_disk, steadily, wholly
from chatd.agent.files.mishaps import telling
from chatd.agent.files.paths import path_of, text_of
from chatd.agent.files.rearranging import make_directory, move, remove
from chatd.agent.files.replacing import Replacement, begin, sync_directory
from chatd.agent.refusals import Refused
from chatd.agent.request import Request
from chatd.agent.response import Response, answer
from chatd.agent.routes import Route
from chatd.agent.touched import TouchedPaths
from chatd.clock import Clock
from chatd.minting import uuid7
from chatd.wire.agent.files import (
    EditedFile,
    EditedFiles,
    EditFiles,
    MakeDirectory,
    MovePath,
    RemoveQuery,
    ResolvedPath,
    WriteQuery,
    Written,
)

MOST_UPLOAD_BYTES: Final = 1024 * 1024 * 1024  # of one file; what is larger is fetched by a command
STALLED_SECONDS: Final = 60.0  # without a byte, until an upload is given up
_BUFFER_BYTES: Final = 1024 * 1024  # written at once
_MOST_DIFF_CHARACTERS: Final = 1024 * 1024  # of all diffs of an answer


class ChangingRoutes:
    def __init__(self, touched: TouchedPaths, epochs: Epochs, clock: Clock) -> None:
        self._touched = touched
        self._epochs = epochs
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("PUT", "/files/content", self._write, fenced=True, deadline_seconds=None),
            Route("POST", "/files/edits", self._edit, fenced=True),
            Route("POST", "/files/directories", self._make_directory, fenced=True),
            Route("POST", "/files/move", self._move, fenced=True),
            Route("DELETE", "/files", self._remove, fenced=True),
        )

    async def _write(self, request: Request) -> Response:
        query = request.query(WriteQuery)
        path = path_of(query.path)
        replacement = await wholly(self._begin, path, exclusive=query.exclusive)
        try:
            size = await self._receive(request, path, replacement)
            async with self._one_at_a_time:
                self._epochs.check(request.caller)  # again: the chat may have a new owner since the upload began
                await wholly(_put, path, replacement, exclusive=query.exclusive)
        except BaseException:
            await wholly(replacement.drop)
            raise
        self._touched.note(request.caller, replacement.target)
        created = replacement.before is None
        return answer(
            Written(path=text_of(replacement.target), size=size, created=created), status=201 if created else 200
        )

    def _begin(self, path: bytes, *, exclusive: bool) -> Replacement:
        with telling(path):
            return begin(path, self._new_mark, exclusive=exclusive)

    async def _receive(self, request: Request, path: bytes, replacement: Replacement) -> int:
        buffer = bytearray()
        size = 0
        async for chunk in self._arriving(request.chunks(most_bytes=MOST_UPLOAD_BYTES)):
            buffer += chunk
            size += len(chunk)
            if len(buffer) >= _BUFFER_BYTES:
                await steadily(_append, path, replacement, bytes(buffer))
                buffer.clear()
        await steadily(_append, path, replacement, bytes(buffer), is_last=True)
        return size

    async def _arriving(self, chunks: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        while True:
            try:
                async with self._clock.timeout(STALLED_SECONDS, timer="upload"):
                    chunk = await anext(chunks, None)
            except TimeoutError:
                said = f"Nothing came for {STALLED_SECONDS:g} seconds, so the upload was given up. No file was changed."
                raise Refused(said, status=408, kind="stalled") from None
            if chunk is None:
                return
            yield chunk

    async def _edit(self, request: Request) -> Response:
        asked = await request.json(EditFiles)
        async with self._one_at_a_time:
            changed = await _computed(asked)
            self._epochs.check(request.caller)
            await wholly(written, changed, self._new_mark)
        self._touched.note(request.caller, *(each.real for each in changed if each.before != each.after))
        return answer(await wholly(_told, changed, include_diff=asked.include_diff))

    async def _make_directory(self, request: Request) -> Response:
        asked = await request.json(MakeDirectory)
        real = await wholly(make_directory, path_of(asked.path))
        return answer(ResolvedPath(text_of(real), exists=True))

    async def _move(self, request: Request) -> Response:
        asked = await request.json(MovePath)
        source, target = path_of(asked.source), path_of(asked.target)
        async with self._one_at_a_time:
            old, new = await wholly(move, source, target, replace=asked.replace)
        self._touched.note(request.caller, old, new)
        return answer(ResolvedPath(text_of(new), exists=True))

    async def _remove(self, request: Request) -> Response:
        query = request.query(RemoveQuery)
        entry = await wholly(remove, path_of(query.path), recursive=query.recursive)
        self._touched.note(request.caller, entry)
        return answer(ResolvedPath(text_of(entry), exists=False))

    def _new_mark(self) -> str:
        """Random enough for the name of a file that lives for a moment."""
        return uuid7(self._clock.now()).hex[-8:]


async def _computed(asked: EditFiles) -> list[Changed]:
    given_up = threading.Event()
    try:
        return await on_disk(computed, asked.files, given_up.is_set)
    except asyncio.CancelledError:
        given_up.set()
        raise


def _append(path: bytes, replacement: Replacement, content: bytes, *, is_last: bool = False) -> None:
    with telling(path):
        replacement.write(content)
        if is_last:
            replacement.finish()


def _put(path: bytes, replacement: Replacement, *, exclusive: bool) -> None:
    with telling(path):
        if exclusive:
            replacement.put_new()
        else:
            replacement.put()
    sync_directory(replacement.target.rpartition(b"/")[0] or b"/")


def _told(changed: list[Changed], *, include_diff: bool) -> EditedFiles:
    left = _MOST_DIFF_CHARACTERS if include_diff else 0
    files: list[EditedFile] = []
    for each in changed:
        diff = unified(each.path, each.before, each.after) if left > 0 else ""
        left -= len(diff)
        if include_diff and left < 0:
            diff = "(The diffs of these edits are too long to show all of them.)\n"
        files.append(EditedFile(path=each.path, diff=diff, changed=each.before != each.after))
    return EditedFiles(tuple(files))
