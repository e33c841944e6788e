"""Repositories that somebody watches: looked at when something moved, at most once a second, and else not at all."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from typing import Final
from uuid import UUID

import msgspec

from chatd.agent.git.scanning import Scanning
from chatd.agent.inotify import Inotify
from chatd.agent.touched import TouchedPaths
from chatd.clock import Clock
from chatd.wire.agent.git import Repositories

APART_SECONDS: Final = 1.0  # between two looks, and never less than a look takes
POLL_SECONDS: Final = 5.0  # where the system can't watch everything
LINGER_SECONDS: Final = 30.0  # for who watched to ask again; until then watches stay, and nothing runs
MOST_INSTANCES: Final = 16  # of the kernel's watches; a user has 128 for all programs


class RepositoryWatches:
    """One watch per chat, however many ask for it."""

    def __init__(self, scanning: Scanning, touched: TouchedPaths, clock: Clock) -> None:
        self._scanning = scanning
        self._touched = touched
        self._clock = clock
        self._watches: dict[UUID | None, _Watch] = {}

    @property
    def count(self) -> int:
        return len(self._watches)

    async def current(self, chat: UUID | None) -> Repositories:
        if (watch := self._watches.get(chat)) is not None:
            return await watch.current()
        return await self._scanning.look(await self._scanning.roots(chat))

    async def changed(self, chat: UUID | None, since: str | None) -> Repositories:
        """What there is, once its version is another than this one."""
        async with self._watching(chat) as watch:
            return await watch.changed(since)

    def close(self) -> None:
        """Give the kernel's watches back."""
        for watch in self._watches.values():
            watch.close()
        self._watches.clear()

    @asynccontextmanager
    async def _watching(self, chat: UUID | None) -> AsyncGenerator["_Watch"]:
        watch = self._watches.get(chat)
        if watch is None:
            may_watch = sum(one.has_instance for one in self._watches.values()) < MOST_INSTANCES
            watch = _Watch(chat, self._scanning, self._touched, self._clock, may_watch=may_watch)
            self._watches[chat] = watch
        watch.join()
        try:
            yield watch
        finally:
            watch.leave(lambda: self._drop(chat, watch))

    def _drop(self, chat: UUID | None, watch: "_Watch") -> None:
        if self._watches.get(chat) is watch:
            del self._watches[chat]
            watch.close()


class _Watch:
    """What was seen last, and whether something has moved since."""

    def __init__(
        self, chat: UUID | None, scanning: Scanning, touched: TouchedPaths, clock: Clock, *, may_watch: bool
    ) -> None:
        self._chat = chat
        self._scanning = scanning
        self._clock = clock
        self._stirred = asyncio.Event()
        self._stirred.set()
        self._turn = asyncio.Lock()
        self._seen: Repositories | None = None
        self._not_before = clock.monotonic()
        self._watchers = 0
        self._forget: Callable[[], None] = lambda: None
        self._closing = ExitStack()
        if chat is not None:
            self._closing.enter_context(touched.watching(chat, self._stirred.set))
        self._inotify: Inotify | None = None
        if may_watch:
            try:
                self._inotify = Inotify(self._stirred.set)
            except OSError:
                return  # it is looked at from time to time instead
            self._closing.callback(self._inotify.close)

    @property
    def has_instance(self) -> bool:
        return self._inotify is not None

    def join(self) -> None:
        self._watchers += 1
        self._forget()

    def leave(self, nobody_left: Callable[[], None]) -> None:
        self._watchers -= 1
        if not self._watchers:
            self._forget = self._clock.after(LINGER_SECONDS, nobody_left, timer="git linger")

    def close(self) -> None:
        self._closing.close()

    async def changed(self, since: str | None) -> Repositories:
        seen = await self.current()
        while seen.version == since:
            await self._until_stirred(is_watched=seen.is_watched)
            seen = await self.current()
        return seen

    async def current(self) -> Repositories:
        """What is there now; from memory, where nothing has moved."""
        async with self._turn:
            if self._seen is not None and self._seen.is_watched and not self._stirred.is_set():
                return self._seen
            await self._clock.sleep(max(0.0, self._not_before - self._clock.monotonic()), timer="git apart")
            self._stirred.clear()
            try:
                self._seen = await self._look()
            except BaseException:
                self._stirred.set()
                raise
            return self._seen

    async def _look(self) -> Repositories:
        """Watch first, then look: what changes in between is looked at again."""
        began = self._clock.monotonic()
        roots = await self._scanning.roots(self._chat)
        is_watched = await self._watch(roots, self._seen)
        seen = await self._scanning.look(roots)
        if self._seen is None or seen.version != self._seen.version:
            is_watched = await self._watch(roots, seen)  # new folders
        took = self._clock.monotonic() - began
        self._not_before = self._clock.monotonic() + max(APART_SECONDS, took)
        return msgspec.structs.replace(seen, is_watched=is_watched)

    async def _watch(self, roots: tuple[bytes, ...], seen: Repositories | None) -> bool:
        if self._inotify is None:
            return False
        folders = await self._scanning.folders(roots, seen)
        return self._inotify.only(folders.names) and folders.is_complete

    async def _until_stirred(self, *, is_watched: bool) -> None:
        if is_watched:
            await self._stirred.wait()
            return
        try:
            async with self._clock.timeout(POLL_SECONDS, timer="git poll"):
                await self._stirred.wait()
        except TimeoutError:
            self._stirred.set()
