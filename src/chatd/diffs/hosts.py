"""The hosts that administrators have configured, as they are stored now."""

import asyncio
from collections.abc import Sequence

from chatd.core.access import GIT_SYNC
from chatd.core.git_host_kind import HostKind
from chatd.git_hosts.asking import Session
from chatd.git_hosts.hosts import HostConfig, Hosts
from chatd.store.actor import acting_as
from chatd.store.queries import GitProvider
from chatd.store.store import Store


class StoredHosts:
    """Made anew only when something was changed: they know what was answered, and which host wants a pause."""

    def __init__(self, store: Store, session: Session) -> None:
        self._store = store
        self._session = session
        self._rows: Sequence[GitProvider] = ()
        self._hosts = Hosts(session, ())
        self._reading = asyncio.Lock()

    async def current(self) -> Hosts:
        """One reading of a few rows: hosts are asked at most every few seconds, and each time for longer than that."""
        async with self._reading:
            with acting_as(GIT_SYNC):
                rows = await self._store.list_git_providers_with_tokens()
            if rows != self._rows:
                self._hosts = Hosts(self._session, [config for row in rows if (config := config_of(row))])
                self._rows = rows
            return self._hosts


def config_of(row: GitProvider) -> HostConfig | None:
    """None without a token."""
    if row.token is None:
        return None
    return HostConfig(kind=HostKind(row.kind), host=row.host, token=row.token, api_url=row.api_url)
