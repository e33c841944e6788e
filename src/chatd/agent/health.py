"""The routes about the agent itself: how it is, that it is still wanted, and its end."""

import os
from collections.abc import Callable

import chatd
from chatd.agent.activity import Activity
from chatd.agent.request import Request
from chatd.agent.response import Response, answer
from chatd.agent.routes import Route
from chatd.clock import Clock
from chatd.wire.agent.health import Done, Health


class HealthRoutes:
    def __init__(self, workspace_id: str, activity: Activity, clock: Clock, *, stop: Callable[[], None]) -> None:
        self._workspace_id = workspace_id
        self._activity = activity
        self._clock = clock
        self._stop = stop
        self._began = clock.monotonic()
        self._started_at = int(clock.now().timestamp())

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", "/health", self._health),
            Route("POST", "/heartbeat", self._heartbeat),
            Route("POST", "/shutdown", self._shutdown),
        )

    async def _health(self, _request: Request) -> Response:
        return answer(
            Health(
                version=chatd.__version__,
                workspace_id=self._workspace_id,
                pid=os.getpid(),
                started_at_unix=self._started_at,
                uptime_seconds=self._clock.monotonic() - self._began,
                requests=self._activity.requests,
                running_processes=0,
                known_processes=0,
            )
        )

    async def _heartbeat(self, _request: Request) -> Response:
        return answer(Done())  # that it was asked is what counts

    async def _shutdown(self, _request: Request) -> Response:
        self._stop()
        return answer(Done())
