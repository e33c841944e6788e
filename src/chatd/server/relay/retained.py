"""The episodes of this replica that other replicas may still ask for: those under way, and what ended a moment ago.

A short answer is over before another replica has heard that it began.
"""

from collections import deque
from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.engine.episodes import Episode, Episodes

RETAIN_SECONDS: Final = 5.0  # a hint takes milliseconds, and a lost one is noticed after two seconds
MOST_BYTES: Final = 32 * 1024 * 1024  # of all that have ended: what two episodes can be at most


class RetainedEpisodes:
    """Call `sweep` now and then: nothing else lets time pass."""

    def __init__(self, episodes: Episodes, clock: Clock) -> None:
        self._clock = clock
        self._episodes = episodes
        self._ended: deque[tuple[float, Episode]] = deque()
        self._of_chat: dict[UUID, list[Episode]] = {}  # the same, by chat
        self._size = 0
        episodes.on_open(self._opened)

    def from_key(self, chat_id: UUID, key: tuple[int, int]) -> list[Episode]:
        """Those of a chat from this one on, oldest first."""
        known = list(self._of_chat.get(chat_id, ()))
        current = self._episodes.current(chat_id)
        if current is not None and current not in known:
            known.append(current)
        return [episode for episode in known if episode.key >= key]

    def sweep(self) -> None:
        latest = self._clock.monotonic() - RETAIN_SECONDS
        while self._ended and (self._ended[0][0] <= latest or self._size > MOST_BYTES):
            _, episode = self._ended.popleft()
            self._size -= episode.size
            of_chat = self._of_chat[episode.chat_id]
            of_chat.remove(episode)
            if not of_chat:
                del self._of_chat[episode.chat_id]

    def _opened(self, episode: Episode) -> None:
        def heard() -> None:
            if episode.is_closed:
                deaf()
                self._ended.append((self._clock.monotonic(), episode))
                self._of_chat.setdefault(episode.chat_id, []).append(episode)
                self._size += episode.size
                self.sweep()

        deaf = episode.listen(heard)
