"""All streams of a replica: one timer for keep-alives, for clients that don't keep up, and for rights that end."""

from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from chatd.clock import Clock
from chatd.engine.drop_warnings import Dropped, DropWarnings

TICK_SECONDS: Final = 1.0
BEAT_TICKS: Final = 25  # seconds between two signs of life: half of what common proxies wait for
STALLED_SECONDS: Final = 10.0  # for one frame to be taken: a phone in a tunnel comes back and resumes
MOST_CHECKS: Final = 500  # clients whose rights are looked up in one tick, so that thousands of them are no burst
STOPPING: Final = "The server is stopping. Connect again with the last id."
SIGNED_OUT: Final = "The session has ended. Sign in again."


class KeptLoop(Protocol):
    """What a stream is to who keeps it: `subject` is what drops are counted by."""

    @property
    def subject(self) -> UUID: ...
    @property
    def sending_since(self) -> float | None: ...

    def beat(self) -> None: ...
    def recheck(self) -> None: ...
    def end(self, reason: str) -> None: ...
    def stop(self) -> None: ...


class KeptStream:
    """A stream, how to cut its connection, and until when its client is signed in."""

    __slots__ = ("_abort", "expires_at", "is_over", "loop")

    def __init__(self, loop: KeptLoop, abort: Callable[[], None] | None, expires_at: datetime | None) -> None:
        self.loop = loop
        self.expires_at = expires_at
        self.is_over = False
        self._abort = abort

    def cut(self) -> None:
        """Nothing more is said: what is in the client's buffer stays there, and it resumes after what it has read."""
        if self._abort is not None:
            self._abort()
        self.loop.stop()


class StreamKeeper:
    """The timer runs while there are streams."""

    def __init__(self, clock: Clock, drops: DropWarnings) -> None:
        self._clock = clock
        self._drops = drops
        self._slots: list[dict[KeptStream, None]] = [{} for _ in range(BEAT_TICKS)]  # by the tick in which it beats
        self._stale: deque[KeptStream] = deque()
        self._made = 0
        self._count = 0
        self._tick = 0
        self._is_armed = False

    def __len__(self) -> int:
        return self._count

    def keep(self, stream: KeptStream) -> Callable[[], None]:
        """Gives what ends it."""
        self._made += 1
        slot = self._slots[self._made % BEAT_TICKS]
        slot[stream] = None
        self._count += 1
        if not self._is_armed:
            self._arm()

        def forget() -> None:
            del slot[stream]
            stream.is_over = True
            self._count -= 1

        return forget

    def end_all(self) -> None:
        """The server stops: clients go on elsewhere, or here when it is back."""
        for stream in self._all():
            stream.loop.end(STOPPING)

    def check_rights(self) -> None:
        """Something about users or tokens has changed: ask for every client, soon, who it is."""
        self._stale = deque(self._all())

    def _all(self) -> list[KeptStream]:
        return [stream for slot in self._slots for stream in slot]

    def _arm(self) -> None:
        self._is_armed = True
        self._clock.after(TICK_SECONDS, self._on_tick, timer="streams")

    def _on_tick(self) -> None:
        self._is_armed = False
        if not self._count:
            self._stale.clear()
            return
        self._arm()
        self._tick += 1
        self._cut_stalled()
        for _ in range(min(len(self._stale), MOST_CHECKS)):
            if not (stream := self._stale.popleft()).is_over:
                stream.loop.recheck()
        time = self._clock.now()
        for stream in tuple(self._slots[self._tick % BEAT_TICKS]):
            if stream.expires_at is not None and stream.expires_at <= time:
                stream.loop.end(SIGNED_OUT)
            else:
                stream.loop.beat()

    def _cut_stalled(self) -> None:
        latest = self._clock.monotonic() - STALLED_SECONDS
        stalled = [stream for stream in self._all() if (stream.loop.sending_since or latest + 1) <= latest]
        for stream in stalled:
            self._drops.note(stream.loop.subject, Dropped.SUBSCRIBER)
            stream.cut()
