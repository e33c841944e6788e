"""What one replica gets of one chat that runs here: where it is, and what it gets next.

Nothing is queued: like a client's stream, it reads from the episodes that all readers share, at its own pace.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from chatd.clock import Clock
from chatd.core.parts import ToolCallPart, ToolResultPart
from chatd.core.preview import Preview, text_of
from chatd.core.stored_previews import encode_previews
from chatd.engine.episodes import Episode
from chatd.observe.tallies import Tally
from chatd.server.relay.frames import Closed, Follow, Following, Live, Opened, Parts, Told

MOST_PARTS: Final = 64  # at a time: then it is the turn of the next chat
MOST_CHARACTERS: Final = 64 * 1024  # of those, a single part aside
MOST_EPISODES: Final = 8  # that a replica may be behind in a chat; what is older has long been stored as messages
LIVE_SECONDS: Final = 0.1  # between two words of running tools: faster than anyone reads


class OutgoingChat:
    """`mark` is called when there is something to take."""

    def __init__(
        self, asked: Follow, episodes: Iterable[Episode], mark: Callable[[], None], clock: Clock, count: Tally
    ) -> None:
        self._number = asked.number
        self._mark = mark
        self._clock = clock
        self._count = count
        self._line: deque[Episode] = deque()
        self._deaf: dict[Episode, Callable[[], None]] = {}
        self._news: list[Told] = []
        for episode in episodes:
            self._join(episode)
        self._sent = asked.seq if self._line and self._line[0].key == asked.key else 0
        self._live_place = 0
        self._live_at: float | None = None
        self._stop_timer: Callable[[], None] = lambda: None
        self._news.append(Following(self._number, tuple(episode.key for episode in self._line)))
        mark()

    def opened(self, episode: Episode) -> None:
        """A new one, here."""
        self._join(episode)
        self._news.append(Opened(self._number, episode.key))
        if len(self._line) > MOST_EPISODES:
            self._end_first()
        self._mark()

    def take(self) -> tuple[list[Told], bool]:
        """The next messages, a bounded amount, and whether there are more at once."""
        told, self._news = self._news, []
        while self._line:
            episode = self._line[0]
            if previews := _fitting(episode.previews_after(self._sent, MOST_PARTS)):
                told.append(Parts(self._number, episode.key, self._sent + 1, encode_previews(previews)))
                self._sent += len(previews)
                self._count.value += len(previews)
            if self._sent < episode.last:
                return told, True
            if not episode.is_closed:
                told += self._live(episode)
                break
            self._end_first()
            told += self._news
            self._news = []
        return told, False

    def leave(self) -> None:
        self._stop_timer()
        for deaf in self._deaf.values():
            deaf()
        self._deaf.clear()
        self._line.clear()

    def _join(self, episode: Episode) -> None:
        self._line.append(episode)
        if not episode.is_closed:
            self._deaf[episode] = episode.listen(self._mark)

    def _end_first(self) -> None:
        episode = self._line.popleft()
        if deaf := self._deaf.pop(episode, None):
            deaf()
        self._news.append(Closed(self._number, episode.key))
        self._sent = self._live_place = 0

    def _live(self, episode: Episode) -> list[Live]:
        said = episode.live.after(self._live_place) if episode.live is not None else []
        if not said:
            return []
        now = self._clock.monotonic()
        if self._live_at is not None and (early := self._live_at + LIVE_SECONDS - now) > 0:
            self._stop_timer()
            self._stop_timer = self._clock.after(early, self._mark, timer="relay-live")
            return []
        self._live_at, self._live_place = now, said[-1].place
        return [Live(self._number, episode.key, tuple((word.tool_call_id, word.text) for word in said))]


def _fitting(previews: list[Preview]) -> list[Preview]:
    """The first of them, at least one, which together are not too long."""
    size = 0
    for count, preview in enumerate(previews):
        size += _length(preview)
        if count and size > MOST_CHARACTERS:
            return previews[:count]
    return previews


def _length(preview: Preview) -> int:
    match preview.part:
        case ToolCallPart(args=text) | ToolResultPart(result=text):
            return len(text)
        case _:
            return len(text_of(preview))
