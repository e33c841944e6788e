"""Finds who is really asking when trusted proxies stand in between."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from chatd.server.middleware.asgi_types import (
    App,
    Receive,
    Scope,
    Send,
    client_address,
    header,
    headers_named,
    state,
)

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

HOPS_LIMIT = 32  # longer chains of proxies are made up


def parse_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Addresses and CIDR ranges. Raises ValueError for what is neither."""
    return tuple(ip_network(text.strip(), strict=False) for text in texts)


def parse_address(text: str) -> Address | None:
    """An address as proxies write it: with or without a port, IPv6 with or without brackets."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_trusted(address: Address | None, trusted: Sequence[Network]) -> bool:
    return address is not None and any(address.version == network.version and address in network for network in trusted)


def find_client(peer: str, forwarded_for: Sequence[str], trusted: Sequence[Network]) -> str:
    """The nearest address that is not a trusted proxy, read from the right, since only that part is ours.

    Without a trusted peer the headers are anyone's claim and are not read.
    """
    if not is_trusted(parse_address(peer), trusted):
        return peer
    client = peer
    hops = [hop for line in forwarded_for for hop in line.split(",") if hop.strip()]
    for hop in reversed(hops[-HOPS_LIMIT:]):
        address = parse_address(hop)
        if address is None:
            break
        client = str(address)
        if not is_trusted(address, trusted):
            break
    return client


class TrustedProxies:
    """Sets `client` and `scheme` from X-Forwarded-For and -Proto of trusted peers; notes `peer`."""

    def __init__(self, app: App, *, trusted: Sequence[Network]) -> None:
        self._app = app
        self._trusted = tuple(trusted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        peer = client_address(scope)
        state(scope)["peer"] = peer
        if self._trusted and is_trusted(parse_address(peer), self._trusted):
            self._believe(scope, peer)
        await self._app(scope, receive, send)

    def _believe(self, scope: Scope, peer: str) -> None:
        scope["client"] = (find_client(peer, headers_named(scope, b"x-forwarded-for"), self._trusted), 0)
        # The last value is the one that our own proxy wrote.
        scheme = (header(scope, b"x-forwarded-proto") or "").rpartition(",")[2].strip().lower()
        if scheme in ("http", "https", "ws", "wss"):
            secure = scheme in ("https", "wss")
            plain = "ws" if scope["type"] == "websocket" else "http"
            scope["scheme"] = plain + "s" if secure else plain
