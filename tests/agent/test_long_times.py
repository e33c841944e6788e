"""What happens after minutes: the cap of a wait, the deadline of an exchange, and what is forgotten."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent.commands import finished, output, run, start
from agent.running import WAIT_SECONDS, AgentProcess, running_agent
from chatd.agent.activity import Activity
from chatd.agent.app import AgentApp
from chatd.agent.epochs import Epochs
from chatd.agent.processes import processes, routes
from chatd.agent.request import Request
from chatd.agent.response import Response
from chatd.agent.routes import Route, RouteTable
from chatd.core.secret import Secret
from chatd.testing.fake_clock import FakeClock

HURRIED = str(Path(__file__).with_name("hurried_agent.py"))
FORGETFUL = "processes.processes:KEPT_SECONDS=0.1,processes.processes:REAP_SECONDS=0.02"


@pytest.mark.behaviour("PROC-2")
async def test_a_wait_ends_at_the_cap_and_can_be_asked_for_again(tmp_path: Path):
    assert routes.WAIT_SECONDS == 300
    async with running_agent(tmp_path / "agent", program=(HURRIED, "processes.routes:WAIT_SECONDS=0.2")) as agent:
        id = await start(agent, "read line; echo $line")
        capped = await finished(agent, id)
        again = asyncio.gather(finished(agent, id))
        await agent.ask("POST", f"/processes/{id}/stdin", body={"text": "it\n"})
        (shown,) = await again
        while shown["running"]:
            shown = await finished(agent, id)

    assert (capped["running"], capped["state"]) == (True, "running")
    assert shown["output"] == "it\n"


def _scope(path: str) -> dict[str, Any]:
    headers = [(b"authorization", b"Bearer token")]
    return {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}


async def _never() -> Any:
    await asyncio.Event().wait()


def _app(route: Route, clock: FakeClock, folder: Path) -> AgentApp:
    activity, epochs = Activity(clock), Epochs(folder / "epochs.json")
    return AgentApp(RouteTable([route]), token=Secret("token"), epochs=epochs, activity=activity, clock=clock)


async def _ends_at(seconds: float, clock: FakeClock, exchange: Awaitable[None]) -> None:
    """Hold that the exchange still runs just before that time, and does not after it."""
    async with asyncio.TaskGroup() as group:
        running = group.create_task(_awaited(exchange))
        await clock.wait_for("exchange")
        await clock.advance(seconds - 1)
        assert not running.done()
        await clock.advance(1)


async def _awaited(exchange: Awaitable[None]) -> None:
    await exchange


@pytest.mark.behaviour("PROC-2")
async def test_a_client_that_does_not_read_its_answer_is_given_up_30_seconds_after_the_longest_wait(tmp_path: Path):
    clock = FakeClock()
    waiting = next(route for route in _process_routes(clock) if route.path.endswith("/output"))
    assert waiting.deadline_seconds == 330

    async def answer(_request: Request) -> Response:
        return Response(body=b"{}")

    async def send(_message: Any) -> None:
        await _never()

    app = _app(Route("GET", "/slow", answer, deadline_seconds=waiting.deadline_seconds), clock, tmp_path)
    await _ends_at(330, clock, app(_scope("/slow"), _never, send))


async def test_a_route_that_hangs_is_answered_when_its_time_is_over(tmp_path: Path):
    clock = FakeClock()
    sent: list[Any] = []

    async def answer(_request: Request) -> Response:
        await _never()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)

    app = _app(Route("GET", "/hangs", answer), clock, tmp_path)
    await _ends_at(60, clock, app(_scope("/hangs"), _never, send))

    assert sent[0]["status"] == 503
    assert b'"kind":"deadline"' in sent[1]["body"]


def _process_routes(clock: FakeClock) -> tuple[Route, ...]:
    return routes.ProcessRoutes(None, clock).routes()  # type: ignore[arg-type]


async def _until(agent: AgentProcess, fits: Callable[[Any], bool]) -> None:
    """Ask for the health until it is as wanted."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not fits((await agent.ask("GET", "/health")).json):
            pass


async def test_an_ended_process_is_forgotten_once_it_is_acknowledged_and_some_time_has_passed(tmp_path: Path):
    assert processes.KEPT_SECONDS == 300
    async with running_agent(tmp_path / "agent", program=(HURRIED, FORGETFUL)) as agent:
        shown = await run(agent, "echo said")
        assert (await agent.ask("DELETE", f"/processes/{shown['id']}/key")).status == 200
        await _until(agent, lambda health: health["known_processes"] == 0)

        assert (await agent.ask("GET", f"/processes/{shown['id']}/output")).status == 404
        assert list((agent.folder / "processes").iterdir()) == []


async def test_what_was_not_acknowledged_is_never_forgotten(tmp_path: Path):
    async with running_agent(tmp_path / "agent", program=(HURRIED, FORGETFUL)) as agent:
        body = {"key": "once", "command": "echo said"}
        id = (await agent.ask("POST", "/processes", body=body)).json["id"]
        await finished(agent, id)
        await _until(agent, lambda health: health["known_processes"] == 0)

        assert (await output(agent, id))["output"] == "said\n"
        assert (await agent.ask("POST", "/processes", body=body)).json["state"] == "exited"
        await agent.ask("DELETE", f"/processes/{id}/key")
        async with asyncio.timeout(WAIT_SECONDS):
            while (await agent.ask("GET", f"/processes/{id}/output")).status != 404:
                pass


async def test_a_running_process_is_kept_though_it_was_acknowledged(tmp_path: Path):
    async with running_agent(tmp_path / "agent", program=(HURRIED, FORGETFUL)) as agent:
        id = await start(agent, "read line; echo $line", background=True)
        await agent.ask("DELETE", f"/processes/{id}/key")
        other = await run(agent, "true")
        await agent.ask("DELETE", f"/processes/{other['id']}/key")
        await _until(agent, lambda health: health["known_processes"] == 1)
        await agent.ask("POST", f"/processes/{id}/stdin", body={"text": "still\n"})

        assert (await output(agent, id, wait="true"))["output"] == "still\n"
