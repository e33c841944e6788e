"""The limit on requests per user, or per address for those who are not signed in: token buckets in memory.

Each replica counts for itself, so N replicas let through up to N times the rate. When the map is full the
bucket unused for longest is forgotten, which is as if it had filled up.
"""

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address
from typing import Protocol

import msgspec

from chatd.clock import Clock
from chatd.core.errors import Throttled
from chatd.server.middleware.asgi_types import UNMETERED, App, Receive, Scope, Send, client_address, state

BUCKETS_LIMIT = 10_000  # about 2 MB; more clients than one replica serves in a minute
_IPV6_SITE_BITS = 64  # one customer has at least a /64 and could else use every address in it


class Bucket(msgspec.Struct, frozen=True):
    """How many requests were left at a time (monotonic seconds)."""

    tokens: float
    at: float


def take(bucket: Bucket, *, now: float, per_second: float, burst: float, amount: float = 1) -> tuple[Bucket, float]:
    """Take tokens: the bucket after it and 0, or the bucket without it and the seconds to wait. Of more than a bucket
    holds, all that it holds is enough: it could never be had else."""
    tokens = min(burst, bucket.tokens + max(0.0, now - bucket.at) * per_second)
    wanted = min(amount, burst)
    if tokens >= wanted:
        return Bucket(tokens - wanted, now), 0.0
    return Bucket(tokens, now), (wanted - tokens) / per_second


def address_key(address: str) -> str:
    """What addresses share a bucket: an IPv4 address is one client, of an IPv6 address its /64."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return f"{IPv6Address(int(parsed) >> _IPV6_SITE_BITS << _IPV6_SITE_BITS)}/{_IPV6_SITE_BITS}"


class Buckets:
    """One bucket per key, the least recently used forgotten first. `refusal` is what is said to who takes too much."""

    def __init__(
        self,
        *,
        clock: Clock,
        per_minute: int,
        burst: int,
        limit: int = BUCKETS_LIMIT,
        refusal: str = "Too many requests. Wait a moment.",
    ) -> None:
        self._refusal = refusal
        self._clock = clock
        self._per_second = per_minute / 60
        self._burst = float(max(1, burst))
        self._limit = limit
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def charge(self, key: str, amount: float = 1) -> None:
        """Count one request, or so many bytes. Raises Throttled when it is too much."""
        now = self._clock.monotonic()
        bucket = self._buckets.pop(key, None) or Bucket(self._burst, now)
        self._buckets[key], wait_seconds = take(
            bucket, now=now, per_second=self._per_second, burst=self._burst, amount=amount
        )
        if len(self._buckets) > self._limit:
            self._buckets.popitem(last=False)
        if wait_seconds > 0:
            raise Throttled(self._refusal, retry_after_seconds=wait_seconds)

    def refund(self, key: str) -> None:
        """Take back one `charge`."""
        bucket = self._buckets.get(key)
        if bucket is not None:
            self._buckets[key] = Bucket(min(self._burst, bucket.tokens + 1), bucket.at)

    def charge_request(self, scope: Scope) -> None:
        """Count a request for its user, or for its address."""
        person = state(scope).get("person")
        self.charge(f"user {person.user_id}" if person is not None else address_key(client_address(scope)))


class CostlyRequests(Protocol):
    def charge(self, scope: Scope) -> None:
        """Raises Throttled when it is one too many of its kind."""
        ...


class RateLimit:
    """Refuses with 429 and Retry-After. Stands inside authentication, since it counts by user."""

    def __init__(self, app: App, *, buckets: Buckets, costly: CostlyRequests | None = None) -> None:
        self._app = app
        self._buckets = buckets
        self._costly = costly

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] not in UNMETERED:
            self._buckets.charge_request(scope)
            if self._costly is not None:
                self._costly.charge(scope)
        await self._app(scope, receive, send)
