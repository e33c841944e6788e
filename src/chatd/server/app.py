"""The HTTP application: routes, what they are given, and the middleware around them."""

from typing import Any
from uuid import UUID

import msgspec
from litestar import Litestar
from litestar.config.app import AppConfig
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

import chatd
from chatd.clock import Clock
from chatd.server.accounts import Accounts
from chatd.server.problem import litestar_answers
from chatd.server.routes import asking
from chatd.server.routes.groups import groups_router
from chatd.server.routes.login import login_router
from chatd.server.routes.pages import welcome_page, welcome_style
from chatd.server.routes.site import site_router
from chatd.server.routes.tokens import tokens_router
from chatd.server.routes.users import users_router
from chatd.server.versions import Versions
from chatd.store.store import Store
from chatd.wire.users import BuildInfo


class AppParts(msgspec.Struct, frozen=True):
    """What the routes need; `compose.py` makes it."""

    store: Store
    accounts: Accounts
    versions: Versions
    clock: Clock
    organization_id: UUID
    secure_cookies: bool
    build_info: BuildInfo


def build_app(parts: AppParts) -> Litestar:
    def give(value: object) -> Provide:
        return Provide(lambda: value, sync_to_thread=False, use_cache=True)

    return Litestar(
        route_handlers=[
            users_router,
            login_router,
            tokens_router,
            groups_router,
            site_router,
            welcome_page,
            welcome_style,
        ],
        dependencies={
            "store": give(parts.store),
            "accounts": give(parts.accounts),
            "versions": give(parts.versions),
            "clock": give(parts.clock),
            "organization_id": give(parts.organization_id),
            "secure_cookies": give(parts.secure_cookies),
            "build_info": give(parts.build_info),
            "person": Provide(asking.asking_person, sync_to_thread=False),
            "client": Provide(asking.asking_client, sync_to_thread=False),
        },
        exception_handlers=litestar_answers(),
        openapi_config=_openapi(),
        # Litestar's own logging and state are not used: structlog and AppParts are.
        logging_config=None,
        # The limit is the middleware's.
        request_max_body_size=None,
        on_app_init=[_quiet],
    )


def _quiet(config: AppConfig) -> AppConfig:
    config.debug = False
    return config


def _openapi() -> OpenAPIConfig:
    bearer = SecurityScheme(type="http", scheme="bearer", description="A session or API token.")
    security: list[dict[str, list[Any]]] = [{"bearer": []}]
    return OpenAPIConfig(
        title="chatd",
        version=chatd.__version__,
        description="A self-hosted server for AI agent chats. Every error has the shape of `Problem`.",
        path="/api",
        render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        components=Components(security_schemes={"bearer": bearer}),
        security=security,
        use_handler_docstrings=True,
    )
