"""Acting for a chat's owner: what a tool does in the store is done with the owner's rights, never with the worker's."""

from typing import Final
from uuid import UUID

from chatd.core.access import STAND_IN, Person, Role
from chatd.core.errors import Forbidden, NotFound
from chatd.store.actor import acting_as
from chatd.store.queries import UserStatus
from chatd.store.store import Store

_GONE: Final = (
    "The owner of this chat may not use chatd any more, so that nothing can be done for them. Nothing was done."
)


async def owner_of(store: Store, owner_id: UUID) -> Person:
    """Whom to act as, with `acting_as`: all rights that the user has now. Raises Forbidden for one who is suspended or
    deleted."""
    with acting_as(STAND_IN):
        try:
            user = await store.get_user_by_id(id=owner_id)
        except NotFound:
            raise Forbidden(_GONE) from None
    if user.status is not UserStatus.ACTIVE:
        raise Forbidden(_GONE)
    return Person(user.id, Role(user.role), user.username)
