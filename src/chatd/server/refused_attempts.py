"""Attempts to change what admins look after, by people who may not: written to the audit log, a few a minute each."""

from typing import Any, Final

from chatd.clock import Clock
from chatd.core.access import RECORDER, Kind, Person
from chatd.core.errors import NotAuthorized, Throttled
from chatd.engine.commits import AWAY
from chatd.observe.logs import get_logger
from chatd.server.middleware.rate_limit import Buckets
from chatd.store.actor import acting_as, asked_from
from chatd.store.store import Store

_ACTIONS: Final = {"POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}
_KINDS: Final = frozenset(
    {Kind.USER, Kind.GROUP, Kind.TOKEN, Kind.SETTING, Kind.PROVIDER, Kind.MODEL, Kind.USAGE_LIMIT, Kind.AUDIT}
)
_PER_MINUTE: Final = 10  # of one person: enough to see that they try, too few to fill the log
_LONGEST: Final = 200  # characters of the address that was asked for
# In the state of a request: the RefusedAttempts of its replica.
REFUSED_ATTEMPTS: Final = "refused_attempts"
_log = get_logger("chatd.audit")


class RefusedAttempts:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._buckets = Buckets(clock=clock, per_minute=_PER_MINUTE, burst=_PER_MINUTE)

    async def note(self, error: Exception, scope: Any) -> None:
        person = scope["state"].get("person")
        action = _ACTIONS.get(scope.get("method", ""))
        if not (
            isinstance(error, NotAuthorized) and error.resource in _KINDS and action and isinstance(person, Person)
        ):
            return
        try:
            self._buckets.charge(str(person.user_id))
            with acting_as(RECORDER):
                await self._store.insert_refused_attempt(
                    actor_id=person.user_id,
                    actor_name=person.username,
                    action=action,
                    target_kind=error.resource,
                    target=f"{scope['method']} {scope['path']}"[:_LONGEST].replace("\0", ""),
                    request_id=asked_from().request_id,
                    client_address=asked_from().client_address,
                )
        except Throttled:
            pass
        except AWAY as failed:
            _log.warning("a refused attempt is not in the audit log", user_id=str(person.user_id), error=str(failed))


async def note_refused(error: Exception, scope: Any) -> None:
    """A hook of Litestar's: it sees every error of a route, and changes none."""
    attempts = scope["state"].get(REFUSED_ATTEMPTS)
    if isinstance(attempts, RefusedAttempts):
        await attempts.note(error, scope)
