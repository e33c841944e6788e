"""Web push in a replica: what users do about it, and what runs for it."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from chatd.background import beside
from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.errors import InvalidRequest, NotFound, PushFailed, Throttled, Unauthenticated, Validation
from chatd.core.push_message import trial_message
from chatd.core.secret import Secret
from chatd.minting import uuid7
from chatd.observe.tallies import Tallies
from chatd.providers.guarded import Allowed, open_guarded
from chatd.providers.hosts import Outbound
from chatd.providers.network import ForbiddenAddress
from chatd.push.encryption import AUTH_BYTES, POINT_BYTES, from_base64url, public_key
from chatd.push.pushes import Pushes
from chatd.push.sender import Outcome, Sender
from chatd.push.subscriptions import MOST_PER_USER, Subscriptions
from chatd.push.vapid import load_push_key
from chatd.server.settings import Settings
from chatd.server.versions import Versions
from chatd.store.store import Store
from chatd.wire.push import CreatePushSubscription

VERSION: Final = "push"  # the area of the table `versions`
_TRY_AGAIN_SECONDS: Final = 5.0  # about as long as a trial takes


class Push(msgspec.Struct, frozen=True):
    """Of a running replica."""

    public_key: str
    pushes: Pushes
    allowed: Allowed


@asynccontextmanager
async def running_push(
    store: Store, versions: Versions, outbound: Outbound, *, settings: Settings, clock: Clock, counted: Tallies
) -> AsyncIterator[Push]:
    """Messages leave while the block runs; those under way at its end are given up."""
    key = await load_push_key(store)
    subscriptions = Subscriptions(store, clock)
    versions.on_change(VERSION, subscriptions.forget)
    versions.on_change("auth", subscriptions.forget)
    allowed = Allowed(settings.outbound_private_networks)
    async with open_guarded(allowed, proxy=outbound.proxy, no_proxy=outbound.no_proxy, ca=outbound.ca) as client:
        pushes = Pushes(
            store,
            subscriptions,
            Sender(client, key, clock=clock, contact=contact(settings)),
            clock=clock,
            counted=counted,
            on_gone=lambda: versions.changed(VERSION),
        )
        async with beside({"push messages": pushes.run()}):
            yield Push(key.public, pushes, allowed)


def contact(settings: Settings) -> str:
    """Whom push services can write to."""
    url = settings.public_url or ""
    if settings.push_contact is not None:
        return settings.push_contact
    return url if url.startswith("https://") else f"mailto:webmaster@{urlsplit(url).hostname or 'localhost'}"


class PushSubscribing:
    """What users do about it, with the rights of who asks."""

    def __init__(self, store: Store, push: Push, versions: Versions, clock: Clock) -> None:
        self._store = store
        self._push = push
        self._versions = versions
        self._clock = clock
        self._trials: set[UUID] = set()

    async def subscribe(self, user_id: UUID, asked: CreatePushSubscription, person: Person) -> None:
        p256dh = self._checked(asked)
        assert person.token_id is not None
        async with self._store.transaction() as tx:
            stored = await tx.upsert_push_subscription(
                id=uuid7(self._clock.now()),
                endpoint_hash=_hash(asked.endpoint),
                endpoint=Secret(asked.endpoint),
                p256dh=p256dh,
                auth=Secret(asked.auth_key),
                user_id=user_id,
                token_id=person.token_id,
            )
            if not stored:
                raise Unauthenticated("Sign in first.")  # signed out while this was under way
            await tx.delete_oldest_push_subscriptions(user_id=user_id, keep=MOST_PER_USER)
        self._versions.changed(VERSION)

    async def unsubscribe(self, user_id: UUID, endpoint: str) -> None:
        if not await self._store.delete_push_subscription(user_id=user_id, endpoint_hash=_hash(endpoint)):
            raise NotFound("Push subscription")
        self._versions.changed(VERSION)

    async def try_out(self, user_id: UUID) -> None:
        if not await self._store.list_push_subscriptions(user_id=user_id, max_rows=1):
            raise NotFound("Push subscription")
        if user_id in self._trials:
            raise Throttled("A trial is under way already.", retry_after_seconds=_TRY_AGAIN_SECONDS)
        self._trials.add(user_id)
        try:
            said = await self._push.pushes.send(user_id, trial_message())
        finally:
            self._trials.discard(user_id)
        if not any(one.outcome is Outcome.SENT for one in said):
            why = ", ".join(sorted({str(one.status or one.text or one.outcome) for one in said}))
            raise PushFailed("No push service took the message.", detail=f"They said: {why}." if why else None)

    def _checked(self, asked: CreatePushSubscription) -> bytes:
        """The browser's public key. Raises InvalidRequest for all that is wrong."""
        wrong: list[Validation] = []
        if problem := self._endpoint_problem(asked.endpoint):
            wrong.append(Validation("endpoint", problem))
        if len(_decoded(asked.auth_key)) != AUTH_BYTES:
            wrong.append(Validation("auth_key", f"must be {AUTH_BYTES} bytes in base64url"))
        point = _decoded(asked.p256dh_key)
        try:
            public_key(point)
        except ValueError:
            wrong.append(Validation("p256dh_key", f"must be a point of P-256: {POINT_BYTES} bytes in base64url"))
        if wrong:
            raise InvalidRequest("This is not a push subscription.", validations=wrong)
        return point

    def _endpoint_problem(self, endpoint: str) -> str:
        if not (endpoint.isascii() and endpoint.isprintable()) or " " in endpoint:
            return "must be a URL"
        try:
            parts = urlsplit(endpoint)
            host, _ = parts.hostname, parts.port
        except ValueError:
            return "must be a URL"
        if parts.scheme != "https" or not host:
            return "must be a URL that starts with https://"
        if "@" in parts.netloc:
            return "must not contain a user or password"
        try:
            self._push.allowed.check_host(host)
        except ForbiddenAddress as error:
            return str(error)
        return ""


def _hash(endpoint: str) -> bytes:
    return hashlib.sha256(endpoint.encode("utf-8", "surrogatepass")).digest()


def _decoded(text: str) -> bytes:
    try:
        return from_base64url(text)
    except ValueError:
        return b""
