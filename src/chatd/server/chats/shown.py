"""Messages, queued messages and errors as clients see them, on REST and in streams."""

from typing import Final

import msgspec

from chatd.core.messages import Message, read_content_leniently
from chatd.core.roles import Role
from chatd.core.shown_parts import shown_parts
from chatd.core.usage import Usage
from chatd.store.queries import QueuedMessage
from chatd.wire import chats as wire

_ERROR: Final = msgspec.json.Decoder(wire.ChatError)
_NO_USAGE: Final = Usage()
_GENERIC: Final = wire.ChatError(message="The chat ended in an error.", kind="generic", retryable=True)


def shown_message(message: Message) -> wire.ChatMessage:
    return wire.ChatMessage(
        id=message.id,
        chat_id=message.chat_id,
        created_at=message.created_at,
        revision=message.revision,
        role=message.role,
        content=shown_parts(message.parts),
        created_by=message.created_by,
        model_config_id=message.model_config_id,
        reasoning_effort=message.reasoning_effort,
        usage=_usage(message),
        cost_micros=message.cost_microdollars,
        runtime_ms=message.runtime_ms,
    )


def shown_queued(row: QueuedMessage) -> wire.ChatQueuedMessage:
    return wire.ChatQueuedMessage(
        id=row.id,
        chat_id=row.chat_id,
        content=shown_parts(read_content_leniently(row.content_version, Role.USER, row.content)),
        created_at=row.created_at,
        created_by=row.created_by,
        model_config_id=row.model_config_id,
        reasoning_effort=row.reasoning_effort,
        held_by=row.held_by,
        held_until=row.held_until,
    )


def shown_error(stored: str | None) -> wire.ChatError:
    """Of the stored JSON. A chat that is in error says so, also when what is stored of it can't be read."""
    try:
        return _ERROR.decode(stored or "")
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _GENERIC


def _usage(message: Message) -> wire.ChatMessageUsage | None:
    usage = message.usage
    if usage == _NO_USAGE and message.context_limit is None:
        return None
    return wire.ChatMessageUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cache_creation_tokens=usage.cache_creation_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        context_limit=message.context_limit,
    )
