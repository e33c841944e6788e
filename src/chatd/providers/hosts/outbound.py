"""The operator's way out: where requests may go, also those few that a vendor's own library makes."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from chatd.core.secret import Secret
from chatd.providers.hosts.demo import FindDemo

if TYPE_CHECKING:
    import urllib3


class Outbound(msgspec.Struct, frozen=True):
    proxy: Secret | None = None
    ca: Path | None = None
    find_demo: FindDemo | None = None  # None: this server has none

    def pool(self) -> "urllib3.PoolManager":
        """Blocking: for threads. Imported only for who uses it."""
        import urllib3

        ca = str(self.ca) if self.ca else None
        if self.proxy is not None:
            return urllib3.ProxyManager(self.proxy.reveal(), ca_certs=ca)
        return urllib3.PoolManager(ca_certs=ca)


NO_PROXY: Final = Outbound()
