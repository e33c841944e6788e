"""One client's feed of its user's chats: what has changed is noted, read once, and sent.

Nothing is queued but names: a chat that changes ten times while the client is slow is read and sent once.
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
from chatd.core.sidebar import Seen, WatchKind, changes
from chatd.core.stream import Event
from chatd.engine.commits import AWAY
from chatd.observe.logs import get_logger
from chatd.server.stream.framing import Sink
from chatd.stoppable import Stoppable, Stopped
from chatd.store.chat_hints import ChatHint
from chatd.store.owner_hints import OwnerEvent
from chatd.wire.chats import Chat

MOST_PENDING: Final = 1000  # chats of one user that change while its client reads nothing; then it reads the list again
MOST_SEEN: Final = 5000  # chats whose last state is remembered; a forgotten one is told of once more than needed
READ_AGAIN: Final = "Changes may be missing. Read the list again, and connect anew."
NOT_YOURS: Final = "The session has ended. Sign in again."
_ENCODER: Final = msgspec.json.Encoder()
_log = get_logger("chatd.watch")

ReadChat = Callable[[UUID], Awaitable[Chat | None]]


class WatchEvent(msgspec.Struct, frozen=True):
    kind: WatchKind
    chat: Chat


class WatchLoop:
    """`run` once, as who is acting. A `Watcher` of its user's feed, and kept like a stream."""

    def __init__(
        self, owner_id: UUID, read: ReadChat, sink: Sink, clock: Clock, may_stay: Callable[[], Awaitable[bool]]
    ) -> None:
        self.subject = owner_id
        self.sending_since: float | None = None
        self._read = read
        self._sink = sink
        self._clock = clock
        self._may_stay = may_stay
        self._context = contextvars.copy_context()  # who acts, whoever wakes us
        self._block = Stoppable()
        self._tasks: asyncio.TaskGroup | None = None
        self._writer: asyncio.Task[None] | None = None
        self._seen: dict[UUID, Seen] = {}
        self._pending: dict[UUID, dict[WatchKind, None]] = {}
        self._beat_due = False
        self._check_due = False
        self._closing: str | None = None

    async def run(self) -> None:
        """Until the client leaves, does not keep up, or the feed is ended."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            self._wake()
            with suppress(Stopped):
                async with self._block:
                    await self._sink.gone()
            self._tasks = None
            if self._writer is not None:
                self._writer.cancel()

    # A watcher

    def chat_changed(self, hint: ChatHint) -> None:
        now = Seen(hint.snapshot_version, hint.status, hint.archived)
        last = self._seen.pop(hint.chat_id, None)
        kinds = changes(last, now)
        newest = last if last is not None and last.snapshot_version > now.snapshot_version else now
        self._seen[hint.chat_id] = newest  # the last one told of is the last to be forgotten
        if len(self._seen) > MOST_SEEN:
            del self._seen[next(iter(self._seen))]
        self._note(hint.chat_id, *kinds)

    def told(self, event: OwnerEvent) -> None:
        self._note(event.chat_id, WatchKind(event.kind.value))

    def missed(self) -> None:
        self.end(READ_AGAIN)

    # Kept like a stream

    def beat(self) -> None:
        self._beat_due = True
        self._wake()

    def recheck(self) -> None:
        self._check_due = True
        self._wake()

    def end(self, reason: str) -> None:
        self._closing = reason
        self._wake()

    def stop(self) -> None:
        if self._tasks is not None:
            self._block.stop()

    def _note(self, chat_id: UUID, *kinds: WatchKind) -> None:
        if not kinds:
            return
        if chat_id not in self._pending and len(self._pending) >= MOST_PENDING:
            self.missed()
            return
        self._pending.setdefault(chat_id, {}).update(dict.fromkeys(kinds))
        self._wake()

    def _wake(self) -> None:
        if self._writer is None and self._tasks is not None:
            self._writer = self._tasks.create_task(self._write(), name="watch", context=self._context)

    async def _write(self) -> None:
        try:
            while await self._once():
                pass
        except OSError:
            self.stop()  # the client is gone
        except ChatdError:
            await self._say_goodbye(NOT_YOURS)
        except Exception as error:  # noqa: BLE001 - one client's feed is not the server's end
            _log.error("a feed failed", user_id=str(self.subject), exc_info=error)
            await self._say_goodbye(READ_AGAIN)
        finally:
            self._writer = None

    async def _once(self) -> bool:
        """Send what there is; whether there may be more."""
        if self._check_due:
            self._check_due = False
            if not await self._may_stay():
                self._closing = NOT_YOURS
        if self._closing is not None:
            await self._say_goodbye(self._closing)
            return False
        if self._pending:
            chat_id = next(iter(self._pending))
            kinds = self._pending.pop(chat_id)
            await self._tell(chat_id, list(kinds))
            return True
        if self._beat_due:
            self._beat_due = False
            await self._sending(self._sink.beat())
            return True
        return False

    async def _tell(self, chat_id: UUID, kinds: list[WatchKind]) -> None:
        try:
            chat = await self._read(chat_id)
        except AWAY as error:
            _log.warning("a chat can't be read for its list", chat_id=str(chat_id), error=str(error))
            self._closing = READ_AGAIN
            return
        if chat is not None:
            events = [Event(None, _ENCODER.encode(WatchEvent(kind, chat))) for kind in kinds]
            await self._sending(self._sink.send(events))

    async def _say_goodbye(self, reason: str) -> None:
        with suppress(OSError):
            await self._sending(self._sink.close(reason))
        self.stop()

    async def _sending(self, sent: Awaitable[None]) -> None:
        self.sending_since = self._clock.monotonic()
        await sent
        self.sending_since = None
