"""What tests of transitions share: chats in every state, messages to give, recorded hints, a look at a whole chat."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from chatd.core.messages import NewMessage
from chatd.core.outcomes import Refused
from chatd.core.parts import TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.core.states import State
from chatd.store.migrate import shipped_functions
from chatd.store.pool import open_pool
from chatd.store.queries import User
from chatd.store.store import SqlStore
from chatd.store.transitions import Applied, Fence, NewChat, Outcome, Take, Transitions
from store.world import add_template, add_user, add_workspace, new_id

ERROR = '{"message": "It broke."}'
DYNAMIC = "ask"  # the tool that the client of every chat here runs
LOCAL = "look"  # a tool that the server runs
_RESTS_WITH_A_QUEUE = """
    UPDATE chat_state SET status = 'waiting', snapshot_version = snapshot_version + 1 WHERE chat_id = $1"""
_RUNS_ARCHIVED = "UPDATE chat_state SET archived = true, snapshot_version = snapshot_version + 1 WHERE chat_id = $1"
_OWNED = """
    UPDATE chat_state SET replica_id = $2, runner_id = $3, snapshot_version = snapshot_version + 1 WHERE chat_id = $1"""
_BLOCKED = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pg_blocking_pids(pid) <> '{}'"""
PATIENCE = 20  # real seconds that a test waits for something that must happen
_LONG_BEATING = "UPDATE replicas SET beating_since = now() - interval '1 hour' WHERE id = $1"


class RecordingHints:
    """Keeps what is published. `look` is asked at each moment of publishing, with the topic."""

    def __init__(self) -> None:
        self.published: list[tuple[str, bytes]] = []
        self.seen: list[object] = []
        self.look: Callable[[str], object] | None = None

    def publish(self, topic: str, payload: bytes = b"") -> None:
        self.published.append((topic, payload))
        if self.look is not None:
            self.seen.append(self.look(topic))

    def subscribe(self, topic: str, receive: object) -> Any:
        raise AssertionError("nobody subscribes here")

    @property
    def connected(self) -> bool:
        return True

    async def wait_connected(self) -> None:
        return None

    def forget(self) -> None:
        self.published.clear()
        self.seen.clear()


class Chats(msgspec.Struct, frozen=True):
    """A database with an owner of chats and one replica that may take anything."""

    dsn: str
    sql: SqlStore
    transitions: Transitions
    hints: RecordingHints
    owner: User
    organization_id: UUID
    model_id: UUID
    replica_id: UUID

    def user(self, text: str = "hello") -> NewMessage:
        return NewMessage(role=Role.USER, parts=(TextPart(text=text),), created_by=self.owner.id)

    def new_chat(
        self, *, id: UUID | None = None, parent: UUID | None = None, workspace_id: UUID | None = None
    ) -> NewChat:
        return NewChat(
            id=id or new_id(),
            organization_id=self.organization_id,
            owner_id=self.owner.id,
            model_config_id=self.model_id,
            title="Chat",
            parent_id=parent,
            workspace_id=workspace_id,
            dynamic_tools=f'[{{"name": "{DYNAMIC}"}}]',
        )

    def take(self) -> Take:
        return Take(self.replica_id, new_id())

    async def raw(self, statement: str, *values: object) -> None:
        """Write past the transitions, as nothing in the server can."""
        async with self.sql.transaction() as tx:
            await tx._db.execute("SELECT set_config('chatd.transition', 'test', true)")
            await tx._db.execute(statement, *values)

    async def beat(self, replica_id: UUID, *, host_id: str | None = None) -> None:
        """A replica that has been beating for longer than a lease."""
        await self.sql.beat_replica(
            id=replica_id,
            url="http://localhost",
            host="localhost",
            pid=1,
            version="test",
            host_id=host_id,
            provisioners=None,
        )
        await self.sql._db.execute(_LONG_BEATING, replica_id)

    async def workspace(self, *, host_id: str | None = None) -> UUID:
        """A workspace of the owner, on that machine or on none."""
        known = await self.sql.list_templates(organization_id=self.organization_id)
        template_id = known[0].id if known else await add_template(self.sql)
        return (await add_workspace(self.sql, self.owner, template_id, host_id=host_id)).workspace_id

    async def whole(self, chat_id: UUID) -> str:
        """Everything that is stored of a chat, in one snapshot, for comparing."""
        return await self.sql._db.fetchval(
            """SELECT jsonb_build_object(
                'chat', (SELECT to_jsonb(c) FROM chats c WHERE c.id = $1),
                'state', (SELECT to_jsonb(s) FROM chat_state s WHERE s.chat_id = $1),
                'messages', (SELECT jsonb_agg(m ORDER BY m.id) FROM messages m WHERE m.chat_id = $1),
                'queue', (SELECT jsonb_agg(q ORDER BY q.position, q.id) FROM queued_messages q WHERE q.chat_id = $1),
                'draft', (SELECT to_jsonb(d) FROM chat_drafts d WHERE d.chat_id = $1),
                'files', (SELECT jsonb_agg(f.file_id ORDER BY f.file_id) FROM chat_files f WHERE f.chat_id = $1)
            )::text""",
            chat_id,
        )

    async def look(self, chat_id: UUID) -> dict[str, Any]:
        """As `whole`, to read in; lists are never None."""
        found = msgspec.json.decode(await self.whole(chat_id))
        return {key: [] if value is None and key in _LISTS else value for key, value in found.items()}

    async def texts(self, chat_id: UUID) -> list[str]:
        """The history as people see it: texts, and the ids of calls and of results."""
        return [shown(message) for message in (await self.look(chat_id))["messages"] if not message["deleted"]]

    async def queue(self, chat_id: UUID) -> list[str]:
        return [shown(queued) for queued in (await self.look(chat_id))["queue"]]


