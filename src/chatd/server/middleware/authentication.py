"""Finds out who is asking. It decides nothing else: a route that needs someone says so itself."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from enum import StrEnum

import msgspec

from chatd.core.access import Person
from chatd.core.errors import Unauthenticated
from chatd.core.secret import Secret
from chatd.server.middleware.asgi_types import (
    PROBES,
    App,
    Receive,
    Scope,
    Send,
    client_address,
    header,
    headers_named,
    state,
)
from chatd.server.middleware.rate_limit import Buckets, address_key
from chatd.server.middleware.security_headers import is_api

SESSION_COOKIE = "chatd_session"
# The second is what clients of the reference send (docs/reference-compat.md).
TOKEN_HEADERS = (b"chatd-session-token", b"coder-session-token")
_HOST_PREFIX = "__Host-"  # browsers take such a cookie only over https and only from this very host
_TOKEN_LIMIT = 512  # ours are shorter; what is longer is not looked up
_RECENT_LIMIT = 10_000  # tokens that were good lately; 1 MB


class Source(StrEnum):
    """Where the token stood. A cookie is sent by the browser unasked, the others on purpose."""

    BEARER = "bearer"
    HEADER = "header"
    COOKIE = "cookie"


class Credentials(msgspec.Struct, frozen=True):
    """The token that a request carries, and where."""

    token: Secret
    source: Source


Authenticate = Callable[[Credentials], Awaitable[Person | None]]
# While the block runs, this person acts, through this request.
Acting = Callable[[Person | None, Scope], AbstractContextManager[object]]


def session_cookie_name(secure: bool) -> str:
    """The cookie of a session. With https (`secure`) its prefix keeps neighbours in the domain from setting one."""
    return _HOST_PREFIX + SESSION_COOKIE if secure else SESSION_COOKIE


def find_credentials(scope: Scope, *, cookie: str = SESSION_COOKIE) -> Credentials | None:
    """Bearer, then a header of its own, then the cookie. Other schemes of Authorization belong to proxies."""
    authorization = header(scope, b"authorization")
    if authorization is not None:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() == "bearer":
            return Credentials(Secret(token.strip()), Source.BEARER)
    for name in TOKEN_HEADERS:
        token = header(scope, name)
        if token is not None:
            return Credentials(Secret(token.strip()), Source.HEADER)
    for line in headers_named(scope, b"cookie"):
        for pair in line.split(";"):
            name, equals, value = pair.strip().partition("=")
            if equals and name == cookie and value:
                return Credentials(Secret(value.strip('"')), Source.COOKIE)
    return None


class Authentication:
    """Sets `person` in the state and acts as them for the rest of the request.

    Credentials given on purpose that nobody has are refused with 401 on /api; a stale cookie makes the request
    anonymous, so that the page to sign in still loads. `guesses` bounds how often an address may ask for a token
    that is not known to be good; past it the answer is 429, and nobody is asked.
    """

    def __init__(
        self,
        app: App,
        *,
        authenticate: Authenticate,
        acting: Acting,
        guesses: Buckets | None,
        cookie: str,
        public_prefixes: tuple[str, ...],
    ) -> None:
        self._app = app
        self._authenticate = authenticate
        self._acting = acting
        self._guesses = guesses
        self._cookie = cookie
        self._public_prefixes = public_prefixes
        self._recent: OrderedDict[int, None] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        person = await self._find_person(scope)
        state(scope)["person"] = person
        # Also for nobody: a task may start with the context of another request's task.
        with self._acting(person, scope):
            await self._app(scope, receive, send)

    async def _find_person(self, scope: Scope) -> Person | None:
        path = scope["path"]
        if path in PROBES or path.startswith(self._public_prefixes):
            return None
        credentials = find_credentials(scope, cookie=self._cookie)
        if credentials is None:
            return None
        person = await self._ask(credentials, scope)
        if person is None and credentials.source is not Source.COOKIE and is_api(path):
            raise Unauthenticated("The token is not valid, or has expired. Sign in again or make a new one.")
        return person

    async def _ask(self, credentials: Credentials, scope: Scope) -> Person | None:
        """Who it is. What was good lately is asked for freely; else the address pays first, and is paid back."""
        digest = hash(credentials.token)
        payer = None
        if digest in self._recent:
            self._recent.move_to_end(digest)
        elif self._guesses is not None:
            payer = address_key(client_address(scope))
            self._guesses.charge(payer)
        is_askable = 0 < len(credentials.token.reveal()) <= _TOKEN_LIMIT
        person = await self._authenticate(credentials) if is_askable else None
        if person is None:
            self._recent.pop(digest, None)
            return None
        if self._guesses is not None and payer is not None:
            self._guesses.refund(payer)
        self._recent[digest] = None
        if len(self._recent) > _RECENT_LIMIT:
            self._recent.popitem(last=False)
        return person
