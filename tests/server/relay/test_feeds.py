"""Which replica the feed of a chat follows, by what it is told and when."""

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

import pytest

from chatd.core.states import Status
from chatd.engine.episodes import Episode, Episodes
from chatd.engine.recent_messages import RecentMessages
from chatd.server.stream.feed import KEEP_SECONDS, MOST_KEPT, ChatFeed, Feeds, FeedSources
from chatd.store.chat_hints import ChatHint
from chatd.testing.fake_clock import FakeClock

CHAT, OWN, ONE, OTHER = UUID(int=1), UUID(int=2), UUID(int=3), UUID(int=4)


class Remote:
    def __init__(self) -> None:
        self.is_over = False
        self.settled_at = (0, 0)

    def is_settled(self, before: tuple[int, int]) -> bool:
        return before <= self.settled_at


class Relay:
    """Notes what is followed."""

    own_id = OWN

    def __init__(self) -> None:
        self.calls: list[tuple[str, UUID, tuple[int, int]]] = []
        self.remotes: list[Remote] = []

    def follow(self, chat_id: UUID, replica_id: UUID, begin: tuple[int, int], told: Any) -> tuple[Remote, Any]:
        assert chat_id == CHAT
        self.calls.append(("follow", replica_id, begin))
        remote = Remote()
        self.remotes.append(remote)
        return remote, lambda: self.calls.append(("leave", replica_id, begin))


class Watch:
    def watch(self, chat_id: UUID, known: int, listener: Callable[[ChatHint], None]) -> "Watch":
        self.hear = listener
        return self

    def knows(self, snapshot: int) -> None: ...
    def close(self) -> None: ...


class Reader:
    woken = 0

    def wake(self) -> None:
        self.woken += 1


def hint(snapshot: int, replica: UUID | None, *, attempt: int = 1) -> ChatHint:
    return ChatHint(CHAT, snapshot, snapshot, 0, 0, attempt, Status.RUNNING, False, replica)


class Scene:
    def __init__(self) -> None:
        self.relay, self.watch, self.episodes, self.clock = Relay(), Watch(), Episodes(), FakeClock()
        sources = FeedSources(
            self.episodes, RecentMessages(), cast("Any", self.watch), cast("Any", self.relay), self.clock
        )
        self.feeds, self.reader = Feeds(sources), Reader()

    def join(self) -> ChatFeed:
        return self.feeds.join(CHAT, self.reader)


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_the_replica_that_runs_a_chat_is_followed_once(scene: Scene):
    scene.join()
    scene.watch.hear(hint(4, ONE))
    scene.watch.hear(hint(5, ONE))
    scene.watch.hear(hint(6, None))

    assert scene.relay.calls == [("follow", ONE, (4, 1))], "one that lets go of it may get it again"


async def test_another_owner_is_followed_instead(scene: Scene):
    scene.join()
    scene.watch.hear(hint(4, ONE))
    scene.watch.hear(hint(5, OTHER, attempt=2))

    assert scene.relay.calls == [("follow", ONE, (4, 1)), ("leave", ONE, (4, 1)), ("follow", OTHER, (5, 2))]


async def test_what_was_read_before_a_newer_hint_does_not_lead_back(scene: Scene):
    feed = scene.join()
    scene.watch.hear(hint(5, OTHER))
    feed.runs_at(hint(4, ONE))

    assert [call[1] for call in scene.relay.calls] == [OTHER]


async def test_a_chat_that_runs_here_is_not_asked_for_elsewhere(scene: Scene):
    feed = scene.join()
    scene.watch.hear(hint(4, ONE))
    here = scene.episodes.open(CHAT, 4, 2)
    scene.watch.hear(hint(5, OWN))

    assert [call[0] for call in scene.relay.calls] == ["follow", "leave"]
    assert feed.episode((4, 2)) is here
    assert feed.is_settled((9, 9))


async def test_a_replica_that_was_given_up_is_asked_again_when_it_is_heard_of(scene: Scene):
    scene.join()
    scene.watch.hear(hint(4, ONE))
    scene.relay.remotes[0].is_over = True
    scene.watch.hear(hint(5, ONE))

    assert [call[:2] for call in scene.relay.calls] == [("follow", ONE), ("leave", ONE), ("follow", ONE)]


async def test_a_mirror_that_is_opened_anew_outlasts_the_one_before_it(scene: Scene):
    feed = scene.join()
    first, second = (Episode(CHAT, 4, 1, is_mirror=True) for _ in range(2))
    feed.opened(first)
    first.close()
    feed.opened(second)
    await scene.clock.advance(KEEP_SECONDS)

    assert feed.episode((4, 1)) is second


async def test_episodes_that_are_over_are_kept_for_a_moment_and_are_few(scene: Scene):
    feed = scene.join()
    for history in range(1, MOST_KEPT + 4):
        scene.episodes.open(CHAT, history, 1)
    kept = [episode.key for episode in feed.between((0, 0), (99, 0))]

    assert kept == [(history, 1) for history in range(3, MOST_KEPT + 4)], "and the one under way"
    assert [episode.key for episode in feed.between((3, 1), (6, 1))] == [(4, 1), (5, 1)]
    await scene.clock.advance(KEEP_SECONDS)
    assert [episode.key for episode in feed.between((0, 0), (99, 0))] == [(MOST_KEPT + 3, 1)]


async def test_nobody_is_followed_for_who_has_left(scene: Scene):
    feed = scene.join()
    scene.watch.hear(hint(4, ONE))
    mirror = Episode(CHAT, 4, 1, is_mirror=True)
    feed.opened(mirror)
    scene.feeds.leave(CHAT, scene.reader)
    woken = scene.reader.woken
    mirror.announce()
    mirror.close()

    assert scene.relay.calls[-1][0] == "leave"
    assert scene.reader.woken == woken
