"""Finds out who is asking. It decides nothing else: a route that needs someone says so itself."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from enum import StrEnum

import msgspec

from chatd.core.access import Person
from chatd.core.errors import Unauthenticated
from chatd.core.secret import Secret
from chatd.server.middleware.asgi_types import PROBES, App, Receive, Scope, Send, header, headers_named, state
from chatd.server.middleware.security_headers import is_api

SESSION_COOKIE = "chatd_session"
TOKEN_HEADER = "Chatd-Session-Token"
_TOKEN_LIMIT = 512  # ours are shorter; what is longer is not looked up


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
Acting = Callable[[Person | None], AbstractContextManager[object]]


def find_credentials(scope: Scope) -> Credentials | None:
    """Bearer, then our header, then the cookie. Other schemes of Authorization belong to proxies."""
    authorization = header(scope, b"authorization")
    if authorization is not None:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() == "bearer":
            return Credentials(Secret(token.strip()), Source.BEARER)
    token = header(scope, TOKEN_HEADER.lower().encode())
    if token is not None:
        return Credentials(Secret(token.strip()), Source.HEADER)
    for cookies in headers_named(scope, b"cookie"):
        for pair in cookies.split(";"):
            name, equals, value = pair.strip().partition("=")
            if equals and name == SESSION_COOKIE and value:
                return Credentials(Secret(value.strip('"')), Source.COOKIE)
    return None


class Authentication:
    """Sets `person` in the state and acts as them for the rest of the request.

    Credentials given on purpose that nobody has are refused with 401 on /api, after `on_refused` (which may
    raise Throttled); a stale cookie makes the request anonymous, so that the page to sign in still loads.
    """

    def __init__(
        self,
        app: App,
        *,
        authenticate: Authenticate,
        acting: Acting,
        on_refused: Callable[[Scope], None],
        public_prefixes: tuple[str, ...],
    ) -> None:
        self._app = app
        self._authenticate = authenticate
        self._acting = acting
        self._on_refused = on_refused
        self._public_prefixes = public_prefixes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        person = await self._find_person(scope)
        state(scope)["person"] = person
        # Also for nobody: a task may start with the context of another request's task.
        with self._acting(person):
            await self._app(scope, receive, send)

    async def _find_person(self, scope: Scope) -> Person | None:
        path = scope["path"]
        if path in PROBES or path.startswith(self._public_prefixes):
            return None
        credentials = find_credentials(scope)
        if credentials is None:
            return None
        if 0 < len(credentials.token.reveal()) <= _TOKEN_LIMIT:
            person = await self._authenticate(credentials)
            if person is not None:
                return person
        if credentials.source is not Source.COOKIE and is_api(path):
            self._on_refused(scope)
            raise Unauthenticated("The token is not valid, or has expired. Sign in again or make a new one.")
        return None
