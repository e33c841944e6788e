"""The bytes of files that a prompt holds: read once per turn."""

import base64
from collections.abc import Sequence
from uuid import UUID

import msgspec

from chatd.core.messages import Message
from chatd.core.parts import AnyPart, FilePart
from chatd.core.roles import Role
from chatd.store.store import Store


class PromptData:
    """Of one turn. A file that is gone stays without data: the repair says so in words."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[UUID, str] = {}

    async def filled(self, history: Sequence[Message]) -> Sequence[Message]:
        """The same messages with the data of their files."""
        wanted = [file_id for message in history for file_id in _wanted_of(message)]
        for file_id in wanted:
            if file_id not in self._read:
                file = await self._store.get_file(id=file_id)
                self._read[file_id] = base64.b64encode(file.data).decode() if file else ""
        return [self._with_data(message) for message in history] if wanted else history

    def _with_data(self, message: Message) -> Message:
        if not _wanted_of(message):
            return message
        return msgspec.structs.replace(message, parts=tuple(self._filled(part) for part in message.parts))

    def _filled(self, part: AnyPart) -> AnyPart:
        file_id = _wanted(part)
        return part if file_id is None else msgspec.structs.replace(part, data=self._read[file_id])


def _wanted_of(message: Message) -> list[UUID]:
    """Only what users send is told to models; what tools left in an answer is for people."""
    if message.role is not Role.USER:
        return []
    return [file_id for part in message.parts if (file_id := _wanted(part))]


def _wanted(part: AnyPart) -> UUID | None:
    """The file whose bytes are not here."""
    return part.file_id if isinstance(part, FilePart) and not part.data else None
