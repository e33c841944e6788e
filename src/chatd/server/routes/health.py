"""What machines ask: is the process alive, may it get requests, how is it doing."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from ipaddress import ip_address

import msgspec

from chatd.clock import Clock
from chatd.core.access import Action, Kind, Resource, Role, may
from chatd.core.errors import Forbidden, Unauthenticated, Validation
from chatd.observe.logs import get_logger
from chatd.observe.metrics import Metrics
from chatd.server.middleware.asgi_types import App, Headers, Receive, Scope, Send, header, state
from chatd.wire.problem import Problem

_log = get_logger("chatd.health")

CHECK_SECONDS = 2.0  # a probe gives up after a few seconds; better to say which check hangs
_SCRAPERS = (Role.OWNER, Role.AUDITOR)
_FORWARDED = (b"x-forwarded-for", b"forwarded", b"x-real-ip", b"via")

Check = Callable[[], Awaitable[str | None]]
"""None when all is well, else what is wrong, in words fit for anyone. Raising counts as not being well."""


async def _nothing() -> None:
    pass


class HealthRoutes:
    """`/healthz`, `/readyz` and `/metrics` in front of `app`, which gets every other request."""

    def __init__(
        self,
        app: App,
        *,
        clock: Clock,
        metrics: Metrics,
        checks: Mapping[str, Check],
        notes: Sequence[str] = (),
        before_metrics: Callable[[], Awaitable[None]] = _nothing,
    ) -> None:
        """`notes` are what operators should know, said to this machine only: a stranger could make use of it.
        `before_metrics` counts what is counted for whoever reads; it must not fail and return soon."""
        self._notes = tuple(notes)
        self._before_metrics = before_metrics
        self._app = app
        self._clock = clock
        self._metrics = metrics
        self._checks = dict(checks)
        self._routes = {"/healthz": self._alive, "/readyz": self._ready, "/metrics": self._render}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._routes.get(scope.get("path", "")) if scope["type"] == "http" else None
        if route is None:
            await self._app(scope, receive, send)
        elif scope["method"] not in ("GET", "HEAD"):
            problem = Problem("This address does not take that method.")
            await _send_json(send, 405, problem, [(b"allow", b"GET, HEAD")])
        else:
            await route(scope, send)

    async def _alive(self, _scope: Scope, send: Send) -> None:
        await _send_json(send, 200, {"status": "ok"})

    async def _ready(self, scope: Scope, send: Send) -> None:
        failed = [failure for name, check in self._checks.items() if (failure := await self._run(name, check))]
        if not failed:
            notes = {"notes": self._notes} if self._notes and is_local(scope) else {}
            await _send_json(send, 200, {"status": "ready", **notes})
            return
        names = ", ".join(failure.field for failure in failed)
        problem = Problem(f"Not ready: {names}.", validations=tuple(failed))
        await _send_json(send, 503, problem, [(b"retry-after", b"1")])

    async def _run(self, name: str, check: Check) -> Validation | None:
        try:
            async with self._clock.timeout(CHECK_SECONDS, timer=f"readiness {name}"):
                wrong = await check()
        except TimeoutError:
            wrong = f"No answer within {CHECK_SECONDS:g} seconds."
        except Exception as error:  # noqa: BLE001  whatever a check raises, the server is not ready
            _log.warning("readiness check failed", check=name, error=error)
            wrong = "The check failed; the server's log says why."
        return None if wrong is None else Validation(field=name, detail=wrong)

    async def _render(self, scope: Scope, send: Send) -> None:
        if not is_local(scope):
            person = state(scope).get("person")
            if person is None:
                raise Unauthenticated("Metrics need the token of an owner or auditor, or a request from this machine.")
            if person.role not in _SCRAPERS or not may(person, Action.READ, Resource(Kind.SETTING)):
                raise Forbidden("Metrics need a token of an owner or auditor with the scope setting:read.")
        await self._before_metrics()
        body, content_type = self._metrics.render()
        await _send_body(send, 200, body, content_type.encode())


def is_local(scope: Scope) -> bool:
    """Whether the request comes from this machine itself, and not through a proxy that runs on it."""
    if any(header(scope, name) is not None for name in _FORWARDED):
        return False
    try:
        return ip_address(state(scope).get("peer", "")).is_loopback
    except ValueError:
        return False


async def _send_json(send: Send, status: int, value: object, headers: Headers = ()) -> None:
    await _send_body(send, status, msgspec.json.encode(value), b"application/json", headers)


async def _send_body(send: Send, status: int, body: bytes, content_type: bytes, headers: Headers = ()) -> None:
    fixed = [
        (b"content-type", content_type),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *headers]})
    await send({"type": "http.response.body", "body": body})
