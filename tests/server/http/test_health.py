"""Probes and scrapes: alive, ready, and who may read the metrics."""

import asyncio
from uuid import UUID

import pytest

from chatd.clock import SystemClock
from chatd.core.access import Person, Role
from chatd.observe.metrics import Metrics
from chatd.server.middleware.asgi_types import App
from chatd.server.routes.health import HealthRoutes
from chatd.server.serving import Draining
from chatd.testing.fake_clock import FakeClock
from server.http.exchange import body_of, exchange, headers_of, status_of
from server.http.live import layered

REMOTE = ("192.0.2.1", 4711)


async def nothing(scope, receive, send):
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


async def well() -> str | None:
    return None


async def broken() -> str | None:
    raise OSError("connection to postgresql://u:planted@h refused")


def health(**checks) -> App:
    return HealthRoutes(nothing, clock=SystemClock(), metrics=Metrics(), checks=checks)


async def test_a_live_process_says_so():
    sent = await exchange(layered(health(database=broken)), "/healthz")

    assert (status_of(sent), body_of(sent)) == (200, {"status": "ok"})


async def test_ready_means_that_every_check_is_well():
    sent = await exchange(layered(health(database=well, migrated=well)), "/readyz")

    assert (status_of(sent), body_of(sent)) == (200, {"status": "ready"})


@pytest.mark.parametrize(("client", "wanted"), [(("127.0.0.1", 1), ["No sandbox."]), (REMOTE, None)])
async def test_what_operators_should_know_is_told_to_this_machine_only(
    client: tuple[str, int], wanted: list[str] | None
):
    app = HealthRoutes(
        nothing, clock=SystemClock(), metrics=Metrics(), checks={"database": well}, notes=["No sandbox."]
    )
    sent = await exchange(layered(app), "/readyz", client=client)

    assert status_of(sent) == 200
    assert body_of(sent).get("notes") == wanted


async def test_not_ready_names_the_failed_check_and_nothing_more():
    sent = await exchange(layered(health(database=broken, migrated=well)), "/readyz")

    assert status_of(sent) == 503
    assert [validation["field"] for validation in body_of(sent)["validations"]] == ["database"]
    assert "planted" not in str(body_of(sent))


async def test_a_server_that_drains_is_not_ready_but_alive():
    draining = Draining()
    app = layered(health(draining=draining.check))
    assert status_of(await exchange(app, "/readyz")) == 200

    draining.begin()
    assert status_of(await exchange(app, "/readyz")) == 503
    assert status_of(await exchange(app, "/healthz")) == 200


async def test_a_check_that_hangs_counts_as_failed():
    clock = FakeClock()

    async def hangs() -> str | None:
        await clock.sleep(1e9, timer="for ever")
        return None

    app = HealthRoutes(nothing, clock=clock, metrics=Metrics(), checks={"database": hangs})
    async with asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(exchange(app, "/readyz"))
        await clock.wait_for("readiness database")
        await clock.advance(2.0)

    assert status_of(asked.result()) == 503


async def test_probes_take_only_reads():
    sent = await exchange(layered(health()), "/healthz", method="POST")

    assert (status_of(sent), headers_of(sent)["allow"]) == (405, "GET, HEAD")


async def test_other_paths_go_on_to_the_app():
    assert status_of(await exchange(layered(health()), "/api/x")) == 404


@pytest.mark.parametrize(
    ("client", "headers", "status"),
    [
        (("127.0.0.1", 1), {}, 200),
        (("::1", 1), {}, 200),
        (REMOTE, {}, 401),
        (("127.0.0.1", 1), {"x-forwarded-for": "192.0.2.1"}, 401),
        (("127.0.0.1", 1), {"forwarded": "for=192.0.2.1"}, 401),
        (None, {}, 401),
    ],
)
async def test_strangers_read_metrics_only_from_this_machine(client, headers: dict[str, str], status: int):
    assert status_of(await exchange(layered(health()), "/metrics", client=client, headers=headers)) == status


@pytest.mark.parametrize(
    ("role", "scope", "status"),
    [
        (Role.OWNER, "*:*", 200),
        (Role.AUDITOR, "*:*", 200),
        (Role.AUDITOR, "setting:read", 200),
        (Role.OWNER, "group:read", 403),
        (Role.MEMBER, "*:*", 403),
    ],
)
async def test_owners_and_auditors_read_metrics_from_anywhere(role: Role, scope: str, status: int):
    async def authenticate(_credentials) -> Person | None:
        return Person(UUID(int=1), role, "x", frozenset({scope}))

    app = layered(health(), authenticate=authenticate)
    sent = await exchange(app, "/metrics", client=REMOTE, headers={"authorization": "Bearer t"})

    assert status_of(sent) == status
    if status == 200:
        assert b"chatd_http_requests_in_progress" in sent[1]["body"]
