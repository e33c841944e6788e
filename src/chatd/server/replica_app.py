"""A replica's HTTP application: routes, health, and the middleware around both."""

from collections.abc import Iterator
from contextlib import contextmanager

import chatd
from chatd.core.access import WATCHER, Person
from chatd.core.file_types import MOST_BYTES
from chatd.diffs.asking import DiffFinder
from chatd.server.app import ReplicaRoutes, application
from chatd.server.asgi import MiddlewareOptions, with_middleware
from chatd.server.chat_config import ChatConfig
from chatd.server.chats.chats import chats_of
from chatd.server.compose import Replica
from chatd.server.download_links import DownloadLinks
from chatd.server.git_providers import GitProviders
from chatd.server.git_stream.route import GitSource, GitStreamRoutes
from chatd.server.middleware.asgi_types import App, Scope, client_address, state
from chatd.server.middleware.authentication import Credentials, find_credentials, session_cookie_name
from chatd.server.middleware.costly_requests import CostlyLimits
from chatd.server.middleware.experiments import ExperimentGate
from chatd.server.model_configs import ModelConfigs
from chatd.server.providers import Providers
from chatd.server.push import PushSubscribing
from chatd.server.queued_chats import QueuedChats
from chatd.server.routes.asking import RouteParts
from chatd.server.routes.files import FILES_PATH
from chatd.server.routes.health import HealthRoutes
from chatd.server.routes.workspace_files import UPLOAD_PATH
from chatd.server.serving import Draining
from chatd.server.settings import Settings
from chatd.server.stream.route import SignedIn, StreamRoutes
from chatd.server.watch.route import WatchRoutes
from chatd.server.web.files import web_files
from chatd.server.web.routes import WebRoutes
from chatd.server.workspaces.all_workspaces import workspaces_of
from chatd.server.workspaces.log_route import LogRoutes
from chatd.server.workspaces.terminal_route import TerminalRoutes
from chatd.store.actor import Origin, acting_as, asking_from
from chatd.wire.users import BuildInfo


async def replica_app(replica: Replica, settings: Settings, *, draining: Draining, public_url: str) -> App:
    store = replica.opened.store
    with acting_as(WATCHER):
        organization = await store.get_default_organization()
    models = ModelConfigs(store, replica.catalogue, replica.clock)
    parts = RouteParts(
        store=store,
        accounts=replica.accounts,
        providers=Providers(
            store,
            replica.catalogue,
            replica.transport,
            replica.outbound,
            replica.clock,
            replica.opened.metrics.engine,
        ),
        model_configs=models,
        chat_config=ChatConfig(store, models),
        chats=chats_of(
            store,
            replica.engine,
            replica.models,
            replica.hints,
            replica.clock,
            organization.id,
            DiffFinder(store, replica.diffs, replica.workspaces.resolver, replica.clock),
        ),
        links=DownloadLinks(store, replica.opened.cipher, replica.clock),
        workspaces=workspaces_of(store, replica.workspaces, replica.clock, organization.id),
        git_providers=GitProviders(store, replica.diffs.session, replica.clock, replica.diffs.pulls.hurry),
        push=PushSubscribing(store, replica.push, replica.versions, replica.clock),
        versions=replica.versions,
        clock=replica.clock,
        organization_id=organization.id,
        secure_cookies=public_url.startswith("https:"),
        build_info=BuildInfo(
            version=chatd.__version__,
            external_url=public_url,
            deployment_id=str(organization.id),
            experiments=sorted(settings.experiments),
            webpush_public_key=replica.push.public_key,
        ),
    )

    async def recognize(scope: Scope) -> SignedIn | None:
        credentials = find_credentials(scope, cookie=session_cookie_name(parts.secure_cookies))
        known = credentials and await replica.identity.signed_in(credentials.token.reveal())
        return known and SignedIn(*known)

    async def database() -> str | None:
        await store.ping()
        return None

    streams = StreamRoutes(
        ReplicaRoutes(application(), parts), store, replica.engine.parts, replica.engine.relay, replica.hints, recognize
    )
    replica.opened.metrics.streams.watch_streams(lambda: len(streams.keeper))
    draining.on_begin(streams.keeper.end_all)
    replica.versions.on_change("auth", streams.keeper.check_rights)
    watch = WatchRoutes(streams, parts.chats.reading, replica.hints, replica.clock, streams.keeper, recognize)
    git = GitStreamRoutes(
        watch,
        GitSource(store, replica.workspaces.resolver, replica.diffs.keeper, replica.clock),
        streams.keeper,
        recognize,
    )
    clock, keeper = replica.clock, streams.keeper
    logs = LogRoutes(git, parts.workspaces.reading, replica.hints, clock, keeper, recognize)
    reaching, most = parts.workspaces.reaching, settings.terminals_per_user
    terminals = TerminalRoutes(logs, reaching, clock, keeper, recognize, most=most)
    outermost = HealthRoutes(
        WebRoutes(ExperimentGate(terminals, experiments=settings.experiments), web_files()),
        clock=replica.clock,
        metrics=replica.opened.metrics,
        checks={"draining": draining.check, "database": database},
        notes=replica.workspaces.notes,
        before_metrics=QueuedChats(store, replica.opened.metrics.engine, replica.clock).count,
    )

    async def authenticate(credentials: Credentials) -> Person | None:
        return await replica.identity.authenticate(credentials.token.reveal())

    options = MiddlewareOptions(
        clock=replica.clock,
        metrics=replica.opened.metrics,
        authenticate=authenticate,
        acting=_acting,
        public_url=public_url,
        allowed_hosts=settings.allowed_hosts,
        trusted_proxies=settings.trusted_proxies,
        body_limit=settings.body_limit,
        body_limits={
            FILES_PATH: max(MOST_BYTES, settings.body_limit),
            UPLOAD_PATH: max(settings.workspace_upload_limit, settings.body_limit),
        },
        requests_per_minute=settings.requests_per_minute,
        costly=CostlyLimits(
            inference=settings.inference_per_minute,
            uploads=settings.uploads_per_minute,
            upload_bytes=settings.upload_bytes_per_minute,
            searches=settings.searches_per_minute,
            exports=settings.exports_per_minute,
            workspace_upload=settings.workspace_upload_limit,
        ),
    )
    return with_middleware(outermost, options)


@contextmanager
def _acting(person: Person | None, scope: Scope) -> Iterator[None]:
    origin = Origin(state(scope).get("request_id", ""), client_address(scope))
    with acting_as(person), asking_from(origin):
        yield
