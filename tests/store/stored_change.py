"""What a transition said of a chat, held against what is stored of it."""

from typing import Any, get_type_hints

import msgspec

from chatd.core.messages import Message
from chatd.core.roles import Role
from chatd.store.queries import ChatChange
from chatd.store.transitions import Applied

_JSON = ("last_error", "retry_state")
_TYPES = get_type_hints(ChatChange)
_MESSAGE_TYPES = get_type_hints(Message)
# A change begins with the columns of the row; what happened follows.
ROW = ChatChange.__struct_fields__[: ChatChange.__struct_fields__.index("transition")]
_OF_MESSAGE = ("role", "visibility", "compressed", "created_by", "model_config_id", "reasoning_effort")


def row_of(change: ChatChange) -> dict[str, object]:
    """The columns of chat_state that a change says the chat has now."""
    said = {name: getattr(change, name) for name in ROW}
    return said | {name: said[name] and msgspec.json.decode(said[name]) for name in _JSON}


def read_row(state: dict[str, Any]) -> dict[str, object]:
    """The stored row, out of JSON, to compare with `row_of`."""
    typed = {name: msgspec.convert(state[name], type=_TYPES[name]) for name in ROW if name not in _JSON}
    return typed | {name: state[name] for name in _JSON}


def assert_stored(outcome: Applied, view: dict[str, Any]) -> None:
    """A look at the chat after the transition shows what it said; all but the messages may have moved on since."""
    change, state = outcome.change, view["state"]
    if state["snapshot_version"] == change.snapshot_version:
        assert read_row(state) == row_of(change)
    rows = {row["id"]: row for row in view["messages"]}
    for message in outcome.messages:
        row = rows[message.id]
        stored = {name: msgspec.convert(row[name], type=_MESSAGE_TYPES[name]) for name in _OF_MESSAGE}
        assert stored == {name: getattr(message, name) for name in _OF_MESSAGE}
        assert msgspec.convert(row["created_at"], type=_TYPES["happened_at"]) == change.happened_at
        if row["deleted"]:
            assert row["revision"] > change.snapshot_version
        else:
            assert row["revision"] == change.snapshot_version
    touched = {row["id"] for row in view["messages"] if row["revision"] == change.snapshot_version}
    said = {*(message.id for message in outcome.messages), *(change.inserted_ids or ()), *(change.deleted_ids or ())}
    assert touched <= said


def assert_moment(before: dict[str, object] | None, outcome: Applied) -> None:
    """`updated_at` moves when the status changes or a turn begins, and never else: archiving is no work."""
    change = outcome.change
    began = any(message.role is Role.USER for message in outcome.messages)
    if before is None or began or before["status"] != change.status:
        assert change.updated_at == change.happened_at, change.transition
        assert before is None or change.updated_at >= before["updated_at"]  # pyright: ignore[reportOperatorIssue]
    else:
        assert change.updated_at == before["updated_at"], change.transition
