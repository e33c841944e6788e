"""Who may see a chat's stream, from when to when, and how it is refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import asyncpg
import pytest

from chatd.minting import uuid7
from chatd.testing.fake_clock import START
from chatd.testing.vendors.script import Say, Turn
from server.running import Api, Running
from server.scripted import scripted_server, send
from server.streaming import TRANSPORTS, Reader, Transport, reading, stream_path
from server.test_engine_room import PATIENCE, begin

ANSWER = Turn(Say("a", " word"))


@asynccontextmanager
async def a_chat(database: Any, tmp_path: Path) -> AsyncIterator[tuple[Running, UUID]]:
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, lambda _: ANSWER) as running:
        chat = await begin(running, "hello")
        async with reading(running.owner, chat, "sse") as reader:
            await reader.resting()
        yield running, chat


async def status(api: Api, path: str, transport: Transport, **headers: str) -> int:
    """Of an answer that is no stream."""
    if api.token:
        headers["Authorization"] = f"Bearer {api.token}"
    async with aiohttp.ClientSession(headers=headers) as http:
        if transport == "websocket":
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await http.ws_connect(api.url + path)
            return refused.value.status
        async with http.get(api.url + path, headers={"Accept": "text/event-stream", **headers}) as response:
            assert "message" in await response.json()
            return response.status


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_refusals_are_plain_http(database: Any, tmp_path: Path, transport: Transport):
    async with a_chat(database, tmp_path) as (running, chat):
        stranger = await running.add_user("stefan")
        path = stream_path(chat)

        assert await status(running.api, path, transport) == 401
        assert await status(stranger, path, transport) == 404
        assert await status(running.owner, stream_path(uuid7(START)), transport) == 404
        assert await status(running.owner, stream_path("nonsense"), transport) == 404
        assert await status(running.owner, f"{path}?after_id=x", transport) == 400
        assert await status(running.owner, f"{path}?after=nonsense", transport) == 400


async def test_a_stream_of_events_is_got_and_accepted(database: Any, tmp_path: Path):
    async with a_chat(database, tmp_path) as (running, chat):
        posted = await running.owner.post(stream_path(chat))
        other = await running.owner.call("GET", stream_path(chat), Accept="application/json")

    assert (posted.status, posted.headers["Allow"]) == (405, "GET")
    assert other.status == 400


async def test_a_browser_resumes_with_its_own_header(database: Any, tmp_path: Path):
    async with a_chat(database, tmp_path) as (running, chat):
        async with reading(running.owner, chat, "sse") as reader:
            await reader.resting()
        headers = {"Authorization": f"Bearer {running.owner.token}", "Last-Event-ID": reader.seen[-3]["id"]}
        url = f"{running.owner.url}{stream_path(chat)}?after={reader.seen[0]['id']}"
        async with aiohttp.ClientSession(headers=headers) as http, http.get(url) as response:
            lines = [await response.content.readline() for _ in range(4)]

        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert lines[:2] == [b"retry: 1000\n", b"\n"]
        assert lines[2] == b"id: %b\n" % reader.seen[-2]["id"].encode()


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_stream_ends_with_its_session(database: Any, tmp_path: Path, transport: Transport):
    async with a_chat(database, tmp_path) as (running, chat):
        other = await running.api.sign_in("olga")
        async with reading(other, chat, transport) as ending, reading(running.owner, chat, transport) as staying:
            await ending.resting()
            await staying.resting()
            assert (await other.post("/api/v2/users/logout")).status == 204
            await ending.ended()
            await send(running, chat, "still there?")
            await staying.until("message_part")


@pytest.mark.parametrize("role", ["auditor", "owner"])  # the second one may change the chat
async def test_who_watches_the_chat_of_another_moves_no_ones_place(database: Any, tmp_path: Path, role: str):
    async with a_chat(database, tmp_path) as (running, chat):
        admin = await running.add_user("ada", role)
        connection = await asyncpg.connect(database.dsn)
        try:
            await connection.execute("UPDATE chats SET last_read_message_id = 0")
            async with reading(admin, chat, "websocket") as watching:
                await watching.resting()
            unread = await read_through(connection)
            async with reading(running.owner, chat, "websocket") as own:
                await own.resting()
                await send(running, chat, "more")
                answer = await last_answer(own)
            await until_read(connection, answer)
        finally:
            await connection.close()

    assert unread == 0


async def last_answer(reader: Reader) -> int:
    while True:
        event = await reader.until("message")
        if event["message"]["role"] == "assistant":
            return event["message"]["id"]


async def read_through(connection: Any) -> int:
    return await connection.fetchval("SELECT last_read_message_id FROM chats")


async def until_read(connection: Any, message_id: int) -> None:
    """The server notices a moment later that a client has left."""
    while await read_through(connection) < message_id:
        await connection.execute("SELECT pg_sleep(0.01)")
