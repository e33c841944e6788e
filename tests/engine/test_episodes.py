"""Live parts: numbered, encoded once, bounded, and told to whoever listens."""

from uuid import UUID

import msgspec
import pytest

from chatd.core.parts import TextPart, ToolResultPart
from chatd.core.preview import Preview
from chatd.core.roles import Role
from chatd.engine.episodes import Episode, Episodes

CHAT = UUID(int=7)


def text(words: str) -> Preview:
    return Preview(Role.ASSISTANT, TextPart(text=words))


def test_each_part_is_an_event_with_its_number():
    episode = Episode(CHAT, 4, 2)
    episode.add(text("a"))
    episode.add(text("b"))

    assert episode.last == 2
    assert [msgspec.json.decode(event) for event in episode.after(1)] == [
        {
            "type": "message_part",
            "chat_id": str(CHAT),
            "message_part": {
                "history_version": 4,
                "generation_attempt": 2,
                "seq": 2,
                "role": "assistant",
                "part": {"type": "text", "text": "b"},
            },
        }
    ]


def test_half_a_character_is_shown_as_a_sign_that_it_is_missing():
    episode = Episode(CHAT, 1, 1)
    episode.add(Preview(Role.TOOL, ToolResultPart(tool_call_id="c", tool_name="t", result='{"output":"\ud83d"}')))

    assert "�".encode() in episode.after(0)[0]


def test_what_finds_no_room_is_counted_and_the_numbers_have_no_gap(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("chatd.engine.episodes.MOST_BYTES", 400)
    episode = Episode(CHAT, 1, 1)
    for _ in range(10):
        episode.add(text("words and words"))

    assert 0 < episode.last < 10
    assert episode.dropped == 10 - episode.last
    assert len(episode.fresh) == episode.last


def test_who_listens_is_told_once_for_all_that_came_together_and_at_the_end():
    told: list[int] = []
    episode = Episode(CHAT, 1, 1)
    stop = episode.listen(lambda: told.append(episode.last))
    episode.add(text("a"))
    episode.add(text("b"))
    episode.announce()
    episode.close()
    stop()
    episode.announce()

    assert told == [2, 2]
    episode.add(text("too late"))
    assert episode.last == 2


def test_an_attempt_has_one_episode_and_a_new_attempt_closes_the_last():
    episodes, opened = Episodes(), list[Episode]()
    episodes.on_open(opened.append)
    first = episodes.open(CHAT, 1, 1)
    again = episodes.open(CHAT, 1, 1)
    second = episodes.open(CHAT, 1, 2)

    assert first is again
    assert first.is_closed
    assert not second.is_closed
    assert opened == [first, second]
    assert episodes.open_episodes() == [second]
    episodes.end(CHAT)
    assert episodes.current(CHAT) is None
    assert second.is_closed
