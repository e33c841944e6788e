"""The routes of the API as one application, which is the same for every replica: what differs comes with a request.

Litestar takes half a second to read the routes, so that a process does it once, however many replicas live in it.
"""

from functools import cache
from typing import Any

import msgspec
from litestar import Litestar
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, SecurityScheme

import chatd
from chatd.server.middleware.asgi_types import Receive, Scope, Send, state
from chatd.server.openapi import PublishedDocument
from chatd.server.problem import litestar_answers
from chatd.server.refused_attempts import REFUSED_ATTEMPTS, RefusedAttempts, note_refused
from chatd.server.routes.asking import PARTS, RouteParts, route_dependencies
from chatd.server.routes.audit import audit_router
from chatd.server.routes.chat_config import chat_config_router
from chatd.server.routes.chat_export import chat_export_router
from chatd.server.routes.chat_messages import chat_messages_router
from chatd.server.routes.chat_queue import chat_queue_router
from chatd.server.routes.chats import chats_router
from chatd.server.routes.costs import costs_router
from chatd.server.routes.files import files_router
from chatd.server.routes.git_providers import git_providers_router
from chatd.server.routes.groups import groups_router
from chatd.server.routes.login import login_router
from chatd.server.routes.models import models_router
from chatd.server.routes.providers import providers_router
from chatd.server.routes.push import push_router
from chatd.server.routes.site import site_router
from chatd.server.routes.templates import templates_router
from chatd.server.routes.tokens import tokens_router
from chatd.server.routes.usage_limits import usage_limits_router
from chatd.server.routes.users import users_router
from chatd.server.routes.workspace_files import workspace_files_router
from chatd.server.routes.workspaces import workspaces_router


class ReplicaRoutes:
    """The application with the parts of one replica."""

    def __init__(self, app: Litestar, parts: RouteParts) -> None:
        self._app = app
        self._given = {
            PARTS: msgspec.structs.asdict(parts),
            REFUSED_ATTEMPTS: RefusedAttempts(parts.store, parts.clock),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _nothing_to_start(receive, send)
            return
        state(scope).update(self._given)
        await self._app(scope, receive, send)  # pyright: ignore[reportArgumentType]


async def _nothing_to_start(receive: Receive, send: Send) -> None:
    """Litestar's own start would make an emitter of events, one per application, which nobody here uses."""
    while True:
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return


@cache
def application() -> Litestar:
    return Litestar(
        route_handlers=[
            users_router,
            login_router,
            tokens_router,
            push_router,
            groups_router,
            site_router,
            audit_router,
            providers_router,
            git_providers_router,
            models_router,
            chat_config_router,
            usage_limits_router,
            files_router,
            costs_router,
            chats_router,
            chat_messages_router,
            chat_export_router,
            chat_queue_router,
            templates_router,
            workspaces_router,
            workspace_files_router,
        ],
        dependencies=route_dependencies(),
        exception_handlers=litestar_answers(),
        after_exception=[note_refused],
        openapi_config=_openapi(),
        # Logs go through structlog.
        logging_config=None,
        # The limit is the middleware's.
        request_max_body_size=None,
        debug=False,
    )


def _openapi() -> OpenAPIConfig:
    bearer = SecurityScheme(type="http", scheme="bearer", description="A session or API token.")
    security: list[dict[str, list[Any]]] = [{"bearer": []}]
    return OpenAPIConfig(
        title="chatd",
        version=chatd.__version__,
        description="A self-hosted server for AI agent chats. Every error has the shape of `Problem`.",
        path="/api",
        render_plugins=[PublishedDocument(path="/openapi.json")],
        components=Components(security_schemes={"bearer": bearer}),
        security=security,
        use_handler_docstrings=True,
    )
