"""What one chat gives another replica at a time, and how often."""

from uuid import UUID

import pytest

from chatd.core.parts import ToolResultPart
from chatd.core.preview import Preview
from chatd.core.roles import Role
from chatd.core.stored_previews import decode_previews
from chatd.engine.episodes import Episode, Episodes
from chatd.engine.tools.live_output import LiveOutput
from chatd.observe.tallies import Tally
from chatd.server.relay import retained
from chatd.server.relay.frames import Closed, Follow, Following, Live, Opened, Parts, Told
from chatd.server.relay.outgoing import LIVE_SECONDS, MOST_CHARACTERS, MOST_PARTS, OutgoingChat
from chatd.server.relay.retained import RetainedEpisodes
from chatd.testing.fake_clock import FakeClock
from server.relay.relaying import CHAT, say

OTHER = UUID(int=99)


class Outgoing:
    def __init__(self, *episodes: Episode, key: tuple[int, int] = (0, 0), seq: int = 0) -> None:
        self.clock = FakeClock()
        self.marks = 0
        self.count = Tally()
        self.chat = OutgoingChat(Follow(7, CHAT, key, seq), episodes, self._mark, self.clock, self.count)

    def _mark(self) -> None:
        self.marks += 1

    def take(self) -> list[Told]:
        return self.chat.take()[0]


def parts(told: list[Told]) -> list[tuple[tuple[int, int], int, int]]:
    """Episode, first number and how many."""
    return [(one.key, one.first, len(decode_previews(one.previews))) for one in told if isinstance(one, Parts)]


def test_a_turn_is_so_many_parts():
    episode = Episode(CHAT, 1, 1)
    say(episode, *["word "] * (MOST_PARTS + 3))
    outgoing = Outgoing(episode)

    first, is_left = outgoing.chat.take()
    second, is_more_left = outgoing.chat.take()

    assert first[0] == Following(7, ((1, 1),))
    assert (parts(first), is_left) == ([((1, 1), 1, MOST_PARTS)], True)
    assert (parts(second), is_more_left) == ([((1, 1), MOST_PARTS + 1, 3)], False)
    assert outgoing.count.value == MOST_PARTS + 3


def test_a_turn_is_so_many_characters_and_one_part_at_least():
    episode = Episode(CHAT, 1, 1)
    say(episode, *["x" * (MOST_CHARACTERS // 3)] * 5)
    episode.add(Preview(Role.TOOL, ToolResultPart(tool_call_id="c", tool_name="t", result="y" * 3 * MOST_CHARACTERS)))
    say(episode, "z")
    outgoing = Outgoing(episode)

    assert [parts(outgoing.take()) for _ in range(4)] == [
        [((1, 1), 1, 3)],
        [((1, 1), 4, 2)],
        [((1, 1), 6, 1)],
        [((1, 1), 7, 1)],
    ]


def test_who_has_some_gets_the_rest():
    episode = Episode(CHAT, 2, 3)
    say(episode, "a", "b", "c")

    assert parts(Outgoing(episode, key=(2, 3), seq=2).take()) == [((2, 3), 3, 1)]
    assert parts(Outgoing(episode, key=(2, 2), seq=2).take()) == [((2, 3), 1, 3)], "it was of another attempt"


def test_the_next_episode_follows_the_end_of_the_one_before():
    before, after = Episode(CHAT, 1, 1), Episode(CHAT, 2, 1)
    say(before, "a")
    outgoing = Outgoing(before)
    outgoing.take()
    say(before, "b")
    before.close()
    outgoing.chat.opened(after)
    say(after, "c")
    told = outgoing.take()

    assert told[0] == Opened(7, (2, 1))
    assert parts(told) == [((1, 1), 2, 1), ((2, 1), 1, 1)]
    assert Closed(7, (1, 1)) in told
    assert outgoing.marks > 3


async def test_words_of_tools_come_ten_times_a_second_and_the_last_one_in_the_end():
    episode = Episode(CHAT, 1, 1)
    episode.live = LiveOutput(episode.announce)
    outgoing = Outgoing(episode)
    outgoing.take()
    said: list[Told] = []
    for word in ("1 %", "2 %", "3 %"):
        episode.live.of("call")(word)
        said += outgoing.take()
    marks = outgoing.marks
    await outgoing.clock.advance(LIVE_SECONDS)

    assert said == [Live(7, (1, 1), (("call", "1 %"),))]
    assert outgoing.marks == marks + 1
    assert outgoing.take() == [Live(7, (1, 1), (("call", "3 %"),))]


def test_who_has_left_is_marked_for_nothing():
    episode = Episode(CHAT, 1, 1)
    outgoing = Outgoing(episode)
    outgoing.chat.leave()
    marks = outgoing.marks
    say(episode, "a")

    assert outgoing.marks == marks
    assert parts(outgoing.take()) == []


def test_what_is_over_is_kept_by_size_and_each_episode_is_there_once(monkeypatch: pytest.MonkeyPatch):
    clock, episodes = FakeClock(), Episodes()
    kept = RetainedEpisodes(episodes, clock)
    for chat in (CHAT, OTHER):
        for history in (1, 2):
            say(episodes.open(chat, history, 1), "x" * 1000)
    episodes.open(CHAT, 2, 1).close()  # over, and still the current one

    assert [episode.key for episode in kept.from_key(CHAT, (0, 0))] == [(1, 1), (2, 1)]
    assert [episode.key for episode in kept.from_key(CHAT, (1, 2))] == [(2, 1)]
    monkeypatch.setattr(retained, "MOST_BYTES", 1500)
    kept.sweep()
    assert [episode.key for episode in kept.from_key(CHAT, (0, 0))] == [(2, 1)]
    assert [episode.key for episode in kept.from_key(OTHER, (0, 0))] == [(2, 1)], "the oldest went first"
