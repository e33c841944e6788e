"""A server runs chats: a message is answered by the demo model, and a server that stops hands its chats over."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from chatd.clock import SystemClock
from chatd.core.messages import NewMessage
from chatd.core.outcomes import Refused
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.titles import fallback_title
from chatd.minting import uuid7
from chatd.store.actor import acting_as
from chatd.store.chat_hints import chat_topic
from chatd.store.owner_hints import OwnerEventKind, owner_topic, read_owner_event
from chatd.store.transitions import NewChat
from server.running import Running, running_server

PATIENCE = 30
DEMO: dict[str, Any] = {"demo_model": "auto"}


async def begin(running: Running, text: str) -> UUID:
    """What the route for new chats will do."""
    person = await running.replica.identity.authenticate(running.owner.token)
    model = await running.replica.models.default_model()
    assert person is not None
    assert model is not None
    engine, parts = running.replica.engine, (TextPart(text=text),)
    message = NewMessage(role=Role.USER, parts=parts, created_by=person.user_id)
    with acting_as(person):
        organization = await running.replica.opened.store.get_default_organization()
        chat = NewChat(
            id=uuid7(SystemClock().now()),
            organization_id=organization.id,
            owner_id=person.user_id,
            model_config_id=model.config_id,
            title=fallback_title(parts),
        )
        made = await engine.transitions.create_chat(chat, [message], take=engine.worker.new_take())
    assert not isinstance(made, Refused)
    engine.worker.adopt(made)
    return chat.id


async def until_resting(running: Running, dsn: str, chat: UUID) -> str:
    """The last thing that was said."""
    moved = asyncio.Event()
    subscription = running.replica.hints.subscribe(chat_topic(chat), lambda _: moved.set())
    connection = await asyncpg.connect(dsn)
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                moved.clear()
                status = await connection.fetchval("SELECT status FROM chat_state WHERE chat_id = $1", chat)
                if status != "running":
                    break
                await moved.wait()
        said = await connection.fetchval(
            "SELECT content ->> 0 FROM messages WHERE chat_id = $1 ORDER BY id DESC LIMIT 1", chat
        )
        assert status == "waiting", said
        return str(said)
    finally:
        subscription.close()
        await connection.close()


async def test_a_newcomer_is_answered_by_the_demo_model_and_the_chat_gets_a_label(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path, **DEMO) as running:
        person = await running.replica.identity.authenticate(running.owner.token)
        assert person is not None
        told: asyncio.Queue[Any] = asyncio.Queue()
        subscription = running.replica.hints.subscribe(
            owner_topic(person.user_id), lambda hint: told.put_nowait(read_owner_event(getattr(hint, "payload", b"")))
        )
        await running.replica.hints.wait_connected()
        chat = await begin(running, "hello")
        said = await until_resting(running, database.dsn, chat)
        async with asyncio.timeout(PATIENCE):
            while (event := await told.get()) is None or event.kind is not OwnerEventKind.LABEL:
                pass
        subscription.close()

    assert "demo model" in said
    assert (event.chat_id, event.value) == (chat, "Demo has answered")


async def test_a_server_that_stops_hands_over_and_the_next_one_goes_on(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path, drain_seconds="0", **DEMO) as first:
        chat = await begin(first, "count to 300")
        episodes = first.replica.engine.parts.episodes
        async with asyncio.timeout(PATIENCE):
            seen = asyncio.Event()
            while (episode := episodes.current(chat)) is None:
                episodes.on_open(lambda _: seen.set())
                await seen.wait()
            more = asyncio.Event()
            stop = episode.listen(more.set)
            await more.wait()
            stop()
    connection = await asyncpg.connect(database.dsn)
    between = await connection.fetchrow("SELECT status, replica_id FROM chat_state WHERE chat_id = $1", chat)
    kept = await connection.fetchval("SELECT count(*) FROM chat_checkpoints WHERE chat_id = $1", chat)
    await connection.close()
    async with running_server(database.dsn, tmp_path, first_user=False, **DEMO) as second:
        said = await until_resting(second, database.dsn, chat)

    assert between is not None
    assert (between["status"], between["replica_id"]) == ("running", None)
    assert kept == 1  # what people had seen
    assert "299, 300." in said
