"""Replicas know each other by the secret of their deployment, and nobody else gets a word out of them."""

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from chatd.server.relay.credentials import SECRET_NAME, issue, name_of
from chatd.server.relay.frames import MOST_ASKED, VERSION, Follow, Hello, frame
from server.relay.relaying import ASKER, AUTHORITY, CHAT, LONG, OWNER, Wire, authority, connect, say, wired
from server.running import running_server


async def refused(wire: Wire, context: ssl.SSLContext | None) -> bool:
    """Whether who asks like this gets nothing but the end of the connection."""
    port = wire.socket.getsockname()[1]
    name = name_of(OWNER) if context else None
    try:
        async with asyncio.timeout(LONG):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
            writer.write(frame(Hello(VERSION)) + frame(Follow(1, CHAT, (0, 0), 0)))
            answer = await reader.read(100)
            writer.transport.abort()
            return answer == b""
    except OSError:
        return True


def trusting_anyone() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def test_strangers_are_told_nothing():
    stranger = issue(authority(), ASKER).dialling
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    async with wired() as wire:
        say(wire.episodes.open(CHAT, 1, 1), "a secret")
        assert await refused(wire, None), "without TLS"
        assert await refused(wire, trusting_anyone()), "without a certificate"
        assert await refused(wire, stranger), "of another deployment"
        mirrors, _, _ = wire.follow()  # those who may be told still are
        await mirrors.until(lambda: bool(mirrors.all))


@pytest.mark.parametrize("whose", ["another deployment", "another replica"])
async def test_an_address_that_has_a_new_tenant_is_not_asked(whose: str):
    tenant = issue(authority(), OWNER) if whose == "another deployment" else issue(AUTHORITY, UUID(int=77))
    async with wired(own=tenant, asking=issue(AUTHORITY, ASKER)) as wire:
        with pytest.raises(ssl.SSLError):
            await connect(wire.socket.getsockname()[1], issue(AUTHORITY, ASKER), OWNER)
        _, remote, _ = wire.follow()
        await remote.settled((9, 9))
        assert remote.is_lost


async def test_what_makes_no_sense_ends_its_connection_alone():
    async with wired() as wire:
        original = wire.episodes.open(CHAT, 1, 1)
        mirrors, _, _ = wire.follow()
        await mirrors.like(original)
        for nonsense in (
            b"\xff\xff\xff\xff",
            (MOST_ASKED + 1).to_bytes(4, "big"),
            b"\0\0\0\1\xc1",
            b"GET / HTTP/1.1\r\n",
        ):
            reader, writer = await connect(wire.socket.getsockname()[1], issue(AUTHORITY, ASKER), OWNER)
            writer.write(nonsense)
            async with asyncio.timeout(LONG):
                with suppress(ConnectionError):
                    assert await reader.read(100) == b""
            writer.transport.abort()
        say(original, "still here")
        await mirrors.like(original)


async def test_the_replicas_of_a_deployment_share_one_secret_which_is_stored_encrypted(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path), running_server(database.dsn, tmp_path, first_user=False):
        connection = await asyncpg.connect(database.dsn)
        try:
            stored = await connection.fetch("SELECT value FROM secrets WHERE name = $1", SECRET_NAME)
            urls = await connection.fetch("SELECT url FROM replicas")
        finally:
            await connection.close()

    assert len(stored) == 1
    assert "PRIVATE" not in stored[0]["value"]
    assert stored[0]["value"].startswith("enc1:")
    assert all(row["url"].startswith("tls://127.0.0.1:") for row in urls)
    assert len({row["url"] for row in urls}) == 2
