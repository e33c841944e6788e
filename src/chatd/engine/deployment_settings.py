"""What the deployment sets for turns, cached until some of it changes: a turn pays no query for it."""

import msgspec

from chatd.core.access import WORKER
from chatd.core.turn_settings import KEYS, TurnSettings, read_turn_settings
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.store import Store

_log = get_logger("chatd.deployment-settings")


class DeploymentSettings:
    """`forget` is called when the area `settings` changes, here or on another replica."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cached: TurnSettings | None = None
        self._generation = 0

    def forget(self) -> None:
        self._generation += 1
        self._cached = None

    async def load(self) -> TurnSettings:
        if self._cached is not None:
            return self._cached
        generation = self._generation
        with acting_as(WORKER):
            rows = await self._store.list_site_settings(keys=KEYS)
            offers = await self._store.offers_templates()
        settings = read_turn_settings({row.key: row.value for row in rows})
        settings = msgspec.structs.replace(settings, offers_workspaces=offers)
        if settings.unreadable:
            _log.warning("settings can't be read and count as not set", keys=sorted(settings.unreadable))
        # What was read before a change must not outlive it.
        if generation == self._generation:
            self._cached = settings
        return settings
