"""Replicas as processes of their own on one Postgres: a chat that one of them runs, watched on each of them."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.core.stream_picture import Picture
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Hold, Refuse, Say, Think, Turn
from server.relay.replica_servers import FIRST, Replicas, replicas
from server.streaming import Reader, Transport, reading

PATIENCE = 90  # real seconds; a lease is ten of them
SECOND, THIRD = "question two", "question three"


@asynccontextmanager
async def watching(all: Replicas, chat: UUID) -> AsyncIterator[list[Reader]]:
    """On each of them, by turns over both transports."""
    async with AsyncExitStack() as stack:
        transports: tuple[Transport, ...] = ("websocket", "sse")
        yield [
            await stack.enter_async_context(reading(api, chat, transports[place % 2]))
            for place, api in enumerate(all.apis)
        ]


def seen_messages(reader: Reader) -> list[tuple[int, int]]:
    messages = [event["message"] for event in reader.seen if event["type"] == "message"]
    return [(message["id"], message["revision"]) for message in messages]


def seen_parts(reader: Reader) -> list[Any]:
    return [event for event in reader.seen if event["type"] == "message_part"]


def picture_of(reader: Reader) -> Picture:
    picture = Picture()
    for event in reader.seen:
        picture.apply(event)
    return picture


async def until_answered(reader: Reader, messages: int) -> None:
    """Until the chat rests with so many messages."""
    picture = picture_of(reader)
    while not (picture.status == "waiting" and len(picture.shown()["messages"]) == messages and not picture.parts):
        picture.apply(await reader.next())
    if reader.seen[-1]["type"] != "preview_reset":
        await reader.until("preview_reset")


@pytest.mark.behaviour("STREAM-3")
@pytest.mark.behaviour("ERR-7")
@pytest.mark.parametrize("count", [2, 3])
async def test_every_replica_shows_the_same_turns(count: int, database: Any, tmp_path: Path):
    go_on, is_refused = asyncio.Event(), asyncio.Event()

    def script(asked: Asked) -> Turn | Refuse:
        if asked.last_text == SECOND and not is_refused.is_set():
            is_refused.set()
            return Refuse(529, "Overloaded.")
        if asked.last_text == FIRST:
            return Turn(Think("Let me ", "see."), Say(*"abcdefghij"), faults=[Hold(go_on, before_event=9)])
        return Turn(Say(*(f"{asked.last_text} {number}, " for number in range(30))))

    async with asyncio.timeout(PATIENCE), replicas(count, database.dsn, tmp_path, script) as all:
        chat = await all.begin()
        async with watching(all, chat) as readers:
            for reader in readers:
                await reader.until("message_part")
            await all.send(1, chat, SECOND)  # it is queued, and sent when the first turn is over
            for reader in readers:
                await reader.until("queue_update")
            go_on.set()
            for reader in readers:
                await until_answered(reader, 4)
            await all.send(0, chat, THIRD)
            for reader in readers:
                await until_answered(reader, 6)

    first = readers[0]
    assert len(seen_parts(first)) == 2 + 10 + 30 + 30
    for reader in readers[1:]:
        assert seen_messages(reader) == seen_messages(first)
        assert seen_parts(reader) == seen_parts(first)
        assert picture_of(reader).shown() == picture_of(first).shown()
    for reader in readers:
        assert "retry" in [event["type"] for event in reader.seen]


@pytest.mark.behaviour("STREAM-3")
@pytest.mark.behaviour("STATE-11")
async def test_all_who_watch_end_with_the_same_history_when_the_owner_is_killed_in_its_stream(
    database: Any, tmp_path: Path
):
    never, asked_again = asyncio.Event(), asyncio.Event()

    def script(asked: Asked) -> Turn:
        if asked.last_text != FIRST:
            return Turn(Say("A title"))
        if asked_again.is_set():
            return Turn(Say("The ", "whole ", "answer."))
        asked_again.set()
        return Turn(Say("The ", "half ", "and ", "no ", "more."), faults=[Hold(never, before_event=6)])

    async with asyncio.timeout(PATIENCE), replicas(3, database.dsn, tmp_path, script) as all:
        chat = await all.begin()
        async with watching(all, chat) as readers:
            for reader in readers:
                while len(seen_parts(reader)) < 2:
                    await reader.next()
            shown = [picture_of(reader).shown()["parts"] for reader in readers]
            last_id = readers[0].seen[-1]["id"]
            all.servers[0].kill(signal.SIGKILL)
            await all.servers[0].ended()
            async with reading(all.apis[1], chat, "sse", after=last_id) as again:
                for reader in readers[1:]:
                    await until_answered(reader, 2)
                await until_answered(again, 1)  # it has the question
            histories = [await all.messages(place, chat) for place in (1, 2)]
        never.set()

    assert shown[1:] == shown[:1] * 2
    assert histories[0] == histories[1]
    everything = [*readers[0].seen, *again.seen]
    resumed = Picture()
    for event in everything:
        resumed.apply(event)
    pictures = [picture_of(reader).shown() for reader in readers[1:]]
    assert pictures[0] == pictures[1] == resumed.shown()
    assert [message["content"][0]["text"] for message in pictures[0]["messages"]] == [FIRST, "The whole answer."]
    assert seen_parts(readers[1])[-3:] == seen_parts(readers[2])[-3:] == seen_parts(again)[-3:]
