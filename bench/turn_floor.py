"""The least that a durable turn costs: a bare proxy that stores the question, passes the answer on, and stores that.

`bare` stores nothing and passes bytes on. `durable` decodes and encodes every chunk and commits twice, each an INSERT
and an UPDATE in a transaction; `single` does the same with one statement for each commit.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import aiohttp
import asyncpg
import msgspec
from aiohttp import web

TABLES = """
CREATE TABLE floor_chats (id uuid PRIMARY KEY, status text NOT NULL, version bigint NOT NULL, updated_at timestamptz);
CREATE TABLE floor_messages (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, chat_id uuid NOT NULL REFERENCES floor_chats (id),
    role text NOT NULL, content text NOT NULL, created_at timestamptz NOT NULL DEFAULT now()
);
"""
_INSERT = "INSERT INTO floor_messages (chat_id, role, content) VALUES ($1, $2, $3)"
_UPDATE = "UPDATE floor_chats SET status = $2, version = version + 1, updated_at = now() WHERE id = $1"
_BOTH = """
WITH one AS (INSERT INTO floor_messages (chat_id, role, content) VALUES ($1, $2, $3))
UPDATE floor_chats SET status = $4, version = version + 1, updated_at = now() WHERE id = $1
"""


class _Delta(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []


class _Shown(msgspec.Struct):
    type: str
    chat_id: str
    seq: int
    text: str


class Floor:
    def __init__(self, kind: str, pool: Any, session: aiohttp.ClientSession, vendor: str) -> None:
        self._kind = kind
        self._pool = pool
        self._session = session
        self._vendor = vendor
        self._decode = msgspec.json.Decoder(_Chunk).decode
        self._encode = msgspec.json.Encoder().encode

    async def begin(self, request: web.Request) -> web.Response:
        if self._kind != "bare":
            chat_id = UUID(request.match_info["chat"])
            await self._pool.execute("INSERT INTO floor_chats VALUES ($1, 'waiting', 1, now())", chat_id)
        return web.Response()

    async def turn(self, request: web.Request) -> web.StreamResponse:
        body, chat_id = await request.read(), UUID(request.match_info["chat"])
        await self._store(chat_id, "user", body.decode(), "running")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        texts: list[str] = []
        url = f"{self._vendor}/{request.match_info['pace']}/v1/chat/completions"
        async with self._session.post(url, data=body) as answer:
            if self._kind == "bare":
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
            else:
                await self._pass_on(answer, response, str(chat_id), texts)
        await self._store(chat_id, "assistant", "".join(texts), "waiting")
        await response.write_eof()
        return response

    async def _pass_on(
        self, answer: aiohttp.ClientResponse, response: web.StreamResponse, chat: str, texts: list[str]
    ) -> None:
        rest = b""
        async for read in answer.content.iter_any():
            *events, rest = (rest + read).split(b"\n\n")
            out: list[bytes] = []
            for event in events:
                if event == b"data: [DONE]":
                    continue
                chunk = self._decode(event[6:])
                if chunk.choices and (text := chunk.choices[0].delta.content):
                    texts.append(text)
                    out.append(b"data: %b\n\n" % self._encode(_Shown("message_part", chat, len(texts), text)))
            if out:
                await response.write(b"".join(out))

    async def _store(self, chat_id: UUID, role: str, content: str, status: str) -> None:
        if self._kind == "single":
            await self._pool.execute(_BOTH, chat_id, role, content, status)
        elif self._kind == "durable":
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(_INSERT, chat_id, role, content)
                await connection.execute(_UPDATE, chat_id, status)


@asynccontextmanager
async def open_floor(kind: str, dsn: str, vendor: str) -> AsyncGenerator[Floor]:
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        asyncpg.create_pool(dsn, min_size=1, max_size=10) as pool,
        aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as session,
    ):
        yield Floor(kind, pool, session, vendor)
