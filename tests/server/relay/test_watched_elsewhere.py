"""Chats of one replica, watched on another: the same parts with the same numbers, and the same picture."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from chatd.core.stream_picture import Picture
from chatd.testing.vendors.script import Hold, Say, Script, Turn
from server.running import Running, running_server
from server.scripted import scripted_server, send
from server.streaming import Reader, reading
from server.test_engine_room import PATIENCE, begin

WORDS = [f"word{number} " for number in range(40)]


class Two(msgspec.Struct, frozen=True):
    """`one` runs the chats. `other` knows the same people."""

    one: Running
    other: Running


@asynccontextmanager
async def two_replicas(dsn: str, data_dir: Path, script: Script, **more: Any) -> AsyncIterator[Two]:
    async with (
        scripted_server(dsn, data_dir, script) as one,
        running_server(dsn, data_dir, first_user=False, **more) as other,
    ):
        here = other.api.with_token(one.owner.token)
        yield Two(one, msgspec.structs.replace(other, owner=here))


def parts_of(reader: Reader) -> list[Any]:
    return [event for event in reader.seen if event["type"] == "message_part" and "id" in event]


def picture_of(reader: Reader) -> dict[str, Any]:
    picture = Picture()
    for event in reader.seen:
        picture.apply(event)
    return picture.shown()


@pytest.mark.behaviour("STREAM-3")
async def test_parts_come_from_the_replica_that_runs_the_chat(database: Any, tmp_path: Path):
    go_on = asyncio.Event()

    def script(_: Any) -> Turn:
        return Turn(Say(*WORDS), faults=[Hold(go_on, before_event=10)])

    async with asyncio.timeout(PATIENCE), two_replicas(database.dsn, tmp_path, script) as two:
        chat = await begin(two.one, "hello")
        async with reading(two.one.owner, chat, "websocket") as here, reading(two.other.owner, chat, "sse") as there:
            await here.until("message_part")
            await there.until("message_part")
            go_on.set()
            await here.resting()
            await there.resting()
            await send(two.one, chat, "again")
            for reader in (here, there):
                await reader.until("status", status={"status": "running"})
                await reader.resting()

    assert len(parts_of(here)) == 2 * len(WORDS)
    assert parts_of(there) == parts_of(here)
    assert picture_of(there) == picture_of(here)
