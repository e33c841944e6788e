"""Builds the engine of a replica and keeps it running: worker, runners, checkpoints, work around turns."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from socket import socket
from uuid import UUID

import msgspec

from chatd.background import beside
from chatd.clock import Clock
from chatd.core.push_message import PushMessage
from chatd.core.turn_settings import ModelContext
from chatd.engine.around import NO_VISITS, SideWork, Visits
from chatd.engine.checkpoints import Checkpoints
from chatd.engine.deployment_settings import DeploymentSettings
from chatd.engine.drop_warnings import DropWarnings
from chatd.engine.episodes import Episodes
from chatd.engine.histories import Histories
from chatd.engine.meter import EngineMeter
from chatd.engine.model_calls import ModelCalls
from chatd.engine.models import Models
from chatd.engine.parts import EngineParts
from chatd.engine.preparing import Preparing
from chatd.engine.recent_messages import RecentMessages
from chatd.engine.runner import ChatRunner
from chatd.engine.short_answers import ShortAnswers
from chatd.engine.side_costs import SideCosts
from chatd.engine.side_jobs import SideJobs
from chatd.engine.spending import Spending
from chatd.engine.titles import TitleMade, Titles
from chatd.engine.tools.registry import Registry
from chatd.engine.tools.workspace.entries import lifecycle_entries, workspace_entries
from chatd.engine.turn_ends import LabelMade, SummaryMade, TurnEnds
from chatd.engine.worker import Worker, WorkerOptions
from chatd.observe.stream_metrics import StreamMetrics
from chatd.providers.transport import Transport
from chatd.server.middleware.experiments import AGENTS
from chatd.server.relay.credentials import load_credentials
from chatd.server.relay.listener import RelayListener
from chatd.server.relay.relay import Relay, dialling
from chatd.server.search_index import SearchIndex
from chatd.server.settings import Settings
from chatd.server.versions import Versions
from chatd.store.chat_watch import ChatWatch
from chatd.store.heartbeat import Lease
from chatd.store.hints import Hints
from chatd.store.owner_hints import OwnerEvent, OwnerEventKind, owner_topic
from chatd.store.queries import GetTurnContextRow
from chatd.store.store import Store
from chatd.store.transitions import Applied, Transitions
from chatd.workspaces.contexts.contexts import Contexts
from chatd.workspaces.resolving import NoWorkspaces
from chatd.workspaces.running import Workspaces


class Engine(msgspec.Struct, frozen=True):
    """What the rest of a replica asks of it. `transitions` are for requests: they act as who asks."""

    worker: Worker
    parts: EngineParts
    transitions: Transitions
    spending: Spending
    titles: Titles
    deployment: DeploymentSettings
    relay: Relay
    contexts: Contexts | None = None


async def drained(engine: Engine, seconds: float) -> None:
    """Steps under way are finished, for so long; the rest is kept for whoever goes on with it."""
    await engine.worker.drain(seconds, before_cancel=engine.parts.checkpoints.flush)


class _BuiltIn:
    """The tools that every chat can have."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    async def registry_for(self, chat: GetTurnContextRow) -> Registry:
        return self._registry


