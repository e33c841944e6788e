"""A whole chat as a file, written while it is read: a page of messages at a time, one image at a time."""

import base64
import re
from collections.abc import AsyncIterator, Callable
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.export_names import export_name
from chatd.core.messages import Message
from chatd.core.parts import FilePart
from chatd.server.chats.reading import Reading
from chatd.server.exports.as_html import html_pieces
from chatd.server.exports.as_json import json_pieces
from chatd.server.exports.as_markdown import markdown_pieces
from chatd.server.exports.steps import Export
from chatd.store.store import Store
from chatd.store.stored_messages import read_message
from chatd.wire.chats import ExportFormat

PAGE: Final = 50  # messages in memory at once; one can have a quarter of a megabyte and more
MOST_IMAGE_BYTES: Final = 32 * 1024 * 1024  # in one page: browsers and mails take that; images after it are only named
_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})  # none that could be a program
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")


class _Format(msgspec.Struct, frozen=True):
    ending: str
    media_type: str
    pieces: Callable[[Export], AsyncIterator[bytes]]


_FORMATS: Final[dict[ExportFormat, _Format]] = {
    "markdown": _Format("md", "text/markdown", markdown_pieces),
    "json": _Format("json", "application/json", json_pieces),
    "html": _Format("html", "text/html", html_pieces),
}


class ExportedFile(msgspec.Struct, frozen=True):
    """`pieces` are read from the database as they are taken, by whoever acts then."""

    name: str
    media_type: str
    pieces: AsyncIterator[bytes]


class Exporting:
    def __init__(self, store: Store, reading: Reading, clock: Clock) -> None:
        self._store = store
        self._reading = reading
        self._clock = clock

    async def export(self, chat_id: UUID, format: ExportFormat) -> ExportedFile:
        """What people see of the chat. What is changed meanwhile may be in it or not; no message is in it twice."""
        chat = await self._reading.chat(chat_id)
        how = _FORMATS[format]
        images = _Images(self._store)
        export = Export(chat, self._clock.now(), self._messages(chat_id), images.read)
        return ExportedFile(export_name(chat.title, how.ending), how.media_type, how.pieces(export))

    async def _messages(self, chat_id: UUID) -> AsyncIterator[Message]:
        last = 0
        while rows := await self._store.list_messages_after(chat_id=chat_id, after_id=last, max_rows=PAGE):
            for row in rows:
                yield read_message(row)
            last = rows[-1].id
            if len(rows) < PAGE:
                return


class _Images:
    """Of one page."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._left = MOST_IMAGE_BYTES

    async def read(self, part: FilePart) -> str | None:
        """As a data URL; None for what is no image, or is too much."""
        if part.media_type not in _IMAGES:
            return None
        data = part.data if part.file_id is None else await self._stored(part.file_id)
        size = len(data) // 4 * 3
        if not _BASE64.fullmatch(data) or size > self._left:
            return None
        self._left -= size
        return f"data:{part.media_type};base64,{data}"

    async def _stored(self, file_id: UUID) -> str:
        known = await self._store.get_file_metadata(id=file_id)
        file = await self._store.get_file(id=file_id) if known is not None and known.size <= self._left else None
        return base64.b64encode(file.data).decode() if file else ""
