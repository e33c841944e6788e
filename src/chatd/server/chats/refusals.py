"""A transition that was refused, as the error that its asker gets."""

from typing import Final
from uuid import UUID

import msgspec

from chatd.core.errors import ChatdError, Conflict, Forbidden, InvalidRequest, NotAuthorized, NotFound
from chatd.core.outcomes import Refusal, Refused
from chatd.core.states import ARCHIVED, State
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


class _Words(msgspec.Struct, frozen=True):
    message: str
    detail: str


_RUNNING: Final = _Words("The chat is running.", "Wait until its turn ends, or interrupt it.")
_INTERRUPTING: Final = _Words("The chat is interrupting its turn.", "Wait a moment until it rests.")
_REQUIRES_ACTION: Final = _Words(
    "The chat requires action: it waits for results of its client's tools.", "Send them, or interrupt it."
)
_ERROR: Final = _Words("The chat stopped with an error.", "Send a message to go on.")
_ARCHIVED: Final = _Words("The chat is archived.", "Take it out of the archive first.")
# What a chat is doing when it can't do what was asked.
_IN_WORDS: Final = {
    State.W: _Words("The chat is waiting: there is nothing that this could be done with.", "Send a message to go on."),
    State.R0: _RUNNING,
    State.R1: _RUNNING,
    State.I0: _INTERRUPTING,
    State.I1: _INTERRUPTING,
    State.A0: _REQUIRES_ACTION,
    State.A1: _REQUIRES_ACTION,
    State.E0: _ERROR,
    State.E1: _ERROR,
    **dict.fromkeys(ARCHIVED, _ARCHIVED),
}


def error_of(refused: Refused) -> ChatdError:
    """The one place that says which refusal is which error."""
    if refused.state in ARCHIVED and refused.transition in _NOT_WHEN_ARCHIVED:
        return InvalidRequest("The chat is archived.", detail="Take it out of the archive first.")
    if refused.reason is Refusal.NOT_ALLOWED and (words := _IN_WORDS.get(refused.state)):
        return Conflict(words.message, detail=words.detail)
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
