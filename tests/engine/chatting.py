"""A whole replica with a scripted vendor behind it: chats that really run, and what became of them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from io import StringIO
from typing import Any
from uuid import UUID

import msgspec

from chatd.background import beside
from chatd.clock import Clock, SystemClock
from chatd.core.access import MODEL_KEEPER
from chatd.core.messages import Message, NewMessage
from chatd.core.parts import TextPart, ToolCallPart, ToolResultPart
from chatd.core.provider_kind import ProviderKind
from chatd.core.roles import Role, Visibility
from chatd.core.secret import Secret
from chatd.core.states import Status
from chatd.engine.checkpoints import Checkpoints
from chatd.engine.deployment_settings import DeploymentSettings
from chatd.engine.episodes import Episode, Episodes
from chatd.engine.histories import Histories
from chatd.engine.meter import NO_METER, EngineMeter
from chatd.engine.model_calls import ModelCalls
from chatd.engine.models import Models
from chatd.engine.parts import EngineParts
from chatd.engine.preparing import Preparing
from chatd.engine.runner import ChatRunner
from chatd.engine.tools.registry import EVERYONE, Entry, Registry
from chatd.engine.tools.tool import Tool
from chatd.engine.tools.workspace.entries import workspace_entries
from chatd.engine.worker import Worker, WorkerOptions
from chatd.providers.catalogue import load_catalogue
from chatd.providers.hosts import Outbound
from chatd.providers.transport import Transport, open_transport
from chatd.store import queries
from chatd.store.actor import acting_as
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.chat_hints import chat_topic
from chatd.store.chat_watch import ChatWatch
from chatd.store.cipher import Cipher, EncryptionKey
from chatd.store.encrypted import EncryptedStore
from chatd.store.heartbeat import Lease
from chatd.store.hints import Hints
from chatd.store.queries import GetTurnContextRow
from chatd.store.store import SqlStore, Store
from chatd.store.stored_messages import read_message
from chatd.store.transitions import Applied, NewChat, Transitions
from chatd.testing.fake_clock import FakeClock
from chatd.testing.vendors.script import Script
from chatd.testing.vendors.server import VendorServer, vendor_server
from chatd.workspaces.contexts.contexts import Contexts, Drifted
from chatd.workspaces.resolving import NoWorkspaces, Resolver
from engine.deployment import PATIENCE, Deployment, Notes, applied, new_id, open_deployment, said

MODEL = "scripted-model"
CONTEXT = 1000


class Tools:
    """For every chat."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._registry = Registry(Entry(tool=tool, seats=EVERYONE) for tool in tools)

    async def registry_for(self, chat: GetTurnContextRow) -> Registry:
        return self._registry


