"""The Origin check: a foreign page must not act with the cookies of the person who looks at it."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from chatd.core.errors import Forbidden
from chatd.server.middleware.asgi_types import App, Receive, Scope, Send, header, headers_named

_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_DEFAULT_PORTS = {"http": 80, "https": 443}


def parse_origin(text: str) -> str | None:
    """The origin of a URL as it is compared: lower case, default port left out. None if it has none."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        return None
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    if scheme not in _DEFAULT_PORTS or not parts.hostname or parts.username is not None:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname.removesuffix(".")
    return f"{scheme}://{host}" if port in (None, _DEFAULT_PORTS[scheme]) else f"{scheme}://{host}:{port}"


def origin_allowed(origin: str, *, own: str | None, allowed: frozenset[str]) -> bool:
    """`own` is the origin of the request, `allowed` the public URL's and the configured ones; all parsed."""
    parsed = parse_origin(origin)
    return parsed is not None and (parsed == own or parsed in allowed)


def must_check(scope_type: str, method: str) -> bool:
    """WebSockets are always checked: browsers open them across origins, with cookies, without asking."""
    return scope_type == "websocket" or method in _CHANGING


class OriginCheck:
    """Refuses changes and WebSockets that foreign pages ask for, with 403. Clients without Origin pass."""

    def __init__(self, app: App, *, allowed: Iterable[str], session_cookie: str) -> None:
        self._app = app
        self._allowed = frozenset(origin for text in allowed if (origin := parse_origin(text)))
        self._cookie = session_cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if must_check(scope["type"], scope.get("method", "")):
            self._check(scope)
        await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        origins = headers_named(scope, b"origin")
        if origins:
            own = parse_origin(f"{scope.get('scheme', 'http')}://{header(scope, b'host') or ''}")
            if len(origins) > 1 or not origin_allowed(origins[0], own=own, allowed=self._allowed):
                raise Forbidden(
                    "This page may not act on this server.",
                    detail="Its origin is not this server's. Behind a proxy, set CHATD_PUBLIC_URL.",
                )
        elif (header(scope, b"sec-fetch-site") or "").strip().lower() == "cross-site" and self._by_cookie(scope):
            raise Forbidden("This page may not act on this server.", detail="The request comes from another site.")

    def _by_cookie(self, scope: Scope) -> bool:
        return header(scope, b"authorization") is None and any(
            f"{self._cookie}=" in cookies for cookies in headers_named(scope, b"cookie")
        )
