"""Workspaces over the API: made, built, changed and deleted, by whom and how many."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest_asyncio

from chatd.clock import SystemClock
from chatd.server.doctor.agents import check_agents
from server.configured_models import patch
from server.test_workspace_terminals import refused
from server.workspace_api import TEMPLATES, WORKSPACES, WorkspaceApi, workspace_api


@pytest_asyncio.fixture
async def world(database: Any, tmp_path: Path) -> AsyncIterator[WorkspaceApi]:
    async with workspace_api(database.dsn, tmp_path) as made:
        yield made


async def test_a_workspace_is_made_stopped_started_and_deleted(world: WorkspaceApi):
    made = await world.create(name="mine", ttl_ms=3_600_000)
    running = await world.built(made)
    path = f"{WORKSPACES}/{made['id']}"
    healthy = (await world.mia.get(f"{path}?agent=true")).body
    twice = await world.build(made, "start")
    stop = await world.build(made, "stop")
    stopped = await world.built(made)
    asleep = (await world.mia.get(f"{path}?agent=true")).body
    start = await world.build(made, "start")
    await world.built(made)
    deleting = await world.mia.delete(path)
    deleted = await world.built(made)
    builds = (await world.mia.get(f"{path}/builds?limit=2")).body
    older = (await world.mia.get(f"{path}/builds?before={builds['next_before']}")).body
    listed = (await world.mia.get(WORKSPACES)).body

    assert (made["state"], made["name"], made["owner_name"], made["template_name"]) == (
        *("starting", "mine", "mia", "local"),
    )
    assert (running["state"], running["latest_build"]["status"]) == ("running", "succeeded")
    assert running["deadline"]
    assert running["host_id"]
    assert healthy["agent"]["reachable"]
    assert healthy["agent"]["health"]["workspace_id"] == made["id"]
    assert (twice.status, twice.body["message"]) == (409, "The workspace can't be built so. It runs already.")
    assert (stop.status, stop.body["transition"], stop.body["status"]) == (201, "stop", "pending")
    assert (stopped["state"], "deadline" in stopped) == ("stopped", False)
    assert asleep["agent"] == {"reachable": False, "message": "stopped"}
    assert start.status == 201
    assert (deleting.status, deleting.body["transition"]) == (202, "delete")
    assert deleted["state"] == "deleted"
    assert [build["transition"] for build in [*builds["builds"], *older["builds"]]] == [
        *("delete", "start", "stop", "start"),
    ]
    assert older["next_before"] is None
    assert listed == {"workspaces": [], "next_after": None}


async def test_the_same_key_makes_one_workspace(world: WorkspaceApi):
    body = {"template_id": world.template_id, "name": "once"}
    header = {"Idempotency-Key": "abc"}
    first = await world.mia.call("POST", WORKSPACES, body, **header)
    second = await world.mia.call("POST", WORKSPACES, body, **header)
    of_another = await world.admin.call("POST", WORKSPACES, body, **header)
    listed = (await world.mia.get(WORKSPACES)).body["workspaces"]

    assert (first.status, second.status, of_another.status) == (201, 201, 201)
    assert first.body["id"] == second.body["id"] != of_another.body["id"]
    assert [each["id"] for each in listed] == [first.body["id"]]


async def test_wrong_workspaces_are_refused_by_the_name_of_their_field(world: WorkspaceApi):
    await world.create(name="taken")
    bodies: list[tuple[dict[str, Any], int, list[str]]] = [
        ({"name": "Not a name"}, 400, ["name"]),
        ({"name": "taken"}, 409, ["name"]),
        ({"ttl_ms": 1}, 400, ["ttl_ms"]),
        ({"template_id": "00000000-0000-0000-0000-00000000000a"}, 400, ["template_id"]),
        ({"parameters": {"colour": "red"}}, 400, ["parameters.colour"]),
    ]
    for body, status, fields in bodies:
        answer = await world.mia.post(WORKSPACES, {"template_id": world.template_id, **body})
        assert (answer.status, [each["field"] for each in answer.body["validations"]]) == (status, fields), body


async def test_parameters_are_kept_and_can_be_changed_at_a_start(world: WorkspaceApi):
    parameters = [
        {"name": "size", "type": "number", "default": "2"},
        {"name": "once", "ephemeral": True, "default": ""},
    ]
    template = (
        await world.admin.post(TEMPLATES, {"name": "sized", "provisioner": "local", "parameters": parameters})
    ).body
    made = await world.run(template_id=template["id"], parameters={"size": "3", "once": "x"})
    await world.build(made, "stop")
    await world.built(made)
    wrong = await world.build(made, "start", parameters={"size": "many"})
    none = await world.build(made, "stop", parameters={"size": "4"})
    await world.build(made, "start", parameters={"size": "4"})
    again = await world.built(made)
    counted = (await world.admin.get(f"{TEMPLATES}/{template['id']}")).body["workspace_count"]
    seen = [each["workspace_count"] for each in (await world.mia.get(TEMPLATES)).body]
    kept = await world.admin.delete(f"{TEMPLATES}/{template['id']}")

    assert made["parameters"] == {"size": "3"}
    assert (wrong.status, none.status) == (400, 400)
    assert (again["state"], again["parameters"]) == ("running", {"size": "4"})
    assert (counted, seen) == (1, [0, 1])
    assert kept.status == 409
    assert "There is a workspace of this template." in kept.body["message"]
    assert "Delete it first" in kept.body["detail"]


async def test_a_workspace_is_renamed_and_lives_as_long_as_it_is_told(world: WorkspaceApi):
    made = await world.run(name="one")
    await world.create(name="two")
    path = f"{WORKSPACES}/{made['id']}"
    taken = await patch(world.mia, path, name="two")
    renamed = await patch(world.mia, path, name="three", ttl_ms=3_600_000)
    for_ever = await patch(world.mia, path, ttl_ms=0)
    as_the_template = await patch(world.mia, path, ttl_ms=None)
    strict = {"name": "strict", "provisioner": "local", "allows_user_autostop": False, "default_ttl_ms": 3_600_000}
    template = (await world.admin.post(TEMPLATES, strict)).body
    refused = await world.mia.post(WORKSPACES, {"template_id": template["id"], "ttl_ms": 0})
    bound = await world.run(template_id=template["id"])
    unbound = await patch(world.mia, f"{WORKSPACES}/{bound['id']}", ttl_ms=0)
    bound_still = await patch(world.mia, f"{WORKSPACES}/{bound['id']}", name="still", ttl_ms=None)

    assert "deadline" not in made
    assert (taken.status, taken.body["validations"][0]["field"]) == (409, "name")
    assert (renamed.body["name"], renamed.body["ttl_ms"], "deadline" in renamed.body) == ("three", 3_600_000, True)
    assert (for_ever.body["name"], for_ever.body["ttl_ms"], "deadline" in for_ever.body) == ("three", 0, False)
    assert as_the_template.body["ttl_ms"] is None
    assert (refused.status, refused.body["validations"][0]["field"]) == (400, "ttl_ms")
    assert (unbound.status, unbound.body["validations"][0]["field"]) == (400, "ttl_ms")
    assert (bound_still.body["name"], bound_still.body["deadline"]) == ("still", bound["deadline"])


async def test_a_user_has_so_many_workspaces_and_no_more(database: Any, tmp_path: Path):
    async with workspace_api(database.dsn, tmp_path, workspaces_per_user="2") as world:
        first = await world.run()
        await world.create()
        third = await world.mia.post(WORKSPACES, {"template_id": world.template_id})
        others = await world.create(world.admin)
        await world.mia.delete(f"{WORKSPACES}/{first['id']}")
        await world.built(first)
        again = await world.mia.post(WORKSPACES, {"template_id": world.template_id})

    assert third.status == 409
    assert "2 workspaces" in third.body["message"]
    assert others["owner_name"] == "olga"
    assert again.status == 201


async def test_admins_and_auditors_see_everyones_and_reach_into_nobodys(world: WorkspaceApi):
    made = await world.run(name="mine")
    path = f"{WORKSPACES}/{made['id']}"
    auditor, stranger = await world.running.add_user("aud", "auditor"), await world.running.add_user("sam")
    own = await world.create(world.admin, name="own")
    seen = {
        name: [each["name"] for each in (await api.get(f"{WORKSPACES}?owner=all")).body["workspaces"]]
        for name, api in {"admin": world.admin, "auditor": auditor, "mia": world.mia, "sam": stranger}.items()
    }
    by_name = (await world.admin.get(f"{WORKSPACES}?owner=mia&limit=1")).body
    agent = [(await api.get(f"{path}?agent=true")).status for api in (world.mia, world.admin, auditor, stranger)]
    changes = [(await patch(api, path, name="x")).status for api in (auditor, stranger)]
    stops = [(await api.post(f"{path}/builds", {"transition": "stop"})).status for api in (auditor, world.admin)]

    assert seen == {"admin": ["mine", "own"], "auditor": ["mine", "own"], "mia": ["mine"], "sam": []}
    assert [each["id"] for each in by_name["workspaces"]] == [made["id"]]
    assert own["owner_name"] == "olga"
    assert agent == [200, 403, 403, 404]
    assert changes == [403, 404]
    assert stops == [403, 201]


async def test_what_a_build_says_can_be_read_in_pages(world: WorkspaceApi):
    made = await world.run()
    path = f"{WORKSPACES}/{made['id']}/builds/{made['latest_build']['id']}"
    whole = (await world.mia.get(f"{path}/logs")).body
    first = (await world.mia.get(f"{path}/logs?limit=1")).body
    rest = (await world.mia.get(f"{path}/logs?after={first['logs'][-1]['id']}")).body
    one = await world.mia.get(path)
    other = await world.create()
    elsewhere = f"{WORKSPACES}/{other['id']}/builds/{made['latest_build']['id']}"
    crossed = [await world.mia.get(f"{elsewhere}/logs"), await world.mia.post(f"{elsewhere}/cancel")]
    over = await world.mia.post(f"{path}/cancel")

    assert whole["logs"]
    assert len(first["logs"]) == 1
    assert whole["next_after"] is None
    assert whole["build"]["status"] == "succeeded"
    assert [*first["logs"], *rest["logs"]] == whole["logs"]
    assert {each["level"] for each in whole["logs"]} <= {"info", "warning", "error"}
    assert one.body["id"] == made["latest_build"]["id"]
    assert [answer.status for answer in crossed] == [404, 404]
    assert (over.status, over.body["message"]) == (409, "The build is over.")


async def test_the_doctor_says_which_agents_do_not_answer(world: WorkspaceApi, tmp_path: Path):
    before = [each async for each in check_agents(world.running.replica.opened.store, tmp_path, SystemClock())]
    first, _ = await world.run(name="first"), await world.run(name="second")
    well = [each async for each in check_agents(world.running.replica.opened.store, tmp_path, SystemClock())]
    health = (await world.mia.get(f"{WORKSPACES}/{first['id']}?agent=true")).body["agent"]["health"]
    os.kill(health["pid"], signal.SIGSTOP)
    ill = [each async for each in check_agents(world.running.replica.opened.store, tmp_path, SystemClock())]
    os.kill(health["pid"], signal.SIGKILL)
    gone = [each async for each in check_agents(world.running.replica.opened.store, tmp_path, SystemClock())]
    open_to_all = check_agents(world.running.replica.opened.store, tmp_path, SystemClock(), unconfined=True)
    warned = await anext(open_to_all)
    await open_to_all.aclose()  # type: ignore[attr-defined]

    assert [each.found for each in before] == ["No workspace runs on this machine"]
    assert [each.grade for each in well] == ["good"]
    assert (warned.check, warned.grade) == ("workspaces", "doubtful")
    assert [(each.grade, each.found) for each in ill] == [("doubtful", "1 of 2 agents do not answer: first")]
    assert [(each.grade, each.found) for each in gone] == [("good", "1 of 2 answer; the next use starts the others")]


async def test_a_workspace_on_a_machine_that_is_gone_is_out_of_reach_and_can_be_deleted(
    world: WorkspaceApi, database: Any
):
    made, here = await world.run(name="mine"), await world.run()
    path, other = f"{WORKSPACES}/{made['id']}", f"{WORKSPACES}/{here['id']}"
    await world.build(made, "stop")  # nobody would end its agent
    await world.built(made)
    connection = await asyncpg.connect(database.dsn)
    try:
        await connection.execute("UPDATE workspaces SET host_id = 'gone' WHERE id = $1", UUID(made["id"]))
    finally:
        await connection.close()
    files, ports = await world.mia.get(f"{path}/files"), await world.mia.get(f"{path}/ports")
    terminal = await refused(world.mia, made)
    agent = (await world.mia.get(f"{path}?agent=true")).body["agent"]
    alive = await world.mia.delete(f"{other}?orphan=true")
    stranger = await (await world.running.add_user("sam")).delete(f"{path}?orphan=true")
    auditor = await (await world.running.add_user("aud", "auditor")).delete(f"{path}?orphan=true")
    deleted = await world.admin.delete(f"{path}?orphan=true")
    gone = await world.mia.get(path)
    log = (await world.admin.get("/api/v2/audit?target_kind=workspace&action=delete")).body["entries"]

    assert (files.status, ports.status, terminal) == (409, 409, 409)
    assert "another machine" in files.body["message"]
    assert agent == {"reachable": False, "message": "other_host"}
    assert (alive.status, "without `orphan`" in alive.body["detail"]) == (409, True)
    assert (stranger.status, auditor.status) == (404, 403)
    assert (deleted.status, deleted.body["transition"], deleted.body["status"]) == (202, "delete", "succeeded")
    assert (gone.status, gone.body["state"]) == (200, "deleted")
    assert [(entry["actor"]["name"], entry["target"]["id"]) for entry in log] == [("olga", made["id"])]


async def test_that_workspaces_have_no_sandbox_is_told_to_who_asks_from_this_machine(world: WorkspaceApi):
    ready = await world.running.api.get("/readyz")

    assert ready.status == 200
    assert "WITHOUT A SANDBOX" in ready.body["notes"][0]
