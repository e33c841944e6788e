"""What lies between us and a vendor: whom we trust, which sockets may be made, which requests take the proxy."""

import ipaddress
import re
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from chatd.core.public_addresses import gives_credentials, meant
from chatd.core.secret import Secret

# A peer that vanished without a word, or behind a router that forgot us, is noticed after two minutes: models may
# think for longer than that without sending anything, and routers forget after a few.
_KEEP_ALIVE: Final = (("TCP_KEEPIDLE", 60), ("TCP_KEEPALIVE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))

_ENTRY: Final = re.compile(r"\[?\*?\.?(.*?)\]?(?::([0-9]+))?")  # *.name:port or [IPv6]:port


class ForbiddenAddress(OSError):
    """There a cloud gives out the credentials of the machine that we run on."""


class Proxy(msgspec.Struct, frozen=True):
    """The operator's proxy, and the hosts that are asked without it."""

    url: Secret | None = None
    no_proxy: str = ""  # as in the variable of that name

    def for_host(self, host: str, port: int | None) -> str | None:
        """The proxy for requests to this host. This machine is never asked through it."""
        if self.url is None or _is_this_machine(host):
            return None
        if any(_covers(entry.strip().lower(), host.lower(), port) for entry in self.no_proxy.split(",")):
            return None
        return self.url.reveal()


def trust(ca: Path | None) -> ssl.SSLContext:
    """The system's certificates, and the operator's besides. Shared: who is given it changes nothing in it."""
    return _trusting(ca, ca.stat().st_mtime_ns if ca else 0)


@cache
def _trusting(ca: Path | None, _changed_at: int) -> ssl.SSLContext:
    """Kept, for reading the system's certificates takes a good part of a server's start."""
    context = ssl.create_default_context()
    if ca:
        context.load_verify_locations(cafile=str(ca))
    return context


def vendor_socket(found: Sequence[Any]) -> socket.socket:
    """A socket for one answer of the resolver, so that no name leads to a forbidden address either."""
    family, kind, protocol, _, address = found
    check_address(address[0])
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE:
        if option := getattr(socket, name, None):  # each system has some of them
            made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made


def check_address(address: str) -> None:
    if gives_credentials(address):
        raise ForbiddenAddress(f"At the address {meant(address)} a cloud gives out credentials. It is not asked.")


def _covers(entry: str, host: str, port: int | None) -> bool:
    """Whether an entry of NO_PROXY means this host: `*`, a network, or a name with all names below it, and its port."""
    if entry == "*":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
    named = _ENTRY.fullmatch(entry)
    name, only_port = named.groups() if named else ("", None)
    return bool(name) and (host == name or host.endswith(f".{name}")) and only_port in (None, str(port))


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
