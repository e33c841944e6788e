"""The live parts of one attempt: encoded once, kept while the attempt lasts, read by whoever follows the chat."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.preview import Preview
from chatd.core.preview_run import PreviewRun, runs_of
from chatd.core.roles import Role
from chatd.core.shown_parts import shown_part
from chatd.core.stream import PartEvent
from chatd.engine.drop_warnings import Dropped, DropWarnings
from chatd.engine.tools.live_output import LiveOutput
from chatd.observe.logs import get_logger

# Of one attempt: more than any model can say. Who joins a longer one sees its beginning and then the stored message.
MOST_BYTES: Final = 16 * 1024 * 1024
# So many of the newest parts are kept as they were sent, for who follows; older ones are joined. A part of one word is
# 200 bytes around five.
RECENT: Final = 512
_log = get_logger("chatd.episodes")
_ENCODER: Final = msgspec.json.Encoder()
_ROLES: Final = {role: role.value.encode() for role in Role}

Listener = Callable[[], None]


class Episode:
    """Numbered from 1 without gaps. Each part is the JSON of a `message_part` event: the same bytes for all readers.

    An event may stand for several parts, joined: it has the number of the last of them. A mirror is the copy of one
    that another replica has: nobody makes checkpoints of it.
    """

    def __init__(
        self,
        chat_id: UUID,
        history_version: int,
        attempt: int,
        *,
        drops: DropWarnings | None = None,
        is_mirror: bool = False,
    ) -> None:
        self.chat_id = chat_id
        self.history_version = history_version
        self.attempt = attempt
        self.is_closed = False
        self.dropped = 0  # parts that found no room: all from the first one on, so that nothing is missing in between
        self.fresh: list[Preview] = []  # since the last checkpoint
        self.live: LiveOutput | None = None  # what running tools say meanwhile: replaced in place, not numbered
        self._older: list[PreviewRun] = []
        self._joined = 0  # how many parts are in them
        self._recent: list[PartEvent] = []
        self._previews: list[Preview] = []  # of the recent ones
        self._size = 0
        self._drops = drops
        self._is_mirror = is_mirror
        self._listeners: list[Listener] = []
        self._prefix = f"{history_version}.{attempt}."
        self._head = (
            b'","type":"message_part","chat_id":"%b","message_part":'
            b'{"history_version":%d,"generation_attempt":%d,"seq":' % (str(chat_id).encode(), history_version, attempt)
        )

    @property
    def last(self) -> int:
        """The number of the newest part; 0 when there is none."""
        return self._joined + len(self._recent)

    @property
    def key(self) -> tuple[int, int]:
        """Later attempts of a chat have greater ones."""
        return self.history_version, self.attempt

    @property
    def size(self) -> int:
        """In bytes, about."""
        return self._size

    def after(self, number: int) -> list[bytes]:
        """The JSON of all later parts."""
        return [event.data for event in self.events_after(number)]

    def events_after(self, number: int, most: int | None = None) -> list[PartEvent]:
        """The events of all later parts, or of the first `most` of those that are left."""
        if number >= self._joined:
            begin = number - self._joined
            return self._recent[begin:] if most is None else self._recent[begin : begin + most]
        older: list[PartEvent] = []
        for run in self._older:
            if run.last > number:
                older.append(self._event(max(run.first, number + 1), run.last, run.after(number)))
                if len(older) == most:
                    return older
        return older + (self._recent if most is None else self._recent[: most - len(older)])

    def previews_after(self, number: int, most: int) -> list[Preview]:
        """The first `most` of all later parts, one by one: for a mirror, which numbers them as they are here."""
        if number >= self._joined:
            begin = number - self._joined
            return self._previews[begin : begin + most]
        older: list[Preview] = []
        for run in self._older:
            for place in range(max(run.first, number + 1), run.last + 1):
                older.append(run.piece(place))
                if len(older) == most:
                    return older
        return older + self._previews[: most - len(older)]

    def add(self, preview: Preview) -> None:
        if self.is_closed:
            return
        number = self.last + 1
        event = self._event(number, number, preview)
        if self.dropped or self._size + len(event.data) > MOST_BYTES:
            self.dropped += 1
            if self._drops is not None:
                self._drops.note(self.chat_id, Dropped.PART)
            return
        self._size += len(event.data)
        self._recent.append(event)
        self._previews.append(preview)
        if not self._is_mirror:
            self.fresh.append(preview)
        if len(self._recent) >= 2 * RECENT:
            self._join()

    def announce(self) -> None:
        """Tell readers that there is more: once for all that came together."""
        for listener in tuple(self._listeners):
            try:
                listener()
            except Exception as error:  # noqa: BLE001 - a reader's trouble is not the turn's
                _log.error("a reader failed", chat_id=str(self.chat_id), exc_info=error)

    def _event(self, first: int, last: int, preview: Preview) -> PartEvent:
        id = f"{self._prefix}{last}"
        part = _ENCODER.encode(shown_part(preview.part))
        data = b'{"id":"%b%b%d,"role":"%b","part":%b}}' % (id.encode(), self._head, last, _ROLES[preview.role], part)
        return PartEvent(id, data, first, last)

    def _join(self) -> None:
        """Half of the recent parts are old by now."""
        runs = runs_of(self._previews[:RECENT], self._joined + 1)
        for run in runs:
            sent = self._recent[run.first - self._joined - 1 : run.last - self._joined]
            if len(sent) > 1:
                self._size += run.size + len(self._head) - sum(len(event.data) for event in sent)
        self._older += runs
        self._joined += RECENT
        del self._recent[:RECENT], self._previews[:RECENT]

    def close(self) -> None:
        self.is_closed = True
        self.announce()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """`listener` is called in the event loop and returns at once. Gives what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


class Episodes:
    """The current one of each chat that runs here. `on_open` is told of every new one."""

    def __init__(self, drops: DropWarnings | None = None) -> None:
        self._drops = drops
        self._current: dict[UUID, Episode] = {}
        self._on_open: list[Callable[[Episode], None]] = []

    def open(self, chat_id: UUID, history_version: int, attempt: int) -> Episode:
        """The one of this attempt, new unless it is the current one. The one before it is closed."""
        before = self._current.get(chat_id)
        if before is not None:
            if before.key == (history_version, attempt) and not before.is_closed:
                return before
            before.close()
        self._forget_drops(chat_id)
        episode = self._current[chat_id] = Episode(chat_id, history_version, attempt, drops=self._drops)
        for told in self._on_open:
            told(episode)
        return episode

    def current(self, chat_id: UUID) -> Episode | None:
        return self._current.get(chat_id)

    def open_episodes(self) -> list[Episode]:
        return [episode for episode in self._current.values() if not episode.is_closed]

    def end(self, chat_id: UUID) -> None:
        """The chat is no longer run here."""
        episode = self._current.pop(chat_id, None)
        if episode is not None:
            episode.close()
            self._forget_drops(chat_id)

    def on_open(self, told: Callable[[Episode], None]) -> None:
        self._on_open.append(told)

    def _forget_drops(self, chat_id: UUID) -> None:
        if self._drops is not None:
            self._drops.forget(chat_id)
