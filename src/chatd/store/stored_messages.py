"""A row of `messages` as a message: the way back from what `transitions.py` wrote, or an older version did."""

from chatd.core.messages import Message, read_content_leniently
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


def _usage(row: queries.Message) -> Usage:
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
        _log.warning("a stored usage can't be", chat_id=str(row.chat_id), message_id=row.id, error=str(error))
        return Usage()
