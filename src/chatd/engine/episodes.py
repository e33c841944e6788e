"""The live parts of one attempt: encoded once, kept while the attempt lasts, read by whoever follows the chat."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.preview import Preview
from chatd.core.valid_text import valid_text
from chatd.engine.tools.live_output import LiveOutput

# Of one attempt. The longest answers have about half a million characters; who joins a longer one sees its beginning
# and then the stored message.
MOST_BYTES: Final = 4 * 1024 * 1024
_ENCODER: Final = msgspec.json.Encoder()

Listener = Callable[[], None]


class Episode:
    """Numbered from 1 without gaps. Each part is the JSON of a `message_part` event: the same bytes for all readers."""

    def __init__(self, chat_id: UUID, history_version: int, attempt: int) -> None:
        self.chat_id = chat_id
        self.history_version = history_version
        self.attempt = attempt
        self.is_closed = False
        self.dropped = 0  # parts that found no room
        self.fresh: list[Preview] = []  # since the last checkpoint
        self.live: LiveOutput | None = None  # what running tools say meanwhile: replaced in place, not numbered
        self._parts: list[bytes] = []
        self._size = 0
        self._listeners: list[Listener] = []
        self._head = (
            b'{"type":"message_part","chat_id":"%b","message_part":'
            b'{"history_version":%d,"generation_attempt":%d,"seq":' % (str(chat_id).encode(), history_version, attempt)
        )

    @property
    def last(self) -> int:
        """The number of the newest part; 0 when there is none."""
        return len(self._parts)

    def after(self, number: int) -> list[bytes]:
        return self._parts[number:]

    def add(self, preview: Preview) -> None:
        if self.is_closed:
            return
        encoded = _encoded(preview)  # {"role":…,"part":…}
        event = b"%b%d,%b}" % (self._head, len(self._parts) + 1, encoded[1:])
        if self._size + len(event) > MOST_BYTES:
            self.dropped += 1
            return
        self._size += len(event)
        self._parts.append(event)
        self.fresh.append(preview)

    def announce(self) -> None:
        """Tell readers that there is more: once for all that came together."""
        for listener in self._listeners:
            listener()

    def close(self) -> None:
        self.is_closed = True
        self.announce()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """`listener` is called in the event loop and returns at once. Gives what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


class Episodes:
    """The current one of each chat that runs here. `on_open` is told of every new one."""

    def __init__(self) -> None:
        self._current: dict[UUID, Episode] = {}
        self._on_open: list[Callable[[Episode], None]] = []

    def open(self, chat_id: UUID, history_version: int, attempt: int) -> Episode:
        """The one of this attempt, new unless it is the current one. The one before it is closed."""
        before = self._current.get(chat_id)
        if before is not None:
            if (before.history_version, before.attempt) == (history_version, attempt) and not before.is_closed:
                return before
            before.close()
        episode = self._current[chat_id] = Episode(chat_id, history_version, attempt)
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

    def on_open(self, told: Callable[[Episode], None]) -> None:
        self._on_open.append(told)


def _encoded(preview: Preview) -> bytes:
    try:
        return _ENCODER.encode(preview)
    except UnicodeEncodeError:  # half a character, which no JSON can carry; what is stored keeps it
        texts = {
            name: valid_text(value)
            for name in preview.part.__struct_fields__
            if isinstance(value := getattr(preview.part, name), str)
        }
        return _ENCODER.encode(Preview(preview.role, msgspec.structs.replace(preview.part, **texts)))
