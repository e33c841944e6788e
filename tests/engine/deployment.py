"""A database with a person in it, clients that write to chats, and replicas whose runners do as a test says."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg

from chatd.background import beside
from chatd.clock import SystemClock
from chatd.core.messages import NewMessage
from chatd.core.outcomes import Refused
from chatd.core.parts import TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.engine.owned import Owned
from chatd.engine.worker import Worker, WorkerOptions
from chatd.minting import uuid7
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.heartbeat import Lease
from chatd.store.hints import Hint, Hints
from chatd.store.hints.subscribers import Receive, Subscribers, Subscription
from chatd.store.migrate import shipped_functions
from chatd.store.pool import open_pool
from chatd.store.queries import UserRole
from chatd.store.store import SqlStore, Store
from chatd.store.transitions import Applied, Fence, NewChat, Outcome, Take, Transitions
from chatd.testing.fake_clock import FakeClock

PATIENCE = 20  # real seconds that a test waits for something that must happen
LONG_AGO = 60.0  # seconds, several leases


def new_id() -> UUID:
    return uuid7(SystemClock().now())


class LocalHints:
    """Hints within one process, which a test can lose."""

    def __init__(self) -> None:
        self._subscribers = Subscribers()
        self.lost = False
        self.published: list[Hint] = []

    def publish(self, topic: str, payload: bytes = b"") -> None:
        hint = Hint(topic, payload)
        self.published.append(hint)
        if not self.lost:
            self._subscribers.deliver(hint)

    def deliver(self, hint: Hint) -> None:
        self._subscribers.deliver(hint)

    def gap(self) -> None:
        self._subscribers.gap()

    def subscribe(self, topic: str, receive: Receive) -> Subscription:
        return self._subscribers.add(topic, receive)

    @property
    def connected(self) -> bool:
        return not self.lost

    async def wait_connected(self) -> None: ...


def said(text: str, user_id: UUID) -> NewMessage:
    return NewMessage(role=Role.USER, parts=(TextPart(text=text),), created_by=user_id)


def answer(text: str, *, calls: Sequence[str] = ()) -> NewMessage:
    parts = (TextPart(text=text), *(ToolCallPart(tool_call_id=call, tool_name="look", args="{}") for call in calls))
    return NewMessage(role=Role.ASSISTANT, parts=parts)


def result(call: str) -> NewMessage:
    return NewMessage(role=Role.TOOL, parts=(ToolResultPart(tool_call_id=call, tool_name="look", result='"seen"'),))


def applied(outcome: Outcome) -> Applied:
    assert not isinstance(outcome, Refused), outcome
    return outcome


class Deployment:
    """`transitions` are a client's; `guarded` is the store that a replica uses, which asks who is acting."""

    def __init__(self, pool: Any, sql: SqlStore, hints: Hints, user_id: UUID, organization_id: UUID, dsn: str) -> None:
        self.pool = pool
        self.sql = sql
        self.hints = hints
        self.user_id = user_id
        self.organization_id = organization_id
        self.dsn = dsn
        self.transitions = Transitions(sql, hints)
        self.guarded: Store = AuthorizedStore(sql, RoleAuthorizer())

    async def new_chat(self, text: str = "hello", *, parent_id: UUID | None = None, take: Take | None = None) -> UUID:
        chat = NewChat(
            id=new_id(),
            organization_id=self.organization_id,
            owner_id=self.user_id,
            model_config_id=new_id(),
            title="A chat",
            parent_id=parent_id,
            dynamic_tools='[{"name": "ask"}]',
        )
        applied(await self.transitions.create_chat(chat, [said(text, self.user_id)], take=take))
        return chat.id

    async def idle_chat(self) -> UUID:
        """A chat whose first turn is over."""
        take = Take(new_id(), new_id())
        chat_id = await self.new_chat("hello", take=take)
        state = await self.state(chat_id)
        fence = Fence(chat_id, take.runner_id, state["history_version"])
        applied(await self.transitions.commit_step(fence, [answer("hi")], finish=True))
        return chat_id

    async def state(self, chat_id: UUID) -> dict[str, Any]:
        row = await self.pool.fetchrow("SELECT * FROM chat_state WHERE chat_id = $1", chat_id)
        return dict(row)

    async def texts(self, chat_id: UUID) -> list[str]:
        """Every message that is not hidden, in order: the text of it, or what its result says."""
        rows = await self.pool.fetch(
            "SELECT role, content FROM messages WHERE chat_id = $1 AND NOT deleted ORDER BY id", chat_id
        )
        return [f"{row['role']}: {row['content']}" for row in rows]

    async def beat(self, replica_id: UUID, *, beating_for: float = LONG_AGO) -> None:
        """A replica lives and has done so for a while."""
        await self.sql.beat_replica(
            id=replica_id, url="", host="test", pid=1, version="1", host_id=None, provisioners=None
        )
        await self.pool.execute(
            "UPDATE replicas SET beating_since = now() - make_interval(secs => $2) WHERE id = $1",
            replica_id,
            beating_for,
        )

    async def silence(self, *replica_ids: UUID, seconds: float = LONG_AGO) -> None:
        """As if these had not beaten for so long."""
        await self.pool.execute(
            "UPDATE replicas SET heartbeat_at = now() - make_interval(secs => $2) WHERE id = ANY ($1)",
            replica_ids,
            seconds,
        )

    async def raw(self, statement: str, *values: object) -> None:
        """Write past the transitions, as nothing in the server can."""
        async with self.pool.acquire() as connection, connection.transaction():
            await connection.execute("SELECT set_config('chatd.transition', 'test', true)")
            await connection.execute(statement, *values)

    async def owner(self, chat_id: UUID) -> UUID | None:
        return (await self.state(chat_id))["replica_id"]


