"""The routes about the agent itself: how it is, that it is still wanted, and its end."""

import os
from collections.abc import Awaitable, Callable
from typing import Final

import chatd
from chatd.agent.activity import Activity
from chatd.agent.processes.processes import Processes
from chatd.agent.request import Request
from chatd.agent.response import Response, answer
from chatd.agent.routes import Route
from chatd.clock import Clock
from chatd.wire.agent.health import Done, Health, Stopped

_SHUTDOWN_SECONDS: Final = 60.0  # five to end, five to be killed, and a busy machine


class HealthRoutes:
    def __init__(
        self,
        workspace_id: str,
        activity: Activity,
        processes: Processes,
        clock: Clock,
        *,
        stop: Callable[[], Awaitable[Stopped]],
    ) -> None:
        self._workspace_id = workspace_id
        self._activity = activity
        self._processes = processes
        self._clock = clock
        self._stop = stop
        self._began = clock.monotonic()
        self._started_at = int(clock.now().timestamp())

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", "/health", self._health),
            Route("POST", "/heartbeat", self._heartbeat),
            Route("POST", "/shutdown", self._shutdown, deadline_seconds=_SHUTDOWN_SECONDS),
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
                open_requests=self._activity.open_requests,
                running_processes=self._processes.running,
                known_processes=self._processes.known,
                is_stopping=self._processes.is_closed,
            )
        )

    async def _heartbeat(self, _request: Request) -> Response:
        return answer(Done())  # that it was asked is what counts

    async def _shutdown(self, _request: Request) -> Response:
        return answer(await self._stop())
