"""What a build says, for one client: all there is, then what comes, until the build is over."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final
from uuid import UUID

import msgspec

from chatd.background import beside
from chatd.clock import Clock
from chatd.core.errors import ChatdError
from chatd.core.stream import Event
from chatd.engine.commits import AWAY
from chatd.server.stream.framing import Sink
from chatd.server.workspaces.reading import WorkspaceReading
from chatd.stoppable import Stoppable, Stopped
from chatd.store.hints import Gap, Hint, Hints
from chatd.wire import workspaces as wire
from chatd.workspaces.build_hints import build_topic

LOOK_SECONDS: Final = 5.0  # when no hint comes; those who look on are few
_PAGE: Final = 500  # lines of one read
_NOT_YOURS: Final = "The session has ended. Sign in again."
_COME_BACK: Final = "The database is away. Connect again with the last id."
_ENCODER: Final = msgspec.json.Encoder()


class LogEvent(msgspec.Struct, frozen=True, tag="log"):
    log: wire.BuildLogLine


class EndEvent(msgspec.Struct, frozen=True, tag="end"):
    build: wire.WorkspaceBuild


class LogLoop:
    """`run` once, as who is acting. Kept like a stream (`stream/keeping.py`)."""

    def __init__(
        self,
        workspace_id: UUID,
        build_id: UUID,
        after: int,
        sink: Sink,
        reading: WorkspaceReading,
        hints: Hints,
        clock: Clock,
        may_stay: Callable[[], Awaitable[bool]],
    ) -> None:
        self.subject = workspace_id
        self.sending_since: float | None = None
        self._build_id = build_id
        self._after = after
        self._sink = sink
        self._reading = reading
        self._hints = hints
        self._clock = clock
        self._may_stay = may_stay
        self._block = Stoppable()
        self._is_running = False
        self._moved = asyncio.Event()
        self._beat_due = False
        self._check_due = False
        self._closing: str | None = None

    async def run(self) -> None:
        """Until the build is over, the client leaves, or the stream is ended."""
        subscription = self._hints.subscribe(build_topic(self._build_id), self._told)
        self._is_running = True
        try:
            with suppress(Stopped, OSError):
                async with self._block, beside({"build log": self._leaving()}):
                    await self._follow()
        finally:
            self._is_running = False
            subscription.close()

    def beat(self) -> None:
        self._beat_due = True
        self._moved.set()

    def recheck(self) -> None:
        self._check_due = True
        self._moved.set()

    def end(self, reason: str) -> None:
        self._closing = reason
        self._moved.set()

    def stop(self) -> None:
        if self._is_running:
            self._block.stop()

    def _told(self, _: Hint | Gap) -> None:
        self._moved.set()

    async def _leaving(self) -> None:
        await self._sink.gone()
        self.stop()

    async def _follow(self) -> None:
        while True:
            self._moved.clear()
            if self._check_due:
                self._check_due = False
                if not await self._may_stay():
                    self._closing = _NOT_YOURS
            if self._closing is None and await self._tell():
                self._closing = ""
            if self._closing is not None:
                await self._sending(self._sink.close(self._closing or "The build is over."))
                return
            if self._beat_due:
                self._beat_due = False
                await self._sending(self._sink.beat())
            with suppress(TimeoutError):
                async with self._clock.timeout(LOOK_SECONDS, timer="build-log-look"):
                    await self._moved.wait()

    async def _tell(self) -> bool:
        """What there is; whether that was all that there will be."""
        while True:
            try:
                page = await self._reading.logs(self.subject, self._build_id, after=self._after, limit=_PAGE)
            except AWAY:
                self._closing = _COME_BACK
                return False
            except ChatdError:
                self._closing = _NOT_YOURS
                return False
            events = [Event(str(line.id), _ENCODER.encode(LogEvent(line))) for line in page.logs]
            if events:
                self._after = page.logs[-1].id
                await self._sending(self._sink.send(events))
            if page.next_after is None:
                break
        if not page.build.status.is_over:
            return False
        await self._sending(self._sink.send([Event(None, _ENCODER.encode(EndEvent(page.build)))]))
        return True

    async def _sending(self, sent: Awaitable[None]) -> None:
        self.sending_since = self._clock.monotonic()
        try:
            await sent
        finally:
            self.sending_since = None
