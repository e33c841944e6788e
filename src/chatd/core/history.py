"""The history of a prompt: what `list_prompt_messages` reads, and the same after messages were added to it."""

from collections.abc import Iterable, Sequence

from chatd.core.messages import Message
from chatd.core.roles import Role, Visibility


def extended(history: Sequence[Message], added: Iterable[Message]) -> tuple[Message, ...]:
    """With what a transition inserted, in order. A new summary takes the place of all but the system messages."""
    rows = list(history)
    for message in added:
        if message.visibility is Visibility.USER or message.deleted:
            continue
        if message.compressed and message.visibility is not Visibility.MODEL:
            continue  # what people see of a compaction
        if message.compressed:
            rows = [row for row in rows if row.role is Role.SYSTEM]
        rows.append(message)
    return tuple(rows)
