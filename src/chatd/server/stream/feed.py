"""What the streams of one chat share: one watch, one ear for this replica's own commits, the live parts."""

from collections.abc import Callable
from typing import Final, Protocol
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.engine.episodes import Episode, Episodes
from chatd.engine.recent_messages import RecentMessages
from chatd.server.relay.relay import Relay
from chatd.server.relay.remote_chat import Key, RemoteChat
from chatd.store.chat_hints import ChatHint
from chatd.store.chat_watch import ChatWatch

KEEP_SECONDS: Final = 10.0  # an episode that is over, for readers who are that far behind; later they are cut
MOST_KEPT: Final = 8  # of those that are over: a turn whose steps are that quick says little in each


class Follower(Protocol):
    def wake(self) -> None:
        """There is something new. Returns at once and does not raise."""
        ...


class RunsAt(Protocol):
    """Where a chat is run, as its row and its hints say."""

    @property
    def replica_id(self) -> UUID | None: ...
    @property
    def snapshot_version(self) -> int: ...
    @property
    def history_version(self) -> int: ...
    @property
    def generation_attempt(self) -> int: ...


class FeedSources(msgspec.Struct, frozen=True):
    """Where all feeds of a replica have what they tell from."""

    episodes: Episodes
    recent: RecentMessages
    watch: ChatWatch
    relay: Relay
    clock: Clock


class ChatFeed:
    """Of one chat, while it has followers."""

    def __init__(self, chat_id: UUID, sources: FeedSources) -> None:
        self.chat_id = chat_id
        self.newest = 0  # the newest snapshot that was heard of
        self.hint: ChatHint | None = None  # the newest that came from elsewhere
        self.followers: dict[Follower, None] = {}
        self._sources = sources
        self._episodes: dict[Key, Episode] = {}  # under way or over for a moment, here or mirrored, oldest first
        self._ends: dict[Episode, Callable[[], None]] = {}  # what ends listening to each, or keeping it
        self._remote: RemoteChat | None = None
        self._followed: UUID | None = None  # the replica whose it is
        self._placed = 0  # the snapshot that says so
        self._leave_remote: Callable[[], None] = lambda: None
        self._stop_recent = sources.recent.listen(chat_id, self._committed)
        self._watching = sources.watch.watch(chat_id, 0, self._hear)
        current = sources.episodes.current(chat_id)
        if current is not None and not current.is_closed:
            self.opened_here(current)

    def episode(self, key: Key) -> Episode | None:
        return self._episodes.get(key)

    def between(self, after: Key, before: Key) -> list[Episode]:
        """The attempts that came after one and before another, oldest first, as far as they are known."""
        return [episode for key, episode in self._episodes.items() if after < key < before]

    def is_settled(self, before: Key) -> bool:
        """Whether all live parts of earlier attempts are here."""
        return self._remote is None or self._remote.is_settled(before)

    async def settled(self, before: Key) -> None:
        """Until they are, or for a moment."""
        if self._remote is not None:
            await self._remote.settled(before)

    def opened_here(self, episode: Episode) -> None:
        """This replica runs the chat."""
        self._follow(self._sources.relay.own_id, self.newest)
        self.opened(episode)

    def opened(self, episode: Episode) -> None:
        for ended in [known for known in self._episodes.values() if known.key >= episode.key]:
            self._forget(ended)  # the same attempt from elsewhere
        self._episodes[episode.key] = episode
        self._ends[episode] = episode.listen(lambda: self._more(episode))
        self._wake()

    def runs_at(self, place: RunsAt) -> None:
        """Follow the replica that runs the chat. One that has let go of it may get it again, and is not left."""
        replica_id, relay = place.replica_id, self._sources.relay
        is_given_up = self._remote is not None and self._remote.is_over
        if replica_id is None or place.snapshot_version < self._placed:
            return  # a read may be older than a hint that came meanwhile
        if replica_id == self._followed and not is_given_up:
            return
        self._follow(replica_id, place.snapshot_version)
        if replica_id != relay.own_id:
            begin = (place.history_version, place.generation_attempt)
            self._remote, self._leave_remote = relay.follow(self.chat_id, replica_id, begin, self.opened)

    def _follow(self, replica_id: UUID, snapshot: int) -> None:
        self._leave_remote()
        self._remote, self._leave_remote = None, lambda: None
        self._followed, self._placed = replica_id, snapshot

    def close(self) -> None:
        self._leave_remote()
        for episode in tuple(self._episodes.values()):
            self._forget(episode)
        self._stop_recent()
        self._watching.close()

    def _forget(self, episode: Episode) -> None:
        self._ends.pop(episode)()
        del self._episodes[episode.key]

    def _more(self, episode: Episode) -> None:
        if episode.is_closed:
            over = [known for known in self._episodes.values() if known.is_closed]
            if len(over) > MOST_KEPT:
                self._forget(over[0])
            self._ends.pop(episode)()
            self._ends[episode] = self._sources.clock.after(
                KEEP_SECONDS, lambda: self._forget(episode), timer="feed-episode"
            )
        self._wake()

    def _committed(self, snapshot: int) -> None:
        self.newest = max(self.newest, snapshot)
        self._watching.knows(snapshot)
        self._wake()

    def _hear(self, hint: ChatHint) -> None:
        self.newest = max(self.newest, hint.snapshot_version)
        self.hint = hint
        self.runs_at(hint)
        self._wake()

    def _wake(self) -> None:
        for follower in tuple(self.followers):
            follower.wake()


class Feeds:
    """Those of a replica."""

    def __init__(self, sources: FeedSources) -> None:
        self._sources = sources
        self._feeds: dict[UUID, ChatFeed] = {}
        sources.episodes.on_open(self._opened)

    def join(self, chat_id: UUID, follower: Follower) -> ChatFeed:
        """Follow a chat: whatever happens from now on wakes the follower, until it leaves."""
        feed = self._feeds.get(chat_id)
        if feed is None:
            feed = self._feeds[chat_id] = ChatFeed(chat_id, self._sources)
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
            feed.opened_here(episode)