class Chatting:
    """`send` is what a client of this replica does."""

    def __init__(
        self,
        deployment: Deployment,
        vendor: VendorServer,
        worker: Worker,
        parts: EngineParts,
        model_id: UUID,
        replica_id: UUID,
        contexts: Contexts | None = None,
    ) -> None:
        self.deployment = deployment
        self._contexts = contexts
        self._replica_id = replica_id
        self.vendor = vendor
        self.worker = worker
        self.parts = parts
        self.model_id = model_id
        self.clock = parts.clock
        self.attempts: list[tuple[int, int]] = []  # of all chats: history version and number
        self._seen = Notes()
        parts.episodes.on_open(self._follow)

    def _follow(self, episode: Episode) -> None:
        self.attempts.append((episode.history_version, episode.attempt))
        episode.listen(self._seen.note)

    @property
    def contexts(self) -> Contexts:
        assert self._contexts is not None
        return self._contexts

    @property
    def fake_clock(self) -> FakeClock:
        assert isinstance(self.clock, FakeClock)
        return self.clock

    async def begin(
        self, text: str = "hello", *, dynamic_tools: str = "[]", system: str = "", workspace_id: UUID | None = None
    ) -> UUID:
        """A new chat, run by this replica at once."""
        chat = NewChat(
            id=new_id(),
            organization_id=self.deployment.organization_id,
            owner_id=self.deployment.user_id,
            model_config_id=self.model_id,
            title="A chat",
            dynamic_tools=dynamic_tools,
            workspace_id=workspace_id,
        )
        rows = [said(text, self.deployment.user_id)]
        if system:
            prompt = NewMessage(role=Role.SYSTEM, parts=(TextPart(text=system),), visibility=Visibility.MODEL)
            rows.insert(0, prompt)
        made = await self.deployment.transitions.create_chat(chat, rows, take=self.worker.new_take())
        self.worker.adopt(applied(made))
        return chat.id

    async def send(self, chat_id: UUID, text: str, *, interrupts: bool = False) -> Applied:
        message = said(text, self.deployment.user_id)
        sent = applied(
            await self.deployment.transitions.send_message(
                chat_id, message, interrupts=interrupts, take=self.worker.new_take()
            )
        )
        self.worker.adopt(sent)
        return sent

    async def look_for_chats(self) -> None:
        """As this replica does every second. Its lease is in the time of the database, which a slow test outlasts."""
        await self.deployment.beat(self._replica_id)
        await self.fake_clock.wait_for("acquire")
        await self.fake_clock.advance(1)

    async def interrupt(self, chat_id: UUID) -> None:
        applied(await self.deployment.transitions.interrupt(chat_id))

    async def streamed(self, chat_id: UUID, text: str) -> None:
        """Until readers of the chat have seen this text."""

        def is_seen() -> bool:
            episode = self.parts.episodes.current(chat_id)
            return episode is not None and text.encode() in b"".join(episode.after(0))

        await self._seen.until(is_seen)

    async def until(self, chat_id: UUID, *statuses: Status) -> dict[str, Any]:
        """Until it is in one of them and nobody runs it, or only in it when that needs a runner."""
        moved = asyncio.Event()
        subscription = self.deployment.hints.subscribe(chat_topic(chat_id), lambda _: moved.set())
        state: dict[str, Any] = {}
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    moved.clear()
                    state = await self.deployment.state(chat_id)
                    rests = state["runner_id"] is None or state["status"] == Status.REQUIRES_ACTION
                    if state["status"] in statuses and rests:
                        await self._let_go(chat_id)
                        return state
                    await moved.wait()
        except TimeoutError:
            parked = self.fake_clock.parked()
            raise AssertionError(f"{state}\nwaits: {parked}\nruns: {self.worker.running}\n{_stacks()}") from None
        finally:
            subscription.close()

    async def _let_go(self, chat_id: UUID) -> None:
        """Until the runner that brought it there has ended too: the database knows first. For a while, because some
        tests keep theirs."""
        for _ in range(200):
            if chat_id not in self.worker.running or self.parts.draining.is_set():
                return
            await SystemClock().sleep(0.005, timer="test")

    async def resting(self, chat_id: UUID) -> dict[str, Any]:
        return await self.until(chat_id, Status.WAITING, Status.ERROR)

    async def messages(self, chat_id: UUID) -> list[Message]:
        """All that are not hidden by an edit, in order."""
        rows = await self.deployment.pool.fetch(
            "SELECT * FROM messages WHERE chat_id = $1 AND NOT deleted ORDER BY id", chat_id
        )
        return [read_message(msgspec.convert(dict(row), queries.Message)) for row in rows]

    async def shown(self, chat_id: UUID) -> list[str]:
        """What people see of it, one line a part."""
        lines: list[str] = []
        for message in await self.messages(chat_id):
            if message.visibility is Visibility.MODEL:
                continue
            for part in message.parts:
                match part:
                    case TextPart(text=text):
                        lines.append(f"{message.role}: {text}")
                    case ToolCallPart(tool_name=name, args=args):
                        lines.append(f"{message.role} calls {name} {args}")
                    case ToolResultPart(tool_name=name, result=result, is_error=is_error):
                        lines.append(f"{name} {'fails' if is_error else 'says'} {result}")
                    case _:
                        lines.append(f"{message.role}: {type(part).__name__}")
        return lines


def _stacks() -> str:
    """Where every task is."""
    written = StringIO()
    for task in asyncio.all_tasks():
        task.print_stack(limit=4, file=written)
    return written.getvalue()


def guarded(sql: SqlStore) -> Store:
    """What a replica uses: layers that ask who is acting, and keep keys encrypted."""
    return AuthorizedStore(EncryptedStore(sql, Cipher([EncryptionKey(b"k" * 32)])), RoleAuthorizer())


