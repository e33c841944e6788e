"""What a subscriber costs on the replica that runs its chat: no statement for a follow-up turn."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from chatd.core.stream_picture import Picture
from chatd.testing.statements import Statements
from chatd.testing.vendors.script import Say, Turn
from server.scripted import edit, scripted_server, send
from server.streaming import TRANSPORTS, Reader, Transport, reading
from server.test_engine_room import PATIENCE, begin, until_resting

# What a replica asks by the clock, or once for all (hints, polls of versions, heartbeats, chats to take), what the
# driver asks on a new connection, and what a stream stores when it begins.
ELSEWHERE = (
    "pg_notify",
    "ANY(",
    "FROM versions",
    "FROM providers",  # a turn's own, after the first look at versions
    "FROM model_configs",
    "FROM site_settings",
    "acquire(",
    "release_overdue(",
    "replica",
    "checkpoints",
    "index_messages(",
    "indexed_chats",
    "token",
    "typeinfo_tree",
    "current_setting",
    "SET last_read_message_id",
    "SET last_turn_summary",  # of the turn before
)


async def counted(statements: Statements) -> Counter[str]:
    asked = Counter[str]()
    for query, calls in await statements.by_query():
        if not any(word in query for word in ELSEWHERE):
            asked[query] += calls
    return asked


async def until_answered(reader: Reader, answers: int) -> None:
    picture = Picture()
    for event in reader.seen:
        picture.apply(event)
    while sum(message["role"] == "assistant" for message in picture.messages.values()) < answers or picture.parts:
        picture.apply(await reader.next())


@pytest.mark.behaviour("STREAM-2")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_follow_up_turn_reaches_its_subscribers_without_a_statement(
    database: Any, tmp_path: Path, statements: Statements, transport: Transport
):
    script = lambda _: Turn(Say("a", " word"))  # noqa: E731
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, script) as running:
        chat = await begin(running, "hello")
        await until_resting(running, database.dsn, chat)
        await send(running, chat, "two")
        await until_resting(running, database.dsn, chat)

        before = await counted(statements)
        await send(running, chat, "three")
        await until_resting(running, database.dsn, chat)
        alone = await counted(statements) - before

        async with AsyncExitStack() as stack:
            readers = [await stack.enter_async_context(reading(running.owner, chat, transport)) for _ in range(5)]
            for reader in readers:
                await until_answered(reader, 3)
            before = await counted(statements)
            await send(running, chat, "four")
            for reader in readers:
                await until_answered(reader, 4)
            await until_resting(running, database.dsn, chat)
            followed = await counted(statements) - before

    assert +(followed - alone) == Counter()
    assert sum(alone.values()) > 0


@pytest.mark.behaviour("STREAM-2")
async def test_after_an_edit_everything_is_read_anew(database: Any, tmp_path: Path):
    script = lambda _: Turn(Say("a", " word"))  # noqa: E731
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, script) as running:
        chat = await begin(running, "hello")
        async with reading(running.owner, chat, "websocket") as reader:
            await until_answered(reader, 1)
            typo = (await send(running, chat, "typo")).messages[-1].id
            await until_answered(reader, 2)
            edited = await edit(running, chat, typo, "no typo")
            await reader.until("history_reset")
            again = [(await reader.next())["message"]["id"] for _ in range(3)]
            recent = running.replica.engine.parts.recent.get(chat)
            assert recent is not None
            await reader.resting()

    assert len(again) == 3
    assert again[-1] == edited.messages[-1].id
    assert typo not in again
    assert recent.since >= edited.change.history_version, "what came before is not in the cache"