@asynccontextmanager
async def running_engine(
    store: Store,
    hints: Hints,
    lease: Lease,
    *,
    settings: Settings,
    versions: Versions,
    models: Models,
    transport: Transport,
    clock: Clock,
    replica_id: UUID,
    meter: EngineMeter,
    push: Callable[[UUID, PushMessage], None],
    relay_socket: socket,
    metrics: StreamMetrics,
    workspaces: Workspaces | None = None,
    visits: Visits = NO_VISITS,
) -> AsyncIterator[Engine]:
    """Runs chats while the block runs. At its end steps under way are finished, for a while, and chats handed over.

    Without `workspaces` no chat has one, nor the tools that need one. `visits` are told which turns work in them.
    """
    draining = asyncio.Event()
    recent, drops = RecentMessages(), DropWarnings(clock)
    index = SearchIndex(store, clock)

    def told(applied: Applied) -> None:
        recent.note(applied)
        index.note(applied)

    transitions = Transitions(store, hints, told=told)
    watch, episodes = ChatWatch(store, hints, clock), Episodes(drops)
    deployment, spending = DeploymentSettings(store), Spending(store, clock)
    versions.on_change("settings", deployment.forget)
    versions.on_change("usage_limits", spending.forget)
    checkpoints = Checkpoints(store, episodes, clock, replica_id=replica_id)

    async def for_titles() -> UUID | None:
        override = (await deployment.load()).overrides.get(ModelContext.TITLE_GENERATION)
        return override and override.model_config_id

    jobs = SideJobs(clock=clock)
    calls = ModelCalls(transport, clock, meter)
    answers = ShortAnswers(models, calls=calls, costs=SideCosts(store), clock=clock, override=for_titles, meter=meter)
    announcing = _Announcing(hints)
    contexts = None if workspaces is None else Contexts(store, workspaces.resolver, clock, announcing.drift)
    titles = Titles(jobs, store, answers, announcing.title)
    ends = TurnEnds(
        jobs,
        store,
        answers,
        clock=clock,
        on_label=announcing.label,
        on_summary=announcing.summary,
        push=push,
        newest_title=titles.laid_over,
    )
    built_in = Registry()
    if workspaces is not None:
        lifecycle = lifecycle_entries(store, transitions, workspaces.lifecycle)
        built_in = Registry((*workspace_entries(store), *lifecycle))
    parts = EngineParts(
        store=store,
        transitions=transitions,
        watch=watch,
        histories=Histories(store),
        episodes=episodes,
        checkpoints=checkpoints,
        preparing=Preparing(store, models, deployment, _BuiltIn(built_in), contexts),
        calls=calls,
        clock=clock,
        around=SideWork(titles, ends),
        draining=draining,
        meter=meter,
        recent=recent,
        drops=drops,
        visits=visits,
        workspaces=NoWorkspaces() if workspaces is None else workspaces.resolver,
    )
    worker = Worker(
        store,
        transitions,
        hints,
        lease,
        run=ChatRunner(parts),
        clock=clock,
        options=WorkerOptions(
            replica_id=replica_id,
            batch_size=settings.chat_acquire_batch_size,
            root_capacity=settings.chat_root_capacity,
            child_capacity=settings.chat_child_capacity,
        ),
        draining=draining,
    )
    versions.on_change("auth", worker.look_again)
    meter.watch(episodes, lambda: len(worker.running))
    credentials = await load_credentials(store, replica_id)
    listener = RelayListener(relay_socket, credentials.listening, episodes, clock, metrics)
    relay = Relay(replica_id, dialling(store, credentials.dialling), clock, metrics, drops)
    metrics.watch_relay(theirs=lambda: listener.connections, ours=lambda: relay.peers)
    running = {
        "relay listener": listener.run(),  # to the end of the drain: others show what is finished then
        "relay": relay.run(),
        "watch chats": watch.run(),
        "checkpoints": checkpoints.run(),
        "side jobs": jobs.run(),
        "search index": index.run(),
    }
    if contexts is not None:
        running["workspace contexts"] = contexts.run()
    if AGENTS in settings.experiments:
        running["worker"] = worker.run()
    async with beside(running):
        engine = Engine(worker, parts, transitions, spending, titles, deployment, relay, contexts)
        yield engine
        await drained(engine, settings.drain_seconds)


class _Announcing:
    """Tells the owner's clients of what was made around a turn."""

    def __init__(self, hints: Hints) -> None:
        self._hints = hints

    def title(self, made: TitleMade) -> None:
        self._publish(made.owner_id, OwnerEvent(OwnerEventKind.TITLE, made.chat_id, made.title))

    def label(self, made: LabelMade) -> None:
        self._publish(made.owner_id, OwnerEvent(OwnerEventKind.LABEL, made.chat_id, made.label))

    def summary(self, made: SummaryMade) -> None:
        self._publish(made.owner_id, OwnerEvent(OwnerEventKind.SUMMARY, made.chat_id, made.summary))

    def drift(self, owner_id: UUID, chat_id: UUID) -> None:
        self._publish(owner_id, OwnerEvent(OwnerEventKind.CONTEXT, chat_id, None))

    def _publish(self, owner_id: UUID, event: OwnerEvent) -> None:
        self._hints.publish(owner_topic(owner_id), event.encode())
