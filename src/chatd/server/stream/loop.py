"""One client's stream: wakes when there is something, gathers what is ready, sends it, and sleeps again.

At rest it is one task that waits for the client to leave. A second one writes, for as long as there is something to
write or an answer comes. Nothing is queued for a client: it reads from what all readers share at its own pace.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.errors import ChatdError
from chatd.core.states import Status
from chatd.core.stream import Event, Facts, Page, Parts, PartsMissing, StreamState, is_behind, reduce
from chatd.core.stream_ids import Place
from chatd.core.valid_text import valid_text
from chatd.engine.commits import AWAY
from chatd.engine.episodes import Episode
from chatd.observe.logs import get_logger
from chatd.server.stream.feed import ChatFeed
from chatd.server.stream.framing import MOST_EVENTS, Sink
from chatd.server.stream.read_cursor import ReadCursor
from chatd.server.stream.reading import ChatReader
from chatd.stoppable import Stoppable, Stopped

MOST_TRIES: Final = 5  # to read a chat while the database is away, three seconds in all; then the client comes back
FIRST_RETRY_SECONDS: Final = 0.1
LAST_RETRY_SECONDS: Final = 1.0
LIVE_SECONDS: Final = 0.1  # between two looks at what running tools say: faster than anyone reads
RESUME: Final = "Connect again with the last id."
NOT_YOURS: Final = "You may not see this chat any more, or the session has ended. Sign in again."
_ENCODER: Final = msgspec.json.Encoder()
_log = get_logger("chatd.stream")


class StreamLoop:
    """`run` once, as who is acting. A `Follower` of its feed. `may_stay` asks whether the client may still see it."""

    __slots__ = (  # thousands of them wait
        "_beat_due",
        "_block",
        "_check_due",
        "_clock",
        "_closing",
        "_context",
        "_cursor",
        "_episode",
        "_feed",
        "_has_looked",
        "_is_due",
        "_is_shown",
        "_live_at",
        "_live_place",
        "_may_stay",
        "_pause",
        "_read_for",
        "_reader",
        "_sink",
        "_stop_live_timer",
        "_tasks",
        "_writer",
        "sending_since",
        "state",
    )

    def __init__(
        self,
        reader: ChatReader,
        state: StreamState,
        sink: Sink,
        cursor: ReadCursor,
        clock: Clock,
        may_stay: Callable[[], Awaitable[bool]],
    ) -> None:
        self.state = state
        self.sending_since: float | None = None  # in a call that waits for the client
        self._feed: ChatFeed | None = None
        self._reader = reader
        self._sink = sink
        self._cursor = cursor
        self._may_stay = may_stay
        self._clock = clock
        self._context = contextvars.copy_context()  # who acts, whoever wakes us
        self._tasks: asyncio.TaskGroup | None = None
        self._block = Stoppable()
        self._writer: asyncio.Task[None] | None = None
        self._pause: asyncio.Future[None] | None = None  # what the writer waits for
        self._is_due = False
        self._beat_due = False
        self._check_due = False
        self._is_shown = False
        self._closing: str | None = None
        self._has_looked = False
        self._read_for = -1  # the snapshot that the last read was made for
        self._episode: Episode | None = None
        self._live_place = 0
        self._live_at: float | None = None
        self._stop_live_timer = lambda: None

    @property
    def feed(self) -> ChatFeed:
        assert self._feed is not None, "the loop runs"
        return self._feed

    @property
    def subject(self) -> UUID:
        return self.feed.chat_id

    async def run(self, feed: ChatFeed) -> None:
        """Until the client leaves, does not keep up, or the stream is ended."""
        self._feed = feed
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                self.wake()
                with suppress(Stopped):
                    async with self._block:
                        await self._sink.gone()
                self._tasks = None
                if self._writer is not None:
                    self._writer.cancel()
        finally:
            self._tasks = None
            self._stop_live_timer()

    def wake(self) -> None:
        self._is_due = True
        if self._pause is not None:
            if not self._pause.done():
                self._pause.set_result(None)
        elif self._writer is None and self._tasks is not None:
            self._writer = self._tasks.create_task(self._write(), name="stream", context=self._context)

    def beat(self) -> None:
        self._beat_due = True
        self.wake()

    def recheck(self) -> None:
        """Something about users or tokens has changed."""
        self._check_due = True
        self.wake()

    def end(self, reason: str = RESUME) -> None:
        """Say goodbye, then end."""
        self._closing = reason
        self.wake()

    def stop(self) -> None:
        """End at once."""
        if self._tasks is not None:
            self._block.stop()

    async def _write(self) -> None:
        try:
            while await self._once():
                pass
        except OSError:
            self.stop()  # the client is gone
        except PartsMissing:
            _log.warning("live parts are missing", chat_id=str(self.feed.chat_id))
            await self._say_goodbye(RESUME)
        except ChatdError:
            await self._say_goodbye(NOT_YOURS)
        except Exception as error:  # noqa: BLE001 - one client's stream is not the server's end
            _log.error("a stream failed", chat_id=str(self.feed.chat_id), exc_info=error)
            await self._say_goodbye(RESUME)
        finally:
            self._writer = None

    async def _once(self) -> bool:
        """Send what is ready; whether to look again."""
        self._is_due = False
        if self._check_due:
            self._check_due = False
            if not await self._may_stay():
                self._closing = NOT_YOURS
        if self._closing is not None:
            await self._say_goodbye(self._closing)
            return False
        events = await self._gather()
        if events:
            self._beat_due = False
            self.sending_since = self._clock.monotonic()
            await self._sink.send(events)
            self.sending_since = None
            if self._is_due or len(events) >= MOST_EVENTS or self._is_behind():
                return True  # what was not gathered yet; a look for nothing would cost as much as a chunk does
        if not self._is_shown:
            self._is_shown = True
            await self._cursor.mark(self.state.through)
        if self._beat_due:
            self._beat_due = False
            self.sending_since = self._clock.monotonic()
            await self._sink.beat()
            self.sending_since = None
        if self._is_due:
            return True
        if self._episode is None or self._episode.is_closed:
            return False  # nothing will come for a while: no task waits for it
        self._pause = asyncio.get_running_loop().create_future()
        try:
            await self._pause
        finally:
            self._pause = None
        return True

    async def _say_goodbye(self, reason: str) -> None:
        self.sending_since = self._clock.monotonic()
        with suppress(OSError):
            await self._sink.close(reason)
        self.sending_since = None
        self.stop()

    # What is ready

    async def _gather(self) -> list[Event]:
        """Without waiting for the database while there is something to send."""
        events = self._parts(MOST_EVENTS)
        feed = self.feed
        while len(events) < MOST_EVENTS and self._is_behind():
            newest = feed.newest
            page = self._reader.at_hand(self.state, newest, feed.hint)
            if page is None or not feed.is_settled(_key(page)):
                if events:
                    break
                if page is None:
                    self.state, page = await self._read()
                    self._read_for = newest
                await feed.settled(_key(page))
                events = self._parts(None)  # what came meanwhile, before it is told that its attempt is over
            page = self._catch_up(page, events)
            self.state, more = reduce(feed.chat_id, self.state, page)
            self._has_looked = True
            self._follow_episode()
            events += more
            events += self._parts(MOST_EVENTS - len(events))
        return events + self._live()

    def _catch_up(self, page: Page, events: list[Event]) -> Page:
        """Attempts that came and went between two looks are told of one by one, each as the snapshot it began with:
        all clients get the same parts. What is left of the page."""
        held = self.state.preview
        if held is None or self.state.place is not Place.PREVIEW or page.is_reset or not page.is_last:
            return page
        for episode in self.feed.between((held.history, held.attempt), _key(page)):
            history, attempt = episode.key
            facts = Facts(
                snapshot=max(self.state.snapshot, history),
                history=history,
                # The newest one is early here. Who resumes here is taken to know the queue of this snapshot.
                queue=self.state.queue if page.queue is None else page.facts.queue,
                retry_version=self.state.retry,
                attempt=attempt,
                status=Status.RUNNING,
            )
            begun = [row for row in page.rows if row.revision <= history]
            step = Page(facts=facts, rows=begun, after=page.after, queue=page.queue)
            self.state, told = reduce(self.feed.chat_id, self.state, step)
            events += told
            events += self._parts(None)
            page = msgspec.structs.replace(page, after=None)
        return page

    def _is_behind(self) -> bool:
        """The first look is due whatever was heard. What was read once for a snapshot is not read again for it: a
        poll tells if there is more."""
        if not self._has_looked or self.state.place is not Place.PREVIEW:
            return True
        return self.feed.newest > self._read_for and is_behind(self.state, self.feed.newest)

    async def _read(self) -> tuple[StreamState, Page]:
        seconds = FIRST_RETRY_SECONDS
        for _ in range(MOST_TRIES - 1):
            try:
                return await self._reader.read(self.state, self.feed.runs_at)
            except AWAY as error:
                _log.warning("a chat can't be read", chat_id=str(self.feed.chat_id), error=str(error))
            await self._clock.sleep(seconds, timer="stream-retry")
            seconds = min(2 * seconds, LAST_RETRY_SECONDS)
        return await self._reader.read(self.state, self.feed.runs_at)

    def _follow_episode(self) -> None:
        """The one that the client's preview is of, also when it is over: to its end."""
        held, episode = self.state.preview, self._episode
        wanted = held and (held.history, held.attempt)
        if episode is not None and wanted != episode.key:
            episode = self._episode = None
        if wanted is None or (episode is not None and not episode.is_closed):
            return
        # A mirror that was given up is closed as well, and then opened anew.
        if (found := self.feed.episode(wanted)) is not None and found is not episode:
            self._episode, self._live_place = found, 0

    def _parts(self, most: int | None) -> list[Event]:
        self._follow_episode()
        episode, held = self._episode, self.state.preview
        if episode is None or held is None or episode.last <= held.seq or (most is not None and most <= 0):
            return []
        given = Parts(episode.history_version, episode.attempt, episode.events_after(held.seq, most))
        self.state, events = reduce(self.feed.chat_id, self.state, given)
        return list(events)

    def _live(self) -> list[Event]:
        """What running tools say, now and then: each word replaces the last one of its call."""
        episode = self._episode
        if episode is None or episode.live is None or self.state.place is not Place.PREVIEW:
            return []
        if not (said := episode.live.after(self._live_place)):
            return []
        now = self._clock.monotonic()
        if self._live_at is not None and (early := self._live_at + LIVE_SECONDS - now) > 0:
            self._stop_live_timer()
            self._stop_live_timer = self._clock.after(early, self.wake, timer="stream-live")
            return []
        self._live_at, self._live_place = now, said[-1].place
        return [live_event(episode, word.tool_call_id, word.text) for word in said]


def _key(page: Page) -> tuple[int, int]:
    """The attempt that a page tells of."""
    return page.facts.history, page.facts.attempt


def live_event(episode: Episode, tool_call_id: str, text: str) -> Event:
    """Without number and id: whoever misses one sees the next, and the result in the end."""
    part = {
        "type": "tool-result",
        "tool_call_id": valid_text(tool_call_id),
        "result_delta": valid_text(text),
        "result_reset": True,
    }
    place = {"history_version": episode.history_version, "generation_attempt": episode.attempt}
    event = {
        "type": "message_part",
        "chat_id": str(episode.chat_id),
        "message_part": {**place, "role": "tool", "part": part},
    }
    return Event(None, _ENCODER.encode(event))
