"""The HTTP client for addresses that users give: it asks public ones only, unless the operator allows others.

The address that is connected to is judged, whatever name led to it, and no redirect is followed. Through the operator's
proxy nobody sees that address: then what the name means here is judged, and a name that means nothing here is for the
proxy to judge.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
import msgspec

from chatd.core.failure import Fault
from chatd.core.public_addresses import may_be_asked, meant
from chatd.core.secret import Secret
from chatd.providers.network import ForbiddenAddress, Proxy, check_address, trust, vendor_socket
from chatd.providers.transport import CONNECT_SECONDS, TransportFault, as_fault, as_written

_MOST_CONNECTIONS: Final = 64  # whoever uses it has closer limits of its own


class Reply(msgspec.Struct, frozen=True):
    """The body is left unread."""

    status: int
    headers: Mapping[str, str]


class Allowed:
    """The operator's networks, besides all that is public."""

    def __init__(self, networks: Sequence[str] = ()) -> None:
        self._networks = [ipaddress.ip_network(network) for network in networks]

    def check(self, address: str) -> None:
        """Raises ForbiddenAddress."""
        check_address(address)
        if not may_be_asked(address, self._networks):
            raise ForbiddenAddress(
                f"The address {meant(address)} is not public. It is asked only if outbound_private_networks has it."
            )

    def check_host(self, host: str) -> None:
        """As `check`, if it is an address; a name is judged when it is looked up. Raises ForbiddenAddress."""
        try:
            ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            return
        self.check(host)

    def socket(self, found: Sequence[Any]) -> socket.socket:
        self.check(found[4][0])
        return vendor_socket(found)


class GuardedClient:
    def __init__(
        self, direct: aiohttp.ClientSession, proxied: aiohttp.ClientSession, proxy: Proxy, allowed: Allowed
    ) -> None:
        self._direct = direct
        self._proxied = proxied
        self._proxy = proxy
        self._allowed = allowed

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Raises TransportFault, with Fault.ADDRESS for an address that is not asked."""
        try:
            asked = as_written(url)
            host = asked.host or ""
            proxy = self._proxy.for_host(host, asked.port)
            if proxy is not None:
                await self._check_name(host, asked.port or 0)
            session = self._direct if proxy is None else self._proxied
            async with session.post(
                asked, data=body, headers=dict(headers), proxy=proxy, allow_redirects=False
            ) as response:
                return Reply(response.status, dict(response.headers))
        except aiohttp.ClientError as error:
            raise as_fault(error) from error
        except ForbiddenAddress as error:
            raise TransportFault(Fault.ADDRESS, str(error)) from error
        except ValueError as error:  # UnicodeError too: a host name that no resolver takes
            raise TransportFault(Fault.ADDRESS, "This is not an address.") from error
        except TimeoutError as error:
            raise TransportFault(Fault.TIMED_OUT, "no connection in time") from error

    async def _check_name(self, host: str, port: int) -> None:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except socket.gaierror:
            return  # machines behind a proxy often know no names of the outside
        for entry in found:
            self._allowed.check(str(entry[4][0]))


@asynccontextmanager
async def open_guarded(
    allowed: Allowed, *, proxy: Secret | None = None, no_proxy: str = "", ca: Path | None = None
) -> AsyncGenerator[GuardedClient]:
    """As open_transport."""
    trusted = trust(ca)
    async with _session(trusted, allowed.socket) as direct, _session(trusted, vendor_socket) as proxied:
        yield GuardedClient(direct, proxied, Proxy(proxy, no_proxy), allowed)


def _session(trusted: ssl.SSLContext, make_socket: Any) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=_MOST_CONNECTIONS, ssl=trusted, socket_factory=make_socket),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),  # the caller has a clock
        headers={"User-Agent": "chatd"},
        trust_env=False,  # the proxy is a setting, which honours HTTPS_PROXY by itself
        cookie_jar=aiohttp.DummyCookieJar(),
    )
