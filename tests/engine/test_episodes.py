"""Live parts: numbered, encoded once, bounded, and told to whoever listens."""

from uuid import UUID

import msgspec
import pytest

from chatd.core.parts import ReasoningPart, TextPart, ToolResultPart
from chatd.core.preview import Preview
from chatd.core.roles import Role
from chatd.engine.episodes import RECENT, Episode, Episodes

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
            "id": "4.2.2",
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
    monkeypatch.setattr("chatd.engine.episodes.MOST_BYTES", 700)
    episode = Episode(CHAT, 1, 1)
    for words in ["words"] * 3 + ["many words" * 100, "small"]:
        episode.add(text(words))

    assert (episode.last, episode.dropped) == (3, 2), "nothing follows what is missing"
    assert len(episode.fresh) == episode.last


def read(events: list[bytes]) -> list[tuple[int, str]]:
    parts = [msgspec.json.decode(event)["message_part"] for event in events]
    return [(part["seq"], part["part"].get("text", part["part"]["type"])) for part in parts]


def test_a_long_answer_is_live_to_its_end_and_takes_little_more_room_than_its_words():
    episode = Episode(CHAT, 123, 1)
    for _ in range(40_000):
        episode.add(text("word "))
    events = episode.after(0)

    assert (episode.last, episode.dropped) == (40_000, 0)
    assert "".join(words for _, words in read(events)) == "word " * 40_000
    assert len(events) < 3 * RECENT
    assert sum(map(len, events)) < 3 * len("word ") * 40_000


@pytest.mark.parametrize("seen", [0, 1, 511, 512, 700, 1024, 1500, 1999, 2000])
def test_who_comes_back_gets_what_follows_and_nothing_twice(seen: int):
    episode = Episode(CHAT, 1, 1)
    thought = Preview(Role.ASSISTANT, ReasoningPart(text="hm ", created_at="2026-01-01T00:00:00Z"))
    result = Preview(Role.TOOL, ToolResultPart(tool_call_id="c", tool_name="t", result="{}"))
    shown = [result if n % 700 == 699 else thought if n % 300 < 20 else text(f"{n} ") for n in range(2000)]
    for preview in shown:
        episode.add(preview)
    events = read(episode.after(seen))

    # Pieces are neighbours or not; their words and their order are the same.
    assert "".join(words for _, words in events) == "".join(
        "tool-result" if preview is result else "hm " if preview is thought else f"{n} "
        for n, preview in enumerate(shown)
        if n >= seen
    )
    assert [number for number, _ in events] == sorted({number for number, _ in events})
    assert not events or (events[0][0] > seen and events[-1][0] == 2000)


def test_a_reader_that_fails_or_leaves_is_no_trouble_to_the_others():
    told: list[str] = []
    episode = Episode(CHAT, 1, 1)

    def leave() -> None:
        told.append("leaving")
        stop()

    def fail() -> None:
        raise RuntimeError("no reader any more")

    stop = episode.listen(leave)
    episode.listen(fail)
    episode.listen(lambda: told.append("last"))
    episode.announce()
    episode.announce()

    assert told == ["leaving", "last", "last"]


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
