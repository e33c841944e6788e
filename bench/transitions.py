"""Transitions a second, over bare writes: an INSERT and an UPDATE in one statement on the same tables, in the same run.

A turn is send_message (which takes the chat) and commit_step (which finishes it). Bare writes skip the lock, the fence,
the table of transitions and the answer; what is left (indexes, foreign keys, triggers) is the floor of these tables.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from uuid import UUID

import asyncpg
import msgspec

from bench.processes import median
from chatd.clock import SystemClock
from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.stored_parts import encode_parts
from chatd.core.usage import Usage
from chatd.minting import uuid7
from chatd.store.migrate import shipped_functions
from chatd.store.pool import connect
from chatd.store.queries import UserRole
from chatd.store.store import SqlStore
from chatd.store.transitions import Applied, NewChat, Take, Transitions
from chatd.testing.postgres import migrated_database

CONNECTIONS = 8
CHATS = 8  # for each connection
TURNS = 250  # of each connection in a run
RUNS = 5
REPLICA = UUID(int=1)
MODEL = UUID(int=2)
PARTS = (TextPart(text="hello world " * 20),)

BARE = """
WITH inserted AS (
    INSERT INTO messages (
        chat_id, revision, role, visibility, compressed, deleted, content_version, content, created_by, model_config_id,
        input_tokens, output_tokens, total_tokens, context_limit, cost_microdollars, runtime_ms
    ) VALUES ($1, 1, $2, 'both', false, false, 1, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING id
)
UPDATE chat_state SET
    status = $12, snapshot_version = snapshot_version + 1, history_version = snapshot_version + 1, replica_id = $13,
    runner_id = $14, updated_at = now(), generation_attempt = 1
WHERE chat_id = $1 RETURNING snapshot_version, (SELECT id FROM inserted)
"""
SEND = "SELECT * FROM send_message($1, $2, $3, false, '{}', 20, 50, $4, $5, NULL, NULL)"
COMMIT = "SELECT * FROM commit_step($1, $2, $3, $4, true, false)"

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]


class Hushed:
    """Hints cost the same whatever was written; they have a benchmark of their own."""

    connected = True

    def publish(self, topic: str, payload: bytes = b"") -> None:
        pass

    def subscribe(self, topic: str, receive: object) -> None:
        raise NotImplementedError

    async def wait_connected(self) -> None:
        pass


class Lane(msgspec.Struct, frozen=True):
    """One connection and the chats that only it writes to."""

    connection: Any
    user_id: UUID
    chats: tuple[UUID, ...]

    def chat(self, turn: int) -> UUID:
        return self.chats[turn % len(self.chats)]


async def bare_turns(lane: Lane) -> None:
    content = encode_parts(PARTS)
    write = lane.connection.fetchrow
    nothing = (None,) * 7
    for turn in range(TURNS):
        chat = lane.chat(turn)
        await write(BARE, chat, "user", content, lane.user_id, *nothing, "running", REPLICA, new_id())
        await write(
            BARE, chat, "assistant", content, None, MODEL, 100, 200, 300, 200_000, 1234, 900, "waiting", None, None
        )


async def sql_turns(lane: Lane) -> None:
    content = encode_parts(PARTS)
    call = lane.connection.fetchrow
    question = ("user", content, 1, None, None, lane.user_id, *((None,) * 11))
    answer = ("assistant", content, 1, None, None, None, MODEL, None, 100, 200, 300, 0, 0, 0, 200_000, 1234, 900)
    for turn in range(TURNS):
        chat, runner = lane.chat(turn), new_id()
        sent = await call(SEND, chat, lane.user_id, question, REPLICA, runner)
        assert sent is not None
        done = await call(COMMIT, chat, runner, sent["history_version"], [answer])
        assert done is not None
        assert done["state_after"] == "W", done


async def typed_turns(lane: Lane) -> None:
    transitions = Transitions(SqlStore(lane.connection), Hushed())  # pyright: ignore[reportArgumentType]
    question = NewMessage(role=Role.USER, parts=PARTS, created_by=lane.user_id)
    answer = NewMessage(
        role=Role.ASSISTANT,
        parts=PARTS,
        model_config_id=MODEL,
        usage=Usage(input_tokens=100, output_tokens=200, total_tokens=300),
        context_limit=200_000,
        cost_microdollars=1234,
        runtime_ms=900,
    )
    for turn in range(TURNS):
        sent = await transitions.send_message(lane.chat(turn), question, take=Take(REPLICA, new_id()))
        assert isinstance(sent, Applied)
        assert sent.fence
        done = await transitions.commit_step(sent.fence, [answer], finish=True)
        assert isinstance(done, Applied)


async def main() -> None:
    async with migrated_database() as dsn:
        schema = shipped_functions().schema
        connections = [await connect(dsn, function_schema=schema) for _ in range(CONNECTIONS)]
        try:
            lanes = await _lanes(connections)
            await _measure(lanes)
        finally:
            for connection in connections:
                await connection.close()


async def _measure(lanes: list[Lane]) -> None:
    figures: dict[str, list[float]] = {"bare": [], "SQL": [], "typed": []}
    for _ in range(RUNS):
        figures["bare"].append(await _per_second(lanes, bare_turns))
        figures["SQL"].append(await _per_second(lanes, sql_turns))
        figures["typed"].append(await _per_second(lanes, typed_turns))
    floor = median(figures["bare"])
    print(f"bare INSERT + UPDATE in one statement  {floor:,.0f} a second, {CONNECTIONS} connections")
    for name, what in {"SQL": "transitions as SQL", "typed": "transitions as typed calls"}.items():
        ratios = [ours / bare for ours, bare in zip(figures[name], figures["bare"], strict=True)]
        print(f"{what:38} {median(figures[name]):,.0f} a second, {median(ratios):.2f} of bare")


async def _per_second(lanes: list[Lane], turns: Callable[[Lane], Awaitable[None]]) -> float:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    async with asyncio.TaskGroup() as tasks:
        for lane in lanes:
            tasks.create_task(_run(turns, lane))
    return len(lanes) * TURNS * 2 / (loop.time() - begun)


async def _run(turns: Callable[[Lane], Awaitable[None]], lane: Lane) -> None:
    await turns(lane)


async def _lanes(connections: "list[Connection]") -> list[Lane]:
    store = SqlStore(connections[0])
    transitions = Transitions(store, Hushed())  # pyright: ignore[reportArgumentType]
    organization = await store.get_default_organization()
    user = await store.insert_user(
        id=new_id(), email="a@example.com", username="ada", display_name="", password_hash="", role=UserRole.MEMBER
    )
    lanes: list[Lane] = []
    for connection in connections:
        # The tables ask every writer for this; bare writes give it once and for all.
        await connection.execute("SELECT set_config('chatd.transition', 'bench', false)")
        chats: list[UUID] = []
        for _ in range(CHATS):
            chat = NewChat(
                id=new_id(), organization_id=organization.id, owner_id=user.id, model_config_id=MODEL, title="bench"
            )
            question = NewMessage(role=Role.USER, parts=PARTS, created_by=user.id)
            made = await transitions.create_chat(chat, [question], take=Take(REPLICA, new_id()))
            assert isinstance(made, Applied)
            assert made.fence
            await transitions.commit_step(made.fence, [NewMessage(role=Role.ASSISTANT, parts=PARTS)], finish=True)
            chats.append(chat.id)
        lanes.append(Lane(connection, user.id, tuple(chats)))
    return lanes


def new_id() -> UUID:
    return uuid7(SystemClock().now())
