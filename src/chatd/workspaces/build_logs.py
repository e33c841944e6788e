"""What a build says, written in batches while it runs; bounded in lines, in bytes of a line, and in memory."""

from datetime import datetime
from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.workspaces.limits import MOST_LINE_BYTES, MOST_LOG_LINES
from chatd.observe.logs import get_logger
from chatd.store.hints import Hints
from chatd.store.queries import InsertBuildLogsItem
from chatd.store.store import Store
from chatd.workspaces.build_hints import build_topic

FLUSH_SECONDS: Final = 0.5  # who looks on sees a line soon, and one statement takes many
_MOST_WAITING: Final = 1000  # lines in memory, while the database is slow
_LEVELS: Final = frozenset({"info", "warning", "error"})
_log = get_logger("chatd.build-logs")


class BuildLogWriter:
    """Takes lines at any time and never fails who says them."""

    def __init__(self, store: Store, hints: Hints, clock: Clock, *, build_id: UUID, replica_id: UUID) -> None:
        self._store = store
        self._hints = hints
        self._clock = clock
        self._build_id = build_id
        self._replica_id = replica_id
        self._waiting: list[InsertBuildLogsItem] = []
        self._said = 0

    def __call__(self, stage: str, line: str, *, level: str = "info") -> None:
        for each in line.splitlines() or [""]:
            self._said += 1
            if self._said > MOST_LOG_LINES or len(self._waiting) >= _MOST_WAITING:
                return
            if self._said == MOST_LOG_LINES:
                each = "More was said than is kept."  # noqa: PLW2901
            self._waiting.append(_item(self._clock.now(), level, stage, each))

    async def keep(self) -> None:
        """Write what was said, for as long as the build runs."""
        while True:
            await self._clock.sleep(FLUSH_SECONDS, timer="build-log")
            await self.flush()

    async def flush(self) -> None:
        """What can't be written is lost: a build does not fail because nobody can read what it said."""
        if not self._waiting:
            return
        items, self._waiting = self._waiting, []
        try:
            await self._store.insert_build_logs(
                build_id=self._build_id, replica_id=self._replica_id, items=items, most_lines=MOST_LOG_LINES
            )
        except Exception as error:  # noqa: BLE001 - see above
            _log.warning("what a build said can't be stored", build=str(self._build_id), error=str(error))
            return
        self._hints.publish(build_topic(self._build_id))


def _item(at: datetime, level: str, stage: str, line: str) -> InsertBuildLogsItem:
    """As the table takes it: no NUL, valid UTF-8, and not too long."""
    clean = _clean(line, MOST_LINE_BYTES)
    return InsertBuildLogsItem(at, level if level in _LEVELS else "info", _clean(stage, 64), clean)


def storable(text: str) -> str:
    """As the database takes it: what programs say may hold anything."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _clean(text: str, most_bytes: int) -> str:
    whole = storable(text).encode()
    if len(whole) <= most_bytes:
        return whole.decode()
    return whole[: most_bytes - 3].decode("utf-8", "ignore") + "…"
