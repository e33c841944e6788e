"""A message of a chat, and its content whatever version it was stored in."""

from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.content_v0 import read_version_0
from chatd.core.errors import UnknownContentVersion
from chatd.core.parts import AnyPart
from chatd.core.reasoning import ReasoningEffort
from chatd.core.roles import Role, Visibility
from chatd.core.stored_parts import decode_parts, unknown
from chatd.core.usage import Usage

__all__ = [
    "Message",
    "NewMessage",
    "Role",
    "UnknownContentVersion",
    "Visibility",
    "read_content",
    "read_content_leniently",
]

_NO_USAGE: Final = Usage()


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message. Order within a chat is by `id`: `created_at` is when a transaction began and may disagree.

    `compressed` marks what compaction wrote; `deleted` rows are kept for cost and shown to nobody.
    """

    id: int
    chat_id: UUID
    created_at: datetime
    revision: int
    role: Role
    parts: tuple[AnyPart, ...]
    visibility: Visibility = Visibility.BOTH
    compressed: bool = False
    deleted: bool = False
    created_by: UUID | None = None
    model_config_id: UUID | None = None
    reasoning_effort: ReasoningEffort | None = None
    usage: Usage = _NO_USAGE
    context_limit: int | None = None
    cost_microdollars: int | None = None
    runtime_ms: int | None = None


class NewMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message before it is stored. `cost_microdollars` is None when it is not known and 0 when it was free."""

    role: Role
    parts: tuple[AnyPart, ...]
    visibility: Visibility = Visibility.BOTH
    compressed: bool = False
    created_by: UUID | None = None
    model_config_id: UUID | None = None
    reasoning_effort: ReasoningEffort | None = None
    usage: Usage = _NO_USAGE
    context_limit: int | None = None
    cost_microdollars: int | None = None
    runtime_ms: int | None = None


def read_content(version: int, role: Role, stored: str) -> tuple[AnyPart, ...]:
    """The parts of a stored row. An unreadable row is one UnknownPart; only an unknown version raises."""
    match version:
        case 1:
            return decode_parts(stored)
        case 0:
            return read_version_0(role, stored)
        case _:
            raise UnknownContentVersion(version)


def read_content_leniently(version: int, role: Role, stored: str) -> tuple[AnyPart, ...]:
    """As `read_content`, with an UnknownPart for a row of an unknown version: for readers of a whole chat."""
    try:
        return read_content(version, role, stored)
    except UnknownContentVersion:
        return (unknown(stored),)
