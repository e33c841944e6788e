"""The switches of experiments: what is behind one that is off refuses, and says which."""

from collections.abc import Collection
from typing import Final

from chatd.core.errors import Forbidden
from chatd.server.middleware.asgi_types import App, Receive, Scope, Send

AGENTS: Final = "agents"
# What is behind the switch: chats, where they work, and all that belongs to them.
_PREFIXES: Final = tuple(
    f"/api/experimental/{each}" for each in ("chats", "git-providers", "mcp", "templates", "workspaces")
)


def is_gated(path: str) -> bool:
    return any(path == prefix or path.startswith(f"{prefix}/") for prefix in _PREFIXES)


class ExperimentGate:
    """In front of all routes, the raw ones too, so that none can be forgotten."""

    def __init__(self, app: App, *, experiments: Collection[str]) -> None:
        self._app = app
        self._is_open = AGENTS in experiments

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._is_open and scope["type"] != "lifespan" and is_gated(scope["path"]):
            raise Forbidden(
                f"The experiment {AGENTS} is switched off on this server.",
                detail=f"The operator can switch it on: CHATD_EXPERIMENTS={AGENTS}.",
            )
        await self._app(scope, receive, send)
