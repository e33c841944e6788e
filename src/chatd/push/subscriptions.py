"""Which browsers of a user are told: read once, then known for a while.

What is known ends when its time is up, or when the version of subscriptions or of sign-ins moves (server/versions.py).
What was asked for before such a move and arrives after it is older than what is stored, and is not kept.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.push.encryption import BrowserKeys
from chatd.push.vapid import origin
from chatd.store.store import Store

MOST_PER_USER: Final = 10  # browsers; the oldest gives way. People have a few, and forget some
KNOWN_SECONDS: Final = 600.0  # sessions end by themselves, without any version that moves
_MOST_USERS: Final = 4096  # about 25 MB if all of them had ten browsers
_MOST_LOOKS: Final = 3  # at what keeps changing


class Subscription(msgspec.Struct, frozen=True):
    """`endpoint` is an address that lets anyone who knows it send, so it is never logged: its origin is."""

    id: UUID
    endpoint: str
    keys: BrowserKeys

    @property
    def origin(self) -> str:
        return origin(self.endpoint)

    def __repr__(self) -> str:
        return f"Subscription({self.id}, {self.origin!r})"


class _Known(msgspec.Struct, frozen=True):
    subscriptions: Sequence[Subscription]
    until: float


class Subscriptions:
    """Of a replica. Acts as who asks."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: OrderedDict[UUID, _Known] = OrderedDict()
        self._generation = 0

    def known(self, user_id: UUID) -> Sequence[Subscription] | None:
        """Without asking the database; None when only that could tell."""
        found = self._known.get(user_id)
        if found is None or self._clock.monotonic() >= found.until:
            return None
        self._known.move_to_end(user_id)
        return found.subscriptions

    async def of(self, user_id: UUID) -> Sequence[Subscription]:
        """As they are stored, or were when last asked for. While they keep changing, the last look counts."""
        found: Sequence[Subscription] = ()
        for _ in range(_MOST_LOOKS):
            if (known := self.known(user_id)) is not None:
                return known
            generation = self._generation
            found = await self._read(user_id)
            if generation == self._generation:
                self._keep(user_id, found)
                break
        return found

    def forget(self) -> None:
        """Someone's have changed: the database is asked again for everyone."""
        self._generation += 1
        self._known.clear()

    async def _read(self, user_id: UUID) -> Sequence[Subscription]:
        rows = await self._store.list_push_subscriptions(user_id=user_id, max_rows=MOST_PER_USER)
        return tuple(Subscription(row.id, row.endpoint.reveal(), BrowserKeys(row.p256dh, row.auth)) for row in rows)

    def _keep(self, user_id: UUID, found: Sequence[Subscription]) -> None:
        self._known[user_id] = _Known(found, self._clock.monotonic() + KNOWN_SECONDS)
        self._known.move_to_end(user_id)
        while len(self._known) > _MOST_USERS:
            self._known.popitem(last=False)
