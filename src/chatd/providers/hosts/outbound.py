"""The operator's way out: where requests may go, also those few that a vendor's own library makes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

import msgspec
from yarl import URL

from chatd.core.secret import Secret
from chatd.providers.hosts.demo import FindDemo
from chatd.providers.network import Proxy, trust

if TYPE_CHECKING:
    import urllib3


class Outbound(msgspec.Struct, frozen=True):
    proxy: Secret | None = None
    ca: Path | None = None
    find_demo: FindDemo | None = None  # None: this server has none
    no_proxy: str = ""  # as in the variable of that name

    def pool(self, *, direct: bool = False) -> "Pool":
        """Blocking: for threads. `direct` is without the proxy, whomever it asks."""
        import urllib3  # only for who uses it

        trusted = trust(self.ca)
        directly = urllib3.PoolManager(ssl_context=trusted)
        if self.proxy is None or direct:
            return Pool(directly, directly, Proxy())
        url = self.proxy.reveal()
        login = urlsplit(url).netloc.rpartition("@")[0]
        headers = urllib3.make_headers(proxy_basic_auth=unquote(login)) if login else None
        proxied = urllib3.ProxyManager(url, proxy_headers=headers, ssl_context=trusted)
        return Pool(directly, proxied, Proxy(self.proxy, self.no_proxy))


class Pool:
    """Connections as a vendor's library wants them; each request takes the proxy, or not, as its host has it."""

    def __init__(self, direct: "urllib3.PoolManager", proxied: "urllib3.PoolManager", proxy: Proxy) -> None:
        self._direct = direct
        self._proxied = proxied
        self._proxy = proxy

    def request(self, method: str, url: str, **more: Any) -> "urllib3.BaseHTTPResponse":
        asked = URL(url)
        pool = self._proxied if self._proxy.for_host(asked.host or "", asked.port) else self._direct
        return pool.request(method, url, **more)


NO_PROXY: Final = Outbound()
