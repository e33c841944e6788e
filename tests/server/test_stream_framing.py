"""Events on the wire: in pieces that clients can take, each event whole and on one line."""

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.stream import Event
from chatd.core.stream_picture import Picture
from chatd.server.stream import framing
from chatd.server.stream.framing import MOST_EVENTS, SseSink, WebSocketSink, frames
from chatd.server.watch.route import OneByOne
from chatd.testing.vendors.script import Hold, Say, Turn
from server.scripted import scripted_server
from server.streaming import TRANSPORTS, Transport, reading
from server.test_engine_room import PATIENCE, begin

WORDS = [f"w{number} " for number in range(3 * MOST_EVENTS)]


@given(st.lists(st.integers(1, 400), max_size=40) | st.integers(0, 3 * MOST_EVENTS).map(lambda many: [1] * many))
def test_frames_are_the_same_events_and_no_larger_than_they_may_be(sizes: list[int]):
    events = [Event(str(number), b"x" * size) for number, size in enumerate(sizes)]
    most, framing.MOST_BYTES = framing.MOST_BYTES, 1000
    try:
        made = list(frames(events))
    finally:
        framing.MOST_BYTES = most

    assert [event for frame in made for event in frame] == events
    assert all(0 < len(frame) <= MOST_EVENTS for frame in made)
    assert all(len(frame) == 1 or sum(len(event.data) for event in frame) <= 1000 for frame in made)
    for frame, following in pairwise(made):
        full = len(frame) == MOST_EVENTS or sum(len(event.data) for event in frame) + len(following[0].data) > 1000
        assert full, "no more frames than it takes"


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
async def test_an_event_is_one_line_however_its_json_was_written(line_end: bytes):
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nobody asks")

    data = line_end.join([b"{", b'"text":', b'"two\\nlines"', b"}"])
    await SseSink(receive, send).send([Event("1.2", data), Event(None, b"{}")])
    await WebSocketSink(receive, send).send([Event("1.2", data), Event(None, b"{}")])

    first, second, rest = sent[0]["body"].split(b"\n\n")
    id, line = first.split(b"\n")
    assert (id, second, rest) == (b"id: 1.2", b"data: {}", b"")
    assert b"\r" not in line
    assert msgspec.json.decode(line.removeprefix(b"data: ")) == {"text": "two\nlines"}
    assert msgspec.json.decode(sent[1]["text"]) == [{"text": "two\nlines"}, {}]


async def test_a_sign_of_life_is_a_message_without_events():
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nobody asks")

    for sink in (WebSocketSink(receive, send), OneByOne(receive, send), SseSink(receive, send)):
        await sink.beat()

    assert [message.get("text") for message in sent] == ["[]", "{}", None]
    assert sent[2]["body"] == b": still here\n\n"


@pytest.mark.behaviour("STREAM-1")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_who_joins_in_the_middle_of_a_long_answer_has_all_of_it_while_the_model_is_silent(
    database: Any, tmp_path: Path, transport: Transport
):
    go_on = asyncio.Event()
    turn = Turn(Say(*WORDS, "end"), faults=[Hold(go_on, before_event=len(WORDS) + 1)])
    script = lambda asked: turn if asked.last_text == "tell" else Turn(Say("A title"))  # noqa: E731
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, script) as running:
        chat = await begin(running, "tell")
        texts: list[str] = []
        for _ in range(2):  # the second one finds all parts there
            picture = Picture()
            async with reading(running.owner, chat, transport) as reader:
                while "w700 " not in "".join(part["text"] for part in picture.parts):
                    picture.apply(await reader.next())
                texts.append("".join(part["text"] for part in picture.parts))
        go_on.set()

    assert all("".join(WORDS).startswith(text) for text in texts)
