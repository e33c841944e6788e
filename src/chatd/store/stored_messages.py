"""A row of `messages` as a message: the way back from what `transitions.py` wrote, or an older version did."""

from chatd.core.messages import Message, NewMessage, read_content_leniently
from chatd.core.roles import Role
from chatd.core.usage import ImpossibleUsage, Usage
from chatd.observe.logs import get_logger
from chatd.store import queries

_log = get_logger("chatd.store.messages")


def read_message(row: queries.Message) -> Message:
    """Never fails: what can't be read is an UnknownPart; counts that no call can have are left out with a warning."""
    return Message(
        id=row.id,
        chat_id=row.chat_id,
        created_at=row.created_at,
        revision=row.revision,
        role=row.role,
        parts=read_content_leniently(row.content_version, row.role, row.content),
        visibility=row.visibility,
        compressed=row.compressed,
        deleted=row.deleted,
        created_by=row.created_by,
        model_config_id=row.model_config_id,
        reasoning_effort=row.reasoning_effort,
        usage=_usage(row),
        context_limit=row.context_limit,
        cost_microdollars=row.cost_microdollars,
        runtime_ms=row.runtime_ms,
    )


def read_draft(row: queries.ChatDraft) -> NewMessage:
    """The answer of a step whose tools another process ran."""
    return NewMessage(
        role=Role.ASSISTANT,
        parts=read_content_leniently(row.content_version, Role.ASSISTANT, row.content),
        model_config_id=row.model_config_id,
        reasoning_effort=row.reasoning_effort,
        usage=_usage(row),
        context_limit=row.context_limit,
        cost_microdollars=row.cost_microdollars,
        runtime_ms=row.runtime_ms,
    )


def _usage(row: queries.Message | queries.ChatDraft) -> Usage:
    try:
        return Usage(
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            reasoning_tokens=row.reasoning_tokens,
            cache_creation_tokens=row.cache_creation_tokens,
            cache_read_tokens=row.cache_read_tokens,
            total_tokens=row.total_tokens,
        )
    except ImpossibleUsage as error:
        message_id = row.id if isinstance(row, queries.Message) else None
        _log.warning("a stored usage can't be", chat_id=str(row.chat_id), message_id=message_id, error=str(error))
        return Usage()
