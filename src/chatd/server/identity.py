"""Who is asking: from a token to a Person, cached for seconds.

A cached answer ends when its time is up, when the token expires, or when the auth version moves (see versions.py); an
answer that was asked for before such a move and arrives after it is not kept.
"""

from collections import OrderedDict
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.access import AUTHENTICATOR, Person, Role
from chatd.core.tokens import hash_token, looks_like_token
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.queries import TokenKind, TouchTokensLastUsedItem, TouchUsersLastSeenItem
from chatd.store.store import Store

_MOST_CACHED: Final = 10_000  # about 5 MB; beyond it the least recently used is asked for again
FLUSH_SECONDS: Final = 60.0  # "last used" is shown to people in minutes
_log = get_logger("chatd.identity")


class _Known(msgspec.Struct, frozen=True):
    person: Person
    until: float
    expires_at: datetime


class Identity:
    def __init__(self, store: Store, clock: Clock, *, cache_seconds: float) -> None:
        self._store = store
        self._clock = clock
        self._cache_seconds = cache_seconds
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._generation = 0
        self._used: dict[UUID, tuple[UUID, datetime]] = {}

    async def authenticate(self, token: str) -> Person | None:
        """The person behind a valid token, else None."""
        known = await self._find(token)
        return known and known.person

    async def signed_in(self, token: str) -> tuple[Person, datetime] | None:
        """As authenticate, and until when the token is valid by itself."""
        known = await self._find(token)
        return known and (known.person, known.expires_at)

    async def _find(self, token: str) -> _Known | None:
        if not looks_like_token(token):
            return None
        digest = hash_token(token)
        known = self._known.get(digest)
        if known is not None and self._clock.monotonic() < known.until and self._clock.now() < known.expires_at:
            self._known.move_to_end(digest)
        else:
            known = await self._ask(digest)
            if known is None:
                return None
        assert known.person.token_id is not None
        self._used[known.person.token_id] = (known.person.user_id, self._clock.now())
        return known

    async def _ask(self, digest: bytes) -> _Known | None:
        generation = self._generation
        with acting_as(AUTHENTICATOR):
            row = await self._store.authenticate_token(hash=digest)
        if row is None:
            self._known.pop(digest, None)
            return None
        person = Person(
            user_id=row.user_id,
            role=Role(row.role),
            username=row.username,
            scopes=frozenset(row.scopes),
            token_id=row.token_id,
            expires_at=row.expires_at if row.kind is TokenKind.API else None,
        )
        known = _Known(person, self._clock.monotonic() + self._cache_seconds, row.expires_at)
        if generation == self._generation:
            self._known[digest] = known
            while len(self._known) > _MOST_CACHED:
                self._known.popitem(last=False)
        return known

    def forget(self) -> None:
        """Something about users or tokens changed: ask the database again for everyone."""
        self._generation += 1
        self._known.clear()

    async def flush_forever(self) -> None:
        while True:
            await self._clock.sleep(FLUSH_SECONDS, timer="last used")
            await self.flush()

    async def flush(self) -> None:
        """Store when tokens were last used. Losing that is no reason to stop, or to end badly."""
        try:
            await self._flush()
        except Exception as error:  # noqa: BLE001 - whatever the database has
            _log.warning("last use of tokens can't be stored", error=str(error))

    async def _flush(self) -> None:
        """All in two statements."""
        used, self._used = self._used, {}
        seen: dict[UUID, datetime] = {}
        for user_id, at in used.values():
            seen[user_id] = max(at, seen.get(user_id, at))
        with acting_as(AUTHENTICATOR):
            # Sorted, so that two replicas lock the rows in the same order.
            await self._store.touch_tokens_last_used(
                items=[TouchTokensLastUsedItem(id, at) for id, (_, at) in sorted(used.items())]
            )
            await self._store.touch_users_last_seen(
                items=[TouchUsersLastSeenItem(id, at) for id, at in sorted(seen.items())]
            )
