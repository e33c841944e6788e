"""What is known of a chat."""

from chatd.engine.owned import Owned
from chatd.store.queries import ChatChange, ChatState
from chatd.store.store import Store

# A row of `chat_state`, or what a transition says of it.
ChatFacts = ChatChange | ChatState


async def facts_of(owned: Owned, store: Store) -> ChatFacts | None:
    """What was told with the chat, or else read; None when it is not that runner's any more."""
    if owned.applied is not None:
        return owned.applied.change
    row = await store.get_chat_state(chat_id=owned.chat_id)
    return row if row is not None and row.runner_id == owned.runner_id and not row.archived else None
