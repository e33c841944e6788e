"""The operator's way out: where requests may go, also those few that a vendor's own library makes."""

from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

import msgspec

from chatd.core.secret import Secret
from chatd.providers.hosts.demo import FindDemo
from chatd.providers.network import trust

if TYPE_CHECKING:
    import urllib3


class Outbound(msgspec.Struct, frozen=True):
    proxy: Secret | None = None
    ca: Path | None = None
    find_demo: FindDemo | None = None  # None: this server has none

    def pool(self, *, direct: bool = False) -> "urllib3.PoolManager":
        """Blocking: for threads. `direct` is without the proxy. Imported only for who uses it."""
        import urllib3

        trusted = trust(self.ca)
        if self.proxy is None or direct:
            return urllib3.PoolManager(ssl_context=trusted)
        url = self.proxy.reveal()
        login = urlsplit(url).netloc.rpartition("@")[0]
        headers = urllib3.make_headers(proxy_basic_auth=unquote(login)) if login else None
        return urllib3.ProxyManager(url, proxy_headers=headers, ssl_context=trusted)


NO_PROXY: Final = Outbound()
