"""A client that is cut off comes back with the last id that it has, and misses nothing and gets nothing twice."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.core.stream_picture import Picture
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Answer, Fail, Hold, Say, Think, Turn
from server.running import Running
from server.scripted import scripted_server, send
from server.streaming import TRANSPORTS, Event, Reader, Transport, reading
from server.test_engine_room import begin, until_resting

PATIENCE = 60
MOST_CUTS = 45  # more than the turn has events


class Play:
    """A first turn; then one that breaks off, is tried again, and has a message waiting for its end."""

    def __init__(self) -> None:
        self.has_tried = False
        self.go_on = asyncio.Event()

    def __call__(self, asked: Asked) -> Answer:
        match asked.last_text:
            case "hello":
                return Turn(Say("Hi."))
            case "count" if not self.has_tried:
                self.has_tried = True
                return Turn(Say("one", " two"), faults=[Fail("Overloaded.", after_events=4)])
            case "count":
                numbers = [f" {number}" for number in range(1, 8)]
                return Turn(Think("Hm,", " numbers."), Say(*numbers), faults=[Hold(self.go_on, before_event=8)])
            case "and on":
                return Turn(Say("eight", " nine"))
            case other:
                return Turn(Say(f"A title for {other[:9]}"))


async def until_rested(reader: Reader, picture: Picture) -> None:
    """Until the last turn's answer is stored and nothing is left of its preview."""
    for event in reader.seen:
        picture.apply(event)
    while not is_over(picture, reader.seen):
        picture.apply(await reader.next())


def is_over(picture: Picture, seen: list[Event]) -> bool:
    texts = [part.get("text") for message in picture.messages.values() for part in message["content"]]
    return "eight nine" in texts and picture.status == "waiting" and not picture.parts and bool(seen)


async def cut_and_resumed(
    running: Running,
    chat: UUID,
    transport: Transport,
    cut_after: int,
    ready: asyncio.Barrier,
    comes_back: asyncio.Event,
) -> tuple[Picture, list[Event]]:
    """What a client has that leaves after so many events and then comes back."""
    picture = Picture()
    async with reading(running.owner, chat, transport) as first:
        picture.apply(await first.next())
        await ready.wait()
        while len(first.seen) < cut_after and not is_over(picture, first.seen):
            picture.apply(await first.next())
    assert picture.last_id is not None
    await comes_back.wait()
    async with reading(running.owner, chat, transport, after=picture.last_id) as second:
        while not is_over(picture, first.seen):
            picture.apply(await second.next())
    return picture, [*first.seen, *second.seen]


@pytest.mark.behaviour("STREAM-7")
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("away", ["for a moment", "for an attempt"])
async def test_a_client_cut_at_any_event_of_a_turn_ends_with_the_same_picture(
    database: Any, tmp_path: Path, transport: Transport, away: str
):
    play, comes_back = Play(), asyncio.Event()
    if away == "for a moment":
        comes_back.set()
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, play) as running:
        chat = await begin(running, "hello")
        async with reading(running.owner, chat, transport) as reader:
            await reader.resting()
        ready = asyncio.Barrier(MOST_CUTS + 1)
        async with asyncio.TaskGroup() as tasks:
            cut = [
                tasks.create_task(cut_and_resumed(running, chat, transport, place, ready, comes_back))
                for place in range(1, MOST_CUTS + 1)
            ]
            await ready.wait()
            await send(running, chat, "count")
            async with reading(running.owner, chat, transport) as watcher:
                await watcher.until("retry")
                await watcher.until("preview_reset")
                await watcher.until("message_part")
                comes_back.set()
                await send(running, chat, "and on")
                await watcher.until("queue_update")
                play.go_on.set()
        final = Picture()
        async with reading(running.owner, chat, transport) as late:
            await until_rested(late, final)

    for task in cut:
        picture, seen = task.result()
        assert picture.shown() == final.shown()
        messages = [event["message"]["id"] for event in seen if event["type"] == "message"]
        assert messages == sorted(set(messages)), "each came once, in order"
        check_parts(seen)


@pytest.mark.behaviour("STREAM-7")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_who_comes_back_to_a_quiet_chat_is_told_at_once_what_was_missed(
    database: Any, tmp_path: Path, transport: Transport, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("chatd.store.chat_watch.POLL_SECONDS", 10.0 * PATIENCE)
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, Play()) as running:
        chat = await begin(running, "hello")
        async with reading(running.owner, chat, transport) as reader:
            await reader.resting()
        part = [event["id"] for event in reader.seen if event["type"] == "message_part"]
        await send(running, chat, "and on")
        await until_resting(running, database.dsn, chat)
        for last_id in (reader.seen[-1]["id"], *part):
            picture = Picture()
            for event in reader.seen:
                picture.apply(event)
            async with reading(running.owner, chat, transport, after=last_id) as back:
                while not is_over(picture, back.seen):
                    picture.apply(await back.next())


def check_parts(seen: list[Event]) -> None:
    """Those of each attempt from the first one on, without a gap and none twice."""
    numbers: dict[tuple[int, int], list[int]] = {}
    for event in seen:
        if event["type"] == "message_part":
            part = event["message_part"]
            numbers.setdefault((part["history_version"], part["generation_attempt"]), []).append(part["seq"])
    for seqs in numbers.values():
        assert seqs == list(range(1, len(seqs) + 1))
