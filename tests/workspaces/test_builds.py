"""Builds survive those who carry them out."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from agent.running import SOURCE
from chatd.core.access import PROVISIONER
from chatd.core.workspaces.kinds import BuildStatus, ProvisionerKind
from chatd.core.workspaces.limits import BUILD_SECONDS, MOST_LINE_BYTES, MOST_LOG_LINES
from chatd.observe.metrics import Metrics
from chatd.store.actor import acting_as
from chatd.testing.fake_clock import FakeClock
from chatd.workspaces.build_logs import BuildLogWriter
from chatd.workspaces.lifecycle import Lifecycle
from chatd.workspaces.provisioner import BuildFailed
from chatd.workspaces.upkeep import Upkeep
from engine.deployment import new_id
from workspaces.deployed import Deployed
from workspaces.folders import FolderProvisioner

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_build_whose_replica_is_killed_is_carried_out_by_another_of_its_machine(
    moment: str, here: Deployed, folders: FolderProvisioner
):
    doomed = new_id()
    await here.beat(doomed)
    lifecycle = Lifecycle(here.store, here.hints, FakeClock(), {ProvisionerKind.LOCAL: folders})
    with acting_as(here.person):
        build = await lifecycle.create(here.new())
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "workspaces.builder_process", here.dsn, str(doomed), str(folders.root), moment),
        env={**os.environ, "PYTHONPATH": f"{SOURCE}:{TESTS}"},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(30):
        assert await process.stdout.readline() == b"begun\n"
    process.kill()
    await process.communicate()
    left = folders.records()
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            still = await workspaces.lifecycle.wait(build.id, seconds=0)
            await here.sql.expire_replica(id=doomed)
            here.hints.publish("builds")
            ended = await workspaces.lifecycle.wait(build.id, seconds=60)
        agents = folders.records()

    assert still.status is BuildStatus.RUNNING
    assert (ended.status, ended.claims) == (BuildStatus.SUCCEEDED, 2)
    assert len(agents) == 1
    assert left == (agents if moment == "after" else [])


async def test_a_build_that_kills_again_and_again_is_given_up(here: Deployed, folders: FolderProvisioner):
    lifecycle = Lifecycle(here.store, here.hints, FakeClock(), {ProvisionerKind.LOCAL: folders})
    with acting_as(here.person):
        build = await lifecycle.create(here.new())
    await here.pool.execute("UPDATE workspace_builds SET claims = 3, status = 'running', replica_id = $1", new_id())
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            ended = await workspaces.lifecycle.wait(build.id, seconds=60)

    assert (ended.status, ended.error_code) == (BuildStatus.FAILED, "gave_up")
    assert folders.calls == []


@pytest.mark.parametrize("trouble", [None, BuildFailed("It took too long.")])
async def test_a_replica_that_lost_its_build_ends_nothing(
    trouble: BuildFailed | None, here: Deployed, folders: FolderProvisioner
):
    """Neither the build nor what its new owner has started."""
    folders.gate.clear()
    folders.trouble = trouble
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            build = await workspaces.lifecycle.create(here.new())
        async with asyncio.timeout(20):
            await folders.begun.wait()
        robber = new_id()
        await here.beat(robber)
        await here.pool.execute("UPDATE workspace_builds SET replica_id = $1", robber)
        folders.gate.set()
        with acting_as(here.person):
            await workspaces.lifecycle.wait(build.id, seconds=1)

    row = await here.sql.get_workspace_build(id=build.id)
    assert row is not None
    assert (row.status, row.replica_id) == (BuildStatus.RUNNING, robber)
    assert folders.calls == ["start"]


async def test_a_build_that_nobody_can_carry_out_fails_in_the_end(here: Deployed, folders: FolderProvisioner):
    lifecycle = Lifecycle(here.store, here.hints, FakeClock(), {ProvisionerKind.LOCAL: folders})
    with acting_as(here.person):
        build = await lifecycle.create(here.new())
    upkeep = Upkeep(here.store, here.hints, FakeClock(), Metrics().workspaces)
    await upkeep.sweep()
    early = await here.sql.get_workspace_build(id=build.id)
    await here.pool.execute("UPDATE workspace_builds SET created_at = now() - interval '11 minutes'")
    await upkeep.sweep()

    late = await here.sql.get_workspace_build(id=build.id)
    assert early is not None
    assert late is not None
    assert (early.status, late.status, late.error_code) == (BuildStatus.PENDING, BuildStatus.FAILED, "not_claimed")


@pytest.mark.parametrize(
    ("host_id", "makes", "wanted"),
    [
        ("here", ["local"], BuildStatus.PENDING),
        ("here", ["docker", "local"], BuildStatus.PENDING),
        ("here", None, BuildStatus.PENDING),  # of an older version
        ("here", ["docker"], BuildStatus.FAILED),
        ("here", [], BuildStatus.FAILED),
        ("there", ["local"], BuildStatus.FAILED),
    ],
)
async def test_a_build_that_a_live_replica_can_carry_out_waits_until_it_has_room(
    host_id: str, makes: list[str] | None, wanted: BuildStatus, here: Deployed, folders: FolderProvisioner
):
    lifecycle = Lifecycle(here.store, here.hints, FakeClock(), {ProvisionerKind.LOCAL: folders})
    with acting_as(here.person):
        build = await lifecycle.create(here.new())
    busy = new_id()
    await here.beat(busy, host_id, makes)
    await here.pool.execute("UPDATE workspace_builds SET created_at = now() - interval '1 hour'")
    upkeep = Upkeep(here.store, here.hints, FakeClock(), Metrics().workspaces)
    await upkeep.sweep()
    waiting = await here.sql.get_workspace_build(id=build.id)
    await here.sql.expire_replica(id=busy)
    await upkeep.sweep()
    left = await here.sql.get_workspace_build(id=build.id)

    assert waiting is not None
    assert waiting.status is wanted
    assert left is not None
    assert left.status is BuildStatus.FAILED


async def test_what_a_build_says_is_bounded(here: Deployed, folders: FolderProvisioner):
    lifecycle = Lifecycle(here.store, here.hints, FakeClock(), {ProvisionerKind.LOCAL: folders})
    with acting_as(here.person):
        build = await lifecycle.create(here.new())
    replica = new_id()
    await here.pool.execute("UPDATE workspace_builds SET status = 'running', replica_id = $1", replica)
    log = BuildLogWriter(here.store, here.hints, FakeClock(), build_id=build.id, replica_id=replica)
    with acting_as(PROVISIONER):
        log("stage", "x\x00y\udc80" + "é" * MOST_LINE_BYTES)
        for _ in range(12):
            for _ in range(600):
                log("stage", "line")
            await log.flush()
        lines = await here.store.list_build_logs(build_id=build.id, after_id=0, max_rows=2 * MOST_LOG_LINES)

    assert len(lines) <= MOST_LOG_LINES
    assert lines[-1].line == "More was said than is kept."
    assert lines[0].line.startswith("xy?é")
    assert len(lines[0].line.encode()) <= MOST_LINE_BYTES


async def test_what_a_provisioner_says_ends_its_build_whatever_characters_are_in_it(
    here: Deployed, folders: FolderProvisioner
):
    folders.trouble = BuildFailed("It said \x00 and \udc80.", code="odd\x00")
    async with here.replica(folders) as workspaces:
        ended = await here.created(workspaces)

    assert (ended.status, ended.error, ended.error_code) == (BuildStatus.FAILED, "It said  and ?.", "odd")


async def test_a_build_that_cannot_be_read_is_given_up_and_others_go_on(here: Deployed, folders: FolderProvisioner):
    lifecycle = Lifecycle(here.store, here.hints, FakeClock(), {ProvisionerKind.LOCAL: folders})
    with acting_as(here.person):
        broken = await lifecycle.create(here.new())
    await here.pool.execute("UPDATE workspaces SET agent_token = $1", f"enc1:{'0' * 16}:AAAA")
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            ended = await workspaces.lifecycle.wait(broken.id, seconds=20)
        other = await here.created(workspaces)

    assert (ended.status, ended.error_code) == (BuildStatus.FAILED, "gave_up")
    assert other.status is BuildStatus.SUCCEEDED
    assert folders.calls == ["start", "stop"]


async def test_a_build_that_hangs_fails_after_its_time_and_what_it_left_is_ended(
    here: Deployed, folders: FolderProvisioner
):
    folders.gate.clear()
    clock = FakeClock()
    async with here.replica(folders, clock=clock) as workspaces:
        with acting_as(here.person):
            build = await workspaces.lifecycle.create(here.new())
            async with asyncio.timeout(20):
                await folders.begun.wait()
            await clock.advance(BUILD_SECONDS - 1)
            still = await workspaces.lifecycle.wait(build.id, seconds=0)
            await clock.advance(1)
            async with asyncio.timeout(20):
                ended = await workspaces.lifecycle.wait(build.id)

    assert still.status is BuildStatus.RUNNING
    assert (ended.status, ended.error_code) == (BuildStatus.FAILED, "timeout")
    assert folders.calls == ["start", "stop"]


async def test_a_build_that_was_cancelled_while_its_replica_was_gone_is_not_begun_again(
    here: Deployed, folders: FolderProvisioner
):
    lifecycle = Lifecycle(here.store, here.hints, FakeClock(), {ProvisionerKind.LOCAL: folders})
    with acting_as(here.person):
        build = await lifecycle.create(here.new())
        await here.pool.execute("UPDATE workspace_builds SET claims = 1, status = 'running', replica_id = $1", new_id())
        await lifecycle.cancel(build.id)
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            ended = await workspaces.lifecycle.wait(build.id, seconds=60)

    assert ended.status is BuildStatus.CANCELLED
    assert folders.calls == ["stop"]  # what was begun is ended


async def test_who_asked_for_the_end_of_a_build_is_heard_even_when_the_hint_got_lost(
    here: Deployed, folders: FolderProvisioner
):
    folders.gate.clear()
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            build = await workspaces.lifecycle.create(here.new())
            async with asyncio.timeout(20):
                await folders.begun.wait()
            await here.pool.execute("UPDATE workspace_builds SET cancelled_by = $1", here.person.user_id)
            here.hints.publish("builds")  # whatever makes it look
            ended = await workspaces.lifecycle.wait(build.id, seconds=20)

    assert ended.status is BuildStatus.CANCELLED
