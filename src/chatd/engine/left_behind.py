"""Reads what a runner that is gone has left of its step."""

from chatd.core.leftovers import Leftovers
from chatd.engine.facts import ChatFacts
from chatd.engine.parts import EngineParts
from chatd.store.stored_messages import read_draft


async def left_behind(facts: ChatFacts, parts: EngineParts) -> Leftovers:
    """Of the step at the chat's history. Acts as its caller."""
    row = await parts.store.get_draft(chat_id=facts.chat_id) if facts.has_draft else None
    shown = await parts.checkpoints.checkpointed(facts.chat_id, facts.history_version)
    return Leftovers(read_draft(row) if row else None, shown)
