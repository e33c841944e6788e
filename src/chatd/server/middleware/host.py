"""The Host check: else a foreign page could reach this server under its own name (DNS rebinding)."""

import re
from collections.abc import Iterable

from chatd.core.errors import InvalidRequest, Misdirected
from chatd.server.middleware.asgi_types import PROBES, App, Receive, Scope, Send, headers_named

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._\-]+)(?::(?P<port>\d{1,5}))?")
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_HOST_LIMIT = 261  # a name of 253, a dot, a colon and a port, with some air


def host_name(host: str) -> str | None:
    """The name in a Host header: lower case, no port, no final dot, IPv6 in brackets. None if it is none."""
    match = _HOST.fullmatch(host) if len(host) <= _HOST_LIMIT else None
    if match is None:
        return None
    return match["name"].lower().removesuffix(".") or None


def pattern_name(pattern: str) -> str:
    """An allowed host as it is compared, without its port: `*`, `*.example.com`, or a name; bare IPv6 in brackets."""
    pattern = pattern.strip().lower()
    if pattern.count(":") > 1 and not pattern.startswith("["):
        pattern = f"[{pattern}]"
    if pattern == "*":
        return pattern
    wildcard = "*." if pattern.startswith("*.") else ""
    name = pattern.removeprefix("*.")
    return wildcard + (host_name(name) or name)


def host_allowed(name: str, patterns: Iterable[str]) -> bool:
    """Whether a `host_name` matches a `pattern_name`; `*.example.com` does not match `example.com`."""
    for pattern in patterns:
        if pattern == "*" or pattern == name:
            return True
        if pattern.startswith("*.") and name.endswith(pattern[1:]) and len(name) > len(pattern) - 1:
            return True
    return False


class HostCheck:
    """Refuses names that are not ours with 421. Probes are let through: they come by address."""

    def __init__(self, app: App, *, allowed: Iterable[str]) -> None:
        self._app = app
        self._patterns = tuple(pattern_name(pattern) for pattern in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] not in PROBES:
            self._check(headers_named(scope, b"host"))
        await self._app(scope, receive, send)

    def _check(self, hosts: list[str]) -> None:
        name = host_name(hosts[0]) if len(hosts) == 1 else None
        if name is None:
            raise InvalidRequest("The request needs one valid Host header.")
        if not host_allowed(name, self._patterns):
            raise Misdirected(
                f"This server does not answer for the host {name}.",
                detail="The operator can allow it with CHATD_ALLOWED_HOSTS.",
            )