def engine_parts(
    store: Store,
    transitions: Transitions,
    hints: Hints,
    transport: Transport,
    clock: Clock,
    tools: Sequence[Tool],
    replica_id: UUID,
    meter: EngineMeter = NO_METER,
    workspaces: Resolver | None = None,
    contexts: Contexts | None = None,
) -> EngineParts:
    models = Models(store, load_catalogue(None), Outbound())
    episodes = Episodes()
    checkpoints = Checkpoints(store, episodes, clock, replica_id=replica_id)
    return EngineParts(
        store=store,
        transitions=transitions,
        watch=ChatWatch(store, hints, clock),
        histories=Histories(store),
        episodes=episodes,
        checkpoints=checkpoints,
        preparing=Preparing(store, models, DeploymentSettings(store), Tools(tools), contexts),
        calls=ModelCalls(transport, clock, meter),
        clock=clock,
        draining=asyncio.Event(),
        meter=meter,
        workspaces=workspaces or NoWorkspaces(),
    )


async def scripted_model(
    store: Store, url: str, kind: ProviderKind, *, context_limit: int = CONTEXT, threshold: int = 70
) -> UUID:
    """A configured model of a provider that is the scripted vendor."""
    provider_id, model_id = new_id(), new_id()
    with acting_as(MODEL_KEEPER):
        await store.insert_provider(
            id=provider_id,
            name="scripted",
            kind=kind,
            display_name="Scripted",
            base_url=url + ("/v1" if kind is not ProviderKind.GOOGLE else ""),
            api_key=Secret("key"),
            options="{}",
            enabled=True,
        )
        await store.insert_model_config(
            id=model_id,
            provider_id=provider_id,
            model=MODEL,
            display_name="",
            enabled=True,
            context_limit=context_limit,
            compression_threshold=threshold,
            options="{}",
            input_price=Decimal(1),
            output_price=Decimal(2),
            cache_read_price=Decimal("0.5"),
            cache_write_price=Decimal(1),
        )
    return model_id


@asynccontextmanager
async def chatting(
    dsn: str,
    script: Script,
    *,
    kind: ProviderKind = ProviderKind.ANTHROPIC,
    tools: Sequence[Tool] = (),
    context_limit: int = CONTEXT,
    threshold: int = 70,
    meter: Callable[[Clock], EngineMeter] = lambda _: NO_METER,
    starts_now: bool = False,
    workspaces: Resolver | None = None,
    drifted: Drifted = lambda _owner, _chat: None,
) -> AsyncIterator[Chatting]:
    """`starts_now`: its clock shows what the database's does, at first; for deadlines that the database sets. With
    `workspaces` and no tools of its own, it has all tools of workspaces."""
    clock = FakeClock(SystemClock().now()) if starts_now else FakeClock()
    async with (
        vendor_server(script, clock=clock, models=[MODEL]) as vendor,
        open_transport() as transport,
        open_deployment(dsn) as made,
    ):
        store = guarded(made.sql)
        model_id = await scripted_model(store, vendor.url, kind, context_limit=context_limit, threshold=threshold)
        transitions = Transitions(store, made.hints)
        replica_id, lease = new_id(), Lease()
        if workspaces is not None and not tools:
            tools = [entry.tool for entry in workspace_entries(store)]
        contexts = Contexts(store, workspaces or NoWorkspaces(), clock, drifted)
        parts = engine_parts(
            store, transitions, made.hints, transport, clock, tools, replica_id, meter(clock), workspaces, contexts
        )
        await made.beat(replica_id)
        worker = Worker(
            store,
            transitions,
            made.hints,
            lease,
            run=ChatRunner(parts),
            clock=clock,
            options=WorkerOptions(replica_id=replica_id),
            draining=parts.draining,
        )
        parts.meter.watch(parts.episodes, lambda: len(worker.running))
        lease.change(True)
        running = {
            "worker": worker.run(),
            "watch": parts.watch.run(),
            "checkpoints": parts.checkpoints.run(),
            "contexts": contexts.run(),
        }
        async with beside(running):
            # Not before it has looked for chats of its own: it would find those that a test is about to hand to it.
            await clock.wait_for("acquire")
            await clock.wait_for("stale-recovery")
            yield Chatting(made, vendor, worker, parts, model_id, replica_id, contexts)
