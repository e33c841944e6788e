"""chatd's engine behind the same bare front as the floors: a message starts a turn, and its sender reads live parts."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from decimal import Decimal
from uuid import UUID

from aiohttp import web

from chatd.background import beside
from chatd.clock import SystemClock
from chatd.core.access import MODEL_KEEPER, Person
from chatd.core.access import Role as UserRole
from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.provider_kind import ProviderKind
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.engine.checkpoints import Checkpoints
from chatd.engine.deployment_settings import DeploymentSettings
from chatd.engine.episodes import Episode, Episodes
from chatd.engine.histories import Histories
from chatd.engine.model_calls import ModelCalls
from chatd.engine.models import Models
from chatd.engine.parts import EngineParts
from chatd.engine.preparing import Preparing
from chatd.engine.runner import ChatRunner
from chatd.engine.tools.registry import Registry
from chatd.engine.worker import Worker, WorkerOptions
from chatd.minting import uuid7
from chatd.observe.metrics import Metrics
from chatd.providers.catalogue import load_catalogue
from chatd.providers.hosts import Outbound
from chatd.providers.transport import open_transport
from chatd.store import queries
from chatd.store.actor import acting_as
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.chat_watch import ChatWatch
from chatd.store.cipher import Cipher, EncryptionKey
from chatd.store.encrypted import EncryptedStore
from chatd.store.heartbeat import Lease, ReplicaRow, beating, dial
from chatd.store.hints import open_hints
from chatd.store.metered import MeteredStore
from chatd.store.migrate import shipped_functions
from chatd.store.pool import open_pool
from chatd.store.store import SqlStore, Store
from chatd.store.transitions import Applied, NewChat, Transitions


class _NoTools:
    def __init__(self) -> None:
        self._registry = Registry([])

    async def registry_for(self, chat: queries.GetTurnContextRow) -> Registry:
        return self._registry


class Engine:
    """`turn` is one reader of the turn that it starts."""

    def __init__(
        self, worker: Worker, transitions: Transitions, episodes: Episodes, person: Person, organization_id: UUID
    ) -> None:
        self._worker = worker
        self._transitions = transitions
        self._person = person
        self._organization_id = organization_id
        self._waiting: dict[UUID, _Reader] = {}
        self.models: dict[str, UUID] = {}
        episodes.on_open(self._opened)

    def _opened(self, episode: Episode) -> None:
        reader = self._waiting.get(episode.chat_id)
        if reader is not None:
            reader.follow(episode)

    async def begin(self, request: web.Request) -> web.Response:
        """A new chat; its first turn is its readers' too."""
        chat = NewChat(
            id=UUID(request.match_info["chat"]),
            organization_id=self._organization_id,
            owner_id=self._person.user_id,
            model_config_id=self.models[request.match_info["pace"]],
            title="bench",
        )
        with acting_as(self._person):
            made = await self._transitions.create_chat(chat, [self._said("hello")], take=self._worker.new_take())
        assert isinstance(made, Applied)
        if "unread" in request.query:
            self._worker.adopt(made)
            return web.Response()
        reader = self._waiting[chat.id] = _Reader()
        self._worker.adopt(made)
        while await reader.next() is not None:
            pass
        return web.Response()

    async def turn(self, request: web.Request) -> web.StreamResponse:
        chat_id, text = UUID(request.match_info["chat"]), await request.text()
        reader = self._waiting[chat_id] = _Reader()
        message = self._said(text, self.models[request.match_info["pace"]])
        with acting_as(self._person):
            sent = await self._transitions.send_message(chat_id, message, take=self._worker.new_take())
        assert isinstance(sent, Applied)
        self._worker.adopt(sent)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        while (parts := await reader.next()) is not None:
            await response.write(b"".join([b"data: %b\n\n" % part for part in parts]))
        await response.write_eof()
        del self._waiting[chat_id]
        return response

    def _said(self, text: str, model_id: UUID | None = None) -> NewMessage:
        return NewMessage(
            role=Role.USER, parts=(TextPart(text=text),), created_by=self._person.user_id, model_config_id=model_id
        )


