"""A chat as one JSON document: the chat and its messages as the API shows them."""

from collections.abc import AsyncIterator
from typing import Final

import msgspec

from chatd.server.chats.shown import shown_message
from chatd.server.exports.steps import Export

VERSION: Final = 1  # of the document; it grows when a reader of the last one could misread the next
_ENCODER: Final = msgspec.json.Encoder()


async def json_pieces(export: Export) -> AsyncIterator[bytes]:
    head = {"format": "chatd-chat", "version": VERSION, "exported_at": export.at, "chat": export.chat}
    yield _ENCODER.encode(head)[:-1] + b',"messages":['
    between = b"\n"
    async for message in export.messages:
        yield between + _ENCODER.encode(shown_message(message))
        between = b",\n"
    yield b"\n]}\n"
