"""A transition that was refused, as the error that its asker gets."""

from typing import Final
from uuid import UUID

from chatd.core.errors import ChatdError, Forbidden, InvalidRequest, NotAuthorized, NotFound
from chatd.core.outcomes import Refusal, Refused
from chatd.core.states import ARCHIVED
from chatd.core.transitions import Transition
from chatd.store.store import Store
from chatd.store.transitions import Applied, Outcome

# What an archived chat refuses as a wrong request: it has to be taken out of the archive first.
_NOT_WHEN_ARCHIVED: Final = frozenset(
    {
        Transition.SEND_MESSAGE,
        Transition.EDIT_MESSAGE,
        Transition.PROMOTE_QUEUED,
        Transition.COMPLETE_REQUIRES_ACTION,
        Transition.REQUEST_COMPACTION,
    }
)


def error_of(refused: Refused) -> ChatdError:
    """The one place that says which refusal is which error."""
    if refused.state in ARCHIVED and refused.transition in _NOT_WHEN_ARCHIVED:
        return InvalidRequest("The chat is archived.", detail="Take it out of the archive first.")
    return refused.error()


def applied(outcome: Outcome) -> Applied:
    """What was done, or raises why not."""
    if isinstance(outcome, Refused):
        raise error_of(outcome)
    return outcome


async def applied_for_owner(outcome: Outcome | NotAuthorized, store: Store, chat_id: UUID) -> Applied:
    """As `applied`, of what only the owner of a chat may ask for: who can see it is told so. Asked afterwards, so that
    an owner pays nothing for the question."""
    if isinstance(outcome, NotAuthorized) or (isinstance(outcome, Refused) and outcome.reason is Refusal.NOT_FOUND):
        raise await not_yours(store, chat_id)
    return applied(outcome)


async def not_yours(store: Store, chat_id: UUID) -> ChatdError:
    """For who may not do something with a chat that may be there."""
    try:
        seen = await store.get_chat_state(chat_id=chat_id)
    except NotAuthorized:
        seen = None
    if seen is None:
        return NotFound("Chat")
    return Forbidden(
        "You can see this chat, but not do this with it.",
        detail="What its agent does is for its owner to ask for; administrators can stop, rename and archive it.",
    )