class _Reader:
    """Follows the one episode of a plain turn."""

    def __init__(self) -> None:
        self._episode: Episode | None = None
        self._seen = 0
        self._woken: asyncio.Future[None] | None = None

    def follow(self, episode: Episode) -> None:
        self._episode = episode
        episode.listen(self._wake)

    async def next(self) -> list[bytes] | None:
        """What came since; None when the turn is over."""
        while True:
            episode = self._episode
            if episode is not None:
                if parts := episode.after(self._seen):
                    self._seen += len(parts)
                    return parts
                if episode.is_closed:
                    return None
            self._woken = asyncio.get_running_loop().create_future()
            await self._woken

    def _wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)


async def prepare(dsn: str, vendor: str, paces: list[str]) -> None:
    """A person, and a model for each pace of the vendor."""
    async with open_pool(dsn, function_schema=shipped_functions().schema, size=1) as pool:
        sql = SqlStore(pool)
        await sql.insert_user(
            id=_id(),
            email="a@example.com",
            username="ada",
            display_name="",
            password_hash="",
            role=queries.UserRole.OWNER,
        )
        with acting_as(MODEL_KEEPER):
            for pace in paces:
                await _add_model(_layered(sql, None), f"{vendor}/{pace}/v1", pace)


async def _add_model(store: Store, url: str, name: str) -> None:
    provider_id = _id()
    await store.insert_provider(
        id=provider_id,
        name=f"pace-{name}",
        kind=ProviderKind.OPENAI_COMPAT,
        display_name="Vendor",
        base_url=url,
        api_key=Secret("a-key-of-the-bench"),
        options="{}",
        enabled=True,
    )
    await store.insert_model_config(
        id=_id(),
        provider_id=provider_id,
        model="m",
        display_name=name,
        enabled=True,
        context_limit=1_000_000,
        compression_threshold=70,
        options="{}",
        input_price=Decimal(1),
        output_price=Decimal(2),
        cache_read_price=None,
        cache_write_price=None,
    )


def _layered(sql: SqlStore, metrics: Metrics | None) -> Store:
    """The layers of a server."""
    counted: Store = sql if metrics is None else MeteredStore(sql, metrics)
    return AuthorizedStore(EncryptedStore(counted, Cipher([EncryptionKey(b"k" * 32)])), RoleAuthorizer())


@asynccontextmanager
async def open_engine(dsn: str) -> AsyncGenerator[Engine]:
    clock, schema, replica_id = SystemClock(), shipped_functions().schema, _id()
    row = ReplicaRow(replica_id, "", "bench", os.getpid(), "1")
    async with (
        open_pool(dsn, function_schema=schema, size=10) as pool,
        open_hints(None, dsn=lambda: dsn, clock=clock) as hints,
        open_transport() as transport,
        beating(lambda: dial(dsn, row, function_schema=schema), clock=clock, thread_clock=clock) as lease,
    ):
        await _held(lease)
        await hints.wait_connected()
        sql = SqlStore(pool)
        store = _layered(sql, Metrics())
        transitions = Transitions(store, hints)
        episodes = Episodes()
        checkpoints = Checkpoints(store, episodes, clock, replica_id=replica_id)
        models = Models(store, load_catalogue(None), Outbound())
        parts = EngineParts(
            store=store,
            transitions=transitions,
            watch=ChatWatch(store, hints, clock),
            histories=Histories(store),
            episodes=episodes,
            checkpoints=checkpoints,
            preparing=Preparing(store, models, DeploymentSettings(store), _NoTools()),
            calls=ModelCalls(transport, clock),
            clock=clock,
            draining=asyncio.Event(),
        )
        worker = Worker(
            store,
            transitions,
            hints,
            lease,
            run=ChatRunner(parts),
            clock=clock,
            options=WorkerOptions(replica_id=replica_id),
        )
        user = await pool.fetchrow("SELECT id FROM users WHERE username = 'ada'")
        organization = await sql.get_default_organization()
        assert user is not None
        person = Person(user["id"], UserRole.OWNER, "ada")
        engine = Engine(worker, transitions, episodes, person, organization.id)
        for model in await pool.fetch("SELECT id, display_name FROM model_configs"):
            engine.models[model["display_name"]] = model["id"]
        async with beside({"worker": worker.run(), "watch": parts.watch.run(), "checkpoints": checkpoints.run()}):
            yield engine


async def _held(lease: Lease) -> None:
    held = asyncio.Event()
    lease.on_change(lambda won: held.set() if won else None)
    if not lease.held:
        await held.wait()


def _id() -> UUID:
    return uuid7(SystemClock().now())
