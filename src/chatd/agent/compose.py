"""Builds the agent: the one place that knows all its parts."""

import asyncio
import os
import resource
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

from chatd.agent.activity import Activity
from chatd.agent.app import AgentApp
from chatd.agent.caller import Caller
from chatd.agent.cgroups import Cgroups
from chatd.agent.children import Children
from chatd.agent.context.reading import ContextReader
from chatd.agent.context.routes import ContextRoutes
from chatd.agent.context.watching import ContextWatch
from chatd.agent.egress import EgressForwarder
from chatd.agent.epochs import Epochs
from chatd.agent.files.changing_routes import ChangingRoutes
from chatd.agent.files.reading_routes import ReadingRoutes
from chatd.agent.git.routes import GitRoutes
from chatd.agent.git.running import Git
from chatd.agent.git.scanning import Scanning
from chatd.agent.git.watching import RepositoryWatches
from chatd.agent.health import HealthRoutes
from chatd.agent.options import AgentOptions
from chatd.agent.place import Place
from chatd.agent.ports import PortRoutes
from chatd.agent.processes.ending import Members, end_everything
from chatd.agent.processes.keys import Keys
from chatd.agent.processes.processes import Processes, Surroundings
from chatd.agent.processes.routes import ProcessRoutes
from chatd.agent.routes import RouteTable
from chatd.agent.terminals.routes import TerminalRoutes
from chatd.agent.terminals.terminals import TerminalSet
from chatd.agent.touched import TouchedPaths
from chatd.background import beside
from chatd.clock import Clock
from chatd.wire.agent.health import Stopped

_LONGEST_LOOK_SECONDS: Final = 30.0  # between two looks whether anybody needs the agent


class Agent:
    """One workspace's agent. `app` answers requests while the block of `running` runs."""

    def __init__(
        self,
        options: AgentOptions,
        place: Place,
        *,
        workspace_id: str,
        clock: Clock,
        egress: EgressForwarder | None = None,
    ) -> None:
        self._clock = clock
        self._place = place
        self._egress = egress
        self._idle_seconds = options.idle_minutes * 60
        self._cgroups = Cgroups(workspace_id, place.cgroup)
        self._members = Members(workspace_id, self._cgroups)
        self._told_to_stop = asyncio.Event()
        self._activity = Activity(clock)
        self._children = Children()
        surroundings = Surroundings(
            home=options.home,
            workdir=options.workdir or options.home,
            workspace_id=workspace_id,
            inherited={**os.environ, **(egress.environment if egress is not None else {})},
        )
        self._touched = TouchedPaths()
        self._processes = Processes(
            Keys(place.keys), self._children, self._cgroups, surroundings, clock, exited=self._command_exited
        )
        git = Git(self._children, clock, home=options.home, inherited=surroundings.inherited)
        scanning = Scanning(git, self._touched, surroundings.workdir, clock)
        self._repositories = RepositoryWatches(scanning, self._touched, clock)
        reader = ContextReader(os.fsencode(surroundings.workdir), os.fsencode(options.home))
        self._context = ContextWatch(reader, clock)
        self._terminals = TerminalSet(self._children, self._cgroups, surroundings, clock)
        terminal_routes = TerminalRoutes(self._terminals)
        epochs = Epochs(place.epochs)
        routes = (
            *HealthRoutes(workspace_id, self._activity, self._processes, clock, stop=self._shut_down).routes(),
            *ProcessRoutes(self._processes, clock).routes(),
            *ReadingRoutes(options.home).routes(),
            *ChangingRoutes(self._touched, epochs, clock).routes(),
            *PortRoutes(self._members).routes(),
            *terminal_routes.routes(),
            *ContextRoutes(self._context, clock).routes(),
            *GitRoutes(git, self._repositories, clock).routes(),
        )
        self.app = AgentApp(
            RouteTable(routes, terminal_routes.sockets()),
            token=place.token(),
            epochs=epochs,
            activity=self._activity,
            clock=clock,
        )

    def stop(self) -> None:
        """Begin to stop. Everything that runs in the workspace is ended first."""
        self._told_to_stop.set()

    @asynccontextmanager
    async def running(self, stop_serving: Callable[[], None]) -> AsyncGenerator[None]:
        _allow_many_files()
        tasks = {"stop": self._stop_when_told(stop_serving), "reap": self._processes.reap()}
        if self._egress is not None:
            tasks["egress"] = self._egress.run()
        if self._idle_seconds:
            tasks["idle"] = self._stop_when_idle()
        with self._children.reaping():
            async with beside(tasks):
                try:
                    yield
                finally:
                    self._repositories.close()
                    self._context.close()

    def _command_exited(self, caller: Caller, workdir: str | None) -> None:
        """A command may have changed any file; where it ran is where its repository is."""
        if workdir is not None:
            self._touched.note(caller, os.fsencode(workdir))
        else:
            self._touched.stir(caller)

    async def _shut_down(self) -> Stopped:
        """Nothing of the workspace runs any more when this returns, and the agent is about to leave."""
        stopped = await self._end_everything()
        self.stop()
        return stopped

    async def _stop_when_told(self, stop_serving: Callable[[], None]) -> None:
        await self._told_to_stop.wait()
        await self._end_everything()
        stop_serving()

    async def _end_everything(self) -> Stopped:
        self._place.forget_record()
        self._processes.close()
        self._terminals.close()
        ended, left = await end_everything(self._members, self._clock)
        self._cgroups.take_away()
        return Stopped(ended, tuple(left))

    async def _stop_when_idle(self) -> None:
        """A server that comes back finds the agent, and one that does not leaves nothing behind for ever."""
        while self._activity.idle_seconds() < self._idle_seconds:
            await self._clock.sleep(min(_LONGEST_LOOK_SECONDS, self._idle_seconds / 4), timer="idle")
            if self._members.look():
                self._activity.touch()
        self.stop()


def _allow_many_files() -> None:
    """Each process takes two descriptors, and the common limit of 1024 is for programs that use select()."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
