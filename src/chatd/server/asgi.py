"""The middleware in its order, around any ASGI app. `ARCHITECTURE.md` says why each stands where it does."""

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import msgspec

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.minting import uuid7
from chatd.observe.metrics import Metrics
from chatd.server.middleware.access_log import AccessLog
from chatd.server.middleware.asgi_types import REST, App, Receive, Scope, Send, state
from chatd.server.middleware.authentication import (
    SESSION_COOKIE,
    Acting,
    Authenticate,
    Authentication,
    Credentials,
    session_cookie_name,
)
from chatd.server.middleware.body_limit import BODY_LIMIT, BodyLimit
from chatd.server.middleware.boundary import ErrorBoundary
from chatd.server.middleware.costly_requests import Costly, CostlyLimits
from chatd.server.middleware.host import LOOPBACK_HOSTS, HostCheck
from chatd.server.middleware.origin import OriginCheck, parse_origin
from chatd.server.middleware.proxies import TrustedProxies, parse_networks
from chatd.server.middleware.rate_limit import Buckets, RateLimit
from chatd.server.middleware.request_id import RequestId
from chatd.server.middleware.security_headers import SecurityHeaders

_SLASHES: Final = re.compile("//+")


async def _nobody(_credentials: Credentials) -> Person | None:
    return None


def _not_acting(_person: Person | None, _scope: Scope) -> AbstractContextManager[object]:
    return nullcontext()


class MiddlewareOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the layers need, as plain values and callables.

    `public_url` is where people find this server (its host and origin are allowed by themselves);
    `requests_per_minute` of 0 switches the rate limit off, and those on costly requests; `body_limits` are by path
    prefix.
    """

    clock: Clock
    metrics: Metrics
    authenticate: Authenticate = _nobody
    acting: Acting = _not_acting
    public_url: str | None = None
    allowed_hosts: tuple[str, ...] = LOOPBACK_HOSTS
    allowed_origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    body_limit: int = BODY_LIMIT
    body_limits: Mapping[str, int] = {}
    requests_per_minute: int = 0
    costly: CostlyLimits | None = None
    burst: int | None = None
    page_policy: str | None = None
    public_prefixes: tuple[str, ...] = ("/assets/",)
    mint_request_id: Callable[[], str] | None = None


def with_middleware(app: App, options: MiddlewareOptions) -> App:
    """Wrap the app. Raises ValueError for a proxy range or public URL that is none."""
    public_origin = None
    if options.public_url is not None:
        public_origin = parse_origin(options.public_url)
        if public_origin is None:
            raise ValueError(f"The public URL must start with http:// or https://, not {options.public_url!r}.")
    origins = (*options.allowed_origins, *([public_origin] if public_origin else []))
    hosts = (*options.allowed_hosts, *([public_origin.partition("://")[2]] if public_origin else []))
    https = public_origin is not None and public_origin.startswith("https:")

    # From the innermost to the outermost.
    layered, guesses = app, None
    if options.requests_per_minute > 0:
        burst = options.burst if options.burst is not None else options.requests_per_minute
        buckets, guesses = (
            Buckets(clock=options.clock, per_minute=options.requests_per_minute, burst=burst) for _ in range(2)
        )
        costly = None if options.costly is None else Costly(options.costly, options.clock)
        layered = RateLimit(layered, buckets=buckets, costly=costly)
    layered = Authentication(
        layered,
        authenticate=options.authenticate,
        acting=options.acting,
        guesses=guesses,
        cookie=session_cookie_name(https),
        public_prefixes=options.public_prefixes,
    )
    layered = BodyLimit(layered, limit=options.body_limit, longer=options.body_limits)
    layered = OriginCheck(layered, allowed=origins, session_cookie=SESSION_COOKIE)
    layered = HostCheck(layered, allowed=hosts)
    layered = ErrorBoundary(layered)
    layered = SecurityHeaders(layered, https=https, page_policy=options.page_policy)
    layered = AccessLog(layered, metrics=options.metrics)
    layered = TrustedProxies(layered, trusted=parse_networks(options.trusted_proxies))
    layered = RequestId(layered, mint=options.mint_request_id or _minted_by(options.clock))
    return _Layers(app, layered)


def _minted_by(clock: Clock) -> Callable[[], str]:
    return lambda: uuid7(clock.now()).hex


class _Layers:
    """The whole stack. The lifespan is no request and goes straight to the app.

    Litestar takes several slashes for one, so all layers see one: else none of them would know the path.
    """

    def __init__(self, app: App, layered: App) -> None:
        self._app = app
        self._layered = layered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        scope["path"] = _SLASHES.sub("/", scope["path"])
        await self._layered(scope, receive, send)
        if (rest := state(scope).pop(REST, None)) is not None:
            await rest(receive, send)
