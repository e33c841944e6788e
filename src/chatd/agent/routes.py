"""The route table: which function answers which method and path."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final

import msgspec

from chatd.agent.refusals import Refused
from chatd.agent.request import Request
from chatd.agent.response import Response
from chatd.agent.websocket import SocketRoute
from chatd.core.errors import NotFound

Answering = Callable[[Request], Awaitable[Response]]

DEADLINE_SECONDS: Final = 60.0  # for a route that does not wait on purpose; a slow disk is slow, not dead


class Route(msgspec.Struct, frozen=True):
    """`path` may have arguments in braces: `/processes/{id}/output`; each is one segment.

    A `fenced` route changes something: asked in the name of a chat, it wants the ownership epoch, and an older one than
    the newest seen is refused. `deadline_seconds` is for the whole exchange, the client's reading included; None for
    answers of any length.
    """

    method: str
    path: str
    answer: Answering
    fenced: bool = False
    deadline_seconds: float | None = DEADLINE_SECONDS


class RouteTable:
    """Finds the route for a request, and for a WebSocket."""

    def __init__(self, routes: Iterable[Route], sockets: Iterable[SocketRoute] = ()) -> None:
        self._sockets = [(re.compile(_pattern(route.path)), route) for route in sockets]
        self._routes = [(re.compile(_pattern(route.path)), route) for route in routes]

    def find(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        """The route and the arguments in its path. Raises NotFound, or Refused (405) when only the method differs."""
        others: list[str] = []
        for pattern, route in self._routes:
            if (found := pattern.fullmatch(path)) is not None:
                if route.method == method:
                    return route, found.groupdict()
                others.append(route.method)
        if others:
            raise Refused(f"This address takes {', '.join(sorted(set(others)))}, not {method}.", status=405)
        raise NotFound("This address")

    def find_socket(self, path: str) -> tuple[SocketRoute, str]:
        """The route and the argument in its path. Raises NotFound."""
        for pattern, route in self._sockets:
            if (found := pattern.fullmatch(path)) is not None:
                return route, found[1]
        raise NotFound("This address")


def _pattern(path: str) -> str:
    pieces = re.split(r"\{([a-z_]+)\}", path)
    return "".join(re.escape(piece) if place % 2 == 0 else f"(?P<{piece}>[^/]+)" for place, piece in enumerate(pieces))