_LISTS = {"messages", "queue", "files"}


def shown(message: dict[str, Any]) -> str:
    names = {"tool-call": "call ", "tool-result": "result "}
    return ", ".join(names.get(p["type"], "") + p.get("text", p.get("tool_call_id", "")) for p in message["content"])


def answer(text: str = "", *, calls: Sequence[tuple[str, str]] = (), provider: Sequence[str] = ()) -> NewMessage:
    """An assistant's message; `calls` are (id, tool), `provider` the ids of calls that the provider answers."""
    parts = [TextPart(text=text)] if text or not (calls or provider) else []
    local = [ToolCallPart(tool_call_id=id, tool_name=tool, args="{}") for id, tool in calls]
    remote = [ToolCallPart(tool_call_id=id, tool_name="search", args="{}", provider_executed=True) for id in provider]
    return NewMessage(role=Role.ASSISTANT, parts=(*parts, *local, *remote))


def result(call_id: str, tool: str = DYNAMIC) -> NewMessage:
    return NewMessage(
        role=Role.TOOL, parts=(ToolResultPart(tool_call_id=call_id, tool_name=tool, result='{"ok": true}'),)
    )


def applied(outcome: Outcome | list[Applied]) -> Applied:
    """The outcome of a call that must not be refused."""
    assert not isinstance(outcome, Refused), outcome
    return outcome[0] if isinstance(outcome, list) else outcome


def fence(outcome: Outcome | list[Applied]) -> Fence:
    found = applied(outcome).fence
    assert found is not None
    return found


def refused(outcome: Outcome | list[Applied]) -> Refused:
    assert isinstance(outcome, Refused), outcome
    return outcome


class Prepared(msgspec.Struct, frozen=True):
    """A chat in a known state and what is needed to call anything on it."""

    id: UUID
    fence: Fence
    first_message: int = 0
    waiting: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    holder: UUID = UUID(int=1)


class Shape(msgspec.Struct, frozen=True):
    """How a chat in some state may differ: messages that wait, one that is held, somebody who runs it, an answer."""

    waiting: int = 0
    held: int = 0
    owned: bool = True
    answered: bool = False


@asynccontextmanager
async def open_chats(dsn: str, *, connections: int = 1) -> AsyncIterator[Chats]:
    async with open_pool(dsn, function_schema=shipped_functions().schema, size=connections) as pool:
        sql = SqlStore(pool)
        hints = RecordingHints()
        owner = await add_user(sql, "olga")
        organization_id = await sql._db.fetchval("SELECT id FROM organizations WHERE is_default")
        chats = Chats(dsn, sql, Transitions(sql, hints), hints, owner, organization_id, new_id(), new_id())
        await chats.beat(chats.replica_id)
        yield chats


@asynccontextmanager
async def held_open(chats: Chats) -> AsyncIterator[Any]:
    """A connection of its own within a transaction; what is not committed at the end is undone."""
    connection = await asyncpg.connect(chats.dsn)
    try:
        await connection.execute("BEGIN")
        yield connection
    finally:
        await connection.close()


async def until_blocked(chats: Chats, count: int = 1) -> None:
    """Until so many transitions wait for a lock."""
    async with asyncio.timeout(PATIENCE):
        while await chats.sql._db.fetchval(_BLOCKED) < count:
            pass


async def prepare(chats: Chats, state: State, shape: Shape) -> Prepared:
    """A new chat in this state, by transitions as far as they lead there."""
    do = chats.transitions
    if state is State.N:
        return Prepared(new_id(), Fence(new_id(), new_id(), 1))
    made = applied(await do.create_chat(chats.new_chat(), [chats.user("first")], take=chats.take()))
    id, now = made.change.chat_id, fence(made)
    if shape.answered:
        now = fence(await do.commit_step(now, [answer("answered")]))
    if state in (State.A0, State.A1):
        now = fence(await do.commit_step(now, [answer("thinking", calls=[("c1", DYNAMIC)])]))
    queued = [
        applied(await do.send_message(id, chats.user(f"queued {at}"))).change.queued_id or 0
        for at in range(shape.waiting + shape.held)
    ]
    waiting, held = tuple(queued[: shape.waiting]), tuple(queued[shape.waiting :])
    chat = Prepared(id, now, made.messages[0].id, waiting, held)
    for queued_id in held:
        await do.hold_queued(id, queued_id, holder=chat.holder)
    await _lead(chats, chat, state, shape)
    row = (await chats.look(id))["state"]
    return msgspec.structs.replace(chat, fence=Fence(id, now.runner_id, row["history_version"]))


async def _lead(chats: Chats, chat: Prepared, state: State, shape: Shape) -> None:
    """From running, with its queue, to the state; then to the owner that it should have."""
    do = chats.transitions
    match state:
        case State.W | State.XW:
            applied(await do.finish_turn(chat.fence))
        case State.E0 | State.E1 | State.XE0 | State.XE1:
            applied(await do.finish_error(chat.fence, error=ERROR))
        case State.I0 | State.I1:
            applied(await do.interrupt(chat.id))
        case State.A0 | State.A1:
            applied(await do.enter_requires_action(chat.fence))
        case State.INVALID:
            await chats.raw(_RESTS_WITH_A_QUEUE if shape.waiting else _RUNS_ARCHIVED, chat.id)
        case _:
            pass
    if state in (State.XW, State.XE0, State.XE1):
        applied(await do.archive(chat.id))
    owner = (chats.replica_id, chat.fence.runner_id) if shape.owned else (None, None)
    await chats.raw(_OWNED, chat.id, *owner)
