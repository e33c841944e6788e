"""Notices that something cached has changed elsewhere: at once by a hint, within seconds by asking for the versions."""

from collections.abc import Callable
from typing import Final

from chatd.clock import Clock
from chatd.core.access import WATCHER
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.hints import Hints
from chatd.store.store import Store

POLL_SECONDS: Final = 2.0  # how long a lost hint can go unnoticed
_log = get_logger("chatd.versions")


class Versions:
    """Areas are rows of the `versions` table: `auth`, `settings`, `models`. Listeners drop what they have cached."""

    def __init__(self, store: Store, hints: Hints, clock: Clock) -> None:
        self._store = store
        self._hints = hints
        self._clock = clock
        self._listeners: dict[str, list[Callable[[], None]]] = {}
        self._seen: dict[str, int] = {}

    def on_change(self, area: str, listener: Callable[[], None]) -> None:
        self._listeners.setdefault(area, []).append(listener)
        self._hints.subscribe(f"version:{area}", lambda _: self._tell(area))

    def changed(self, area: str) -> None:
        """Call it after a commit that changed the area: this replica drops its cache now, the others are hurried."""
        self._tell(area)
        self._hints.publish(f"version:{area}")

    async def poll_forever(self) -> None:
        while True:
            await self._clock.sleep(POLL_SECONDS, timer="versions")
            try:
                await self.poll()
            except Exception as error:  # noqa: BLE001 - a database that is away now is asked again in two seconds
                _log.warning("versions can't be read", error=str(error))

    async def poll(self) -> None:
        with acting_as(WATCHER):
            rows = await self._store.list_versions()
        for row in rows:
            # The first time too: what was cached before it may be older.
            if self._seen.get(row.area) != row.version:
                self._tell(row.area)
            self._seen[row.area] = row.version

    def _tell(self, area: str) -> None:
        for listener in self._listeners.get(area, ()):
            listener()
