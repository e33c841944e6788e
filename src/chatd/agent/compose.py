"""Builds the agent: the one place that knows all its parts."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from chatd.agent.activity import Activity
from chatd.agent.app import AgentApp
from chatd.agent.epochs import Epochs
from chatd.agent.health import HealthRoutes
from chatd.agent.options import AgentOptions
from chatd.agent.place import Place
from chatd.agent.routes import RouteTable
from chatd.background import beside
from chatd.clock import Clock


class Agent:
    """One workspace's agent. `app` answers requests while the block of `running` runs."""

    def __init__(self, options: AgentOptions, place: Place, *, workspace_id: str, clock: Clock) -> None:
        self._stopping = asyncio.Event()
        self._clock = clock
        self._idle_seconds = options.idle_minutes * 60
        self._activity = Activity(clock)
        routes = (*HealthRoutes(workspace_id, self._activity, clock, stop=self.stop).routes(),)
        self.app = AgentApp(
            RouteTable(routes),
            token=place.token(),
            epochs=Epochs(place.epochs),
            activity=self._activity,
            clock=clock,
        )

    def stop(self) -> None:
        """Begin to stop. Everything that runs in the workspace is ended first."""
        self._stopping.set()

    @asynccontextmanager
    async def running(self, stop_serving: Callable[[], None]) -> AsyncGenerator[None]:
        async with beside({"stop": self._stop_when_told(stop_serving)}):
            yield

    async def _stop_when_told(self, stop_serving: Callable[[], None]) -> None:
        await self._stopping.wait()
        stop_serving()
