"""What the streams of one chat share: one watch, one ear for this replica's own commits, the live parts."""

from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from chatd.engine.episodes import Episode, Episodes
from chatd.engine.recent_messages import RecentMessages
from chatd.store.chat_hints import ChatHint
from chatd.store.chat_watch import ChatWatch


class Follower(Protocol):
    def wake(self) -> None:
        """There is something new. Returns at once and does not raise."""
        ...


class ChatFeed:
    """Of one chat, while it has followers."""

    def __init__(self, chat_id: UUID, episodes: Episodes, recent: RecentMessages, watch: ChatWatch) -> None:
        self.chat_id = chat_id
        self.newest = 0  # the newest snapshot that was heard of
        self.hint: ChatHint | None = None  # the newest that came from elsewhere
        self.episode: Episode | None = None  # the one under way here
        self.followers: dict[Follower, None] = {}
        self._deaf: Callable[[], None] | None = None  # ends listening to that episode
        self._stop_recent = recent.listen(chat_id, self._committed)
        self._watching = watch.watch(chat_id, 0, self._hear)
        current = episodes.current(chat_id)
        if current is not None and not current.is_closed:
            self.opened(current)

    def opened(self, episode: Episode) -> None:
        self._leave_episode()
        self.episode = episode
        self._deaf = episode.listen(self._more)
        self._wake()

    def close(self) -> None:
        self._leave_episode()
        self._stop_recent()
        self._watching.close()

    def _leave_episode(self) -> None:
        if self._deaf is not None:
            self._deaf()
        self.episode, self._deaf = None, None

    def _more(self) -> None:
        is_over = self.episode is not None and self.episode.is_closed
        if is_over:
            self._leave_episode()  # those who read it keep it until they have read it
        self._wake()

    def _committed(self, snapshot: int) -> None:
        self.newest = max(self.newest, snapshot)
        self._watching.knows(snapshot)
        self._wake()

    def _hear(self, hint: ChatHint) -> None:
        self.newest = max(self.newest, hint.snapshot_version)
        self.hint = hint
        self._wake()

    def _wake(self) -> None:
        for follower in tuple(self.followers):
            follower.wake()


class Feeds:
    """Those of a replica."""

    def __init__(self, episodes: Episodes, recent: RecentMessages, watch: ChatWatch) -> None:
        self._episodes = episodes
        self._recent = recent
        self._watch = watch
        self._feeds: dict[UUID, ChatFeed] = {}
        episodes.on_open(self._opened)

    def join(self, chat_id: UUID, follower: Follower) -> ChatFeed:
        """Follow a chat: whatever happens from now on wakes the follower, until it leaves."""
        feed = self._feeds.get(chat_id)
        if feed is None:
            feed = self._feeds[chat_id] = ChatFeed(chat_id, self._episodes, self._recent, self._watch)
        feed.followers[follower] = None
        return feed

    def leave(self, chat_id: UUID, follower: Follower) -> None:
        feed = self._feeds[chat_id]
        del feed.followers[follower]
        if not feed.followers:
            del self._feeds[chat_id]
            feed.close()

    def _opened(self, episode: Episode) -> None:
        if feed := self._feeds.get(episode.chat_id):
            feed.opened(episode)
