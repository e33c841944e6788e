"""The context of a workspace, kept current while somebody watches."""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec

from chatd.agent.context.reading import ContextReader
from chatd.agent.files.disk import on_disk
from chatd.agent.inotify import Inotify
from chatd.clock import Clock
from chatd.wire.agent.context import WorkspaceContext

SETTLE_SECONDS: Final = 0.25  # an editor writes in several steps
POLL_SECONDS: Final = 5.0  # where the system can't watch
LINGER_SECONDS: Final = 30.0  # for who watched to ask again; until then the watches stay, and nothing runs

MOST_ROUNDS: Final = 3  # of watching and reading again, where folders come and go


class ContextWatch:
    """One for the workspace: all chats have the same context."""

    def __init__(self, reader: ContextReader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock
        self._turn = asyncio.Lock()
        self._stirred = asyncio.Event()
        self._seen: WorkspaceContext | None = None
        self._inotify: Inotify | None = None
        self._watchers = 0
        self._forget: Callable[[], None] = lambda: None

    async def current(self) -> WorkspaceContext:
        """Read anew, unless somebody watches and nothing has moved."""
        async with self._turn:
            if self._seen is not None and self._seen.is_watched and not self._stirred.is_set():
                return self._seen
            self._stirred.clear()
            try:
                return await self._read()
            except BaseException:
                self._stirred.set()
                raise

    async def changed(self, since: str | None) -> WorkspaceContext:
        """What there is, once its version is another than this one."""
        self._join()
        try:
            seen = await self.current()
            while seen.version == since:
                await self._until_stirred(is_watched=seen.is_watched)
                seen = await self.current()
            return seen
        finally:
            self._watchers -= 1
            if not self._watchers:
                self._forget = self._clock.after(LINGER_SECONDS, self.close, timer="context linger")

    def close(self) -> None:
        """Nothing is watched any more; the next who asks has it read anew."""
        self._forget()
        self._seen = None
        if self._inotify is not None:
            self._inotify.close()
            self._inotify = None

    def _join(self) -> None:
        self._watchers += 1
        self._forget()
        if self._inotify is None:
            try:
                self._inotify = Inotify(self._stirred.set)
            except OSError:
                return  # it is read from time to time instead

    async def _read(self) -> WorkspaceContext:
        """Watch where something was found, then read again: what changes in between is not missed."""
        inotify = self._inotify
        seen, places = await on_disk(self._reader.read)
        if inotify is None:
            return seen
        rounds = 0
        while rounds < MOST_ROUNDS:
            rounds += 1
            if self._inotify is not inotify or not inotify.only(places.folders):
                return seen
            watched = places.folders.keys()
            seen, places = await on_disk(self._reader.read)
            if self._inotify is inotify and places.folders.keys() == watched:
                self._seen = msgspec.structs.replace(seen, is_watched=True)
                return self._seen
        return seen  # folders come and go

    async def _until_stirred(self, *, is_watched: bool) -> None:
        if not is_watched:
            await self._clock.sleep(POLL_SECONDS, timer="context poll")
            self._stirred.set()
            return
        await self._stirred.wait()
        await self._clock.sleep(SETTLE_SECONDS, timer="context settle")