@asynccontextmanager
async def open_deployment(dsn: str, hints: Hints | None = None) -> AsyncIterator[Deployment]:
    async with open_pool(dsn, function_schema=shipped_functions().schema, size=8) as pool:
        sql = SqlStore(pool)
        user = await sql.insert_user(
            id=new_id(),
            email="olga@example.com",
            username="olga",
            display_name="",
            password_hash="x",
            role=UserRole.OWNER,
        )
        organization = await sql.get_default_organization()
        yield Deployment(pool, sql, hints or LocalHints(), user.id, organization.id, dsn)


class Notes:
    """What happened, and a way to wait for it."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def note(self) -> None:
        self._changed.set()

    async def until(self, reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not reached():
                self._changed.clear()
                await self._changed.wait()


class Script(Notes):
    """A runner that notes what it is given and then does what the test says: by default, wait to be cancelled."""

    def __init__(self, act: Callable[[Owned], Awaitable[None]] | None = None) -> None:
        super().__init__()
        self._act = act
        self.started: list[Owned] = []
        self.running: dict[UUID, Owned] = {}
        self.cancelled: list[UUID] = []

    async def __call__(self, owned: Owned) -> None:
        assert owned.chat_id not in self.running, "two runners of one chat"
        self.started.append(owned)
        self.running[owned.chat_id] = owned
        self.note()
        try:
            await (self._act(owned) if self._act else asyncio.Event().wait())
        except asyncio.CancelledError:
            self.cancelled.append(owned.chat_id)
            raise
        finally:
            del self.running[owned.chat_id]
            self.note()

    async def until_running(self, *chat_ids: UUID) -> None:
        await self.until(lambda: set(self.running) == set(chat_ids))


class Replica:
    """One worker on a fake clock. The test holds its lease."""

    def __init__(self, id: UUID, worker: Worker, lease: Lease, script: Script, clock: FakeClock) -> None:
        self.id = id
        self.worker = worker
        self.lease = lease
        self.script = script
        self.clock = clock

    async def settled(self) -> None:
        """Until the worker has done what it had to and waits for its timers."""
        await self.clock.wait_for("acquire")
        await self.clock.wait_for("stale-recovery")

    async def pass_time(self, seconds: float) -> None:
        """Second by second, so that nothing is late that talks to the database."""
        for _ in range(round(seconds)):
            await self.settled()
            await self.clock.advance(1)
        await self.settled()


@asynccontextmanager
async def replica(
    deployment: Deployment,
    script: Script | None = None,
    *,
    transitions: Transitions | None = None,
    beating_for: float = LONG_AGO,
    batch_size: int = 10,
    root_capacity: int | None = None,
    child_capacity: int | None = None,
    held: bool = True,
) -> AsyncIterator[Replica]:
    """A replica of its own clock, running."""
    id, lease, clock, script = new_id(), Lease(), FakeClock(), script or Script()
    await deployment.beat(id, beating_for=beating_for)
    worker = Worker(
        deployment.guarded,
        transitions or Transitions(deployment.guarded, deployment.hints),
        deployment.hints,
        lease,
        run=script,
        clock=clock,
        options=WorkerOptions(
            replica_id=id, batch_size=batch_size, root_capacity=root_capacity, child_capacity=child_capacity
        ),
    )
    lease.change(held)
    async with beside({"worker": worker.run()}):
        made = Replica(id, worker, lease, script, clock)
        await made.settled()
        yield made


async def connection_to(dsn: str) -> "asyncpg.Connection[asyncpg.Record]":
    return await asyncpg.connect(dsn)
