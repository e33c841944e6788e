"""A workspace runs until its deadline, which use pushes out."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from chatd.background import beside
from chatd.core.chat_settings import WORKSPACE_TTL
from chatd.core.messages import NewMessage
from chatd.core.parts import ToolCallPart
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.core.workspaces.kinds import BuildReason, BuildTransition
from chatd.observe.metrics import Metrics
from chatd.store.queries import GetWorkspaceRow
from chatd.store.transitions import Applied, Fence, Take
from chatd.testing.fake_clock import FakeClock
from chatd.workspaces.upkeep import Upkeep
from chatd.workspaces.usage import HEARTBEAT_SECONDS, UsageTracker
from engine.deployment import new_id
from store.world import add_workspace
from workspaces.deployed import Deployed
from workspaces.folders import FolderProvisioner

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - deadlines are by the database's time


def near(at: datetime | None, wanted: datetime) -> bool:
    return at is not None and abs(at - wanted) < MINUTE


async def running(here: Deployed, **columns: Any) -> UUID:
    """A workspace that runs, as far as the database knows."""
    user = await here.sql.get_user_by_id(id=here.person.user_id)
    build = await add_workspace(here.sql, user, here.template_id)
    await here.pool.execute(
        "UPDATE workspace_builds SET status = 'succeeded', finished_at = now() WHERE id = $1", build.id
    )
    await here.pool.execute(
        """UPDATE workspaces SET agent_address = 'unix:a', last_used_at = now() - interval '1 day', deadline = $2,
           max_deadline = $3, host_id = $4 WHERE id = $1""",
        build.workspace_id,
        columns.get("deadline"),
        columns.get("max_deadline"),
        columns.get("host_id"),
    )
    return build.workspace_id


@pytest.mark.parametrize(
    ("setting_ms", "for_chat", "forbids", "default_ms", "wanted"),
    [
        (7_200_000, True, False, 3_600_000, 2 * HOUR),
        (0, True, False, 3_600_000, HOUR),
        (7_200_000, True, True, 3_600_000, HOUR),
        (7_200_000, True, True, 0, None),
        (7_200_000, False, False, 3_600_000, HOUR),
        (0, True, False, 0, None),
    ],
)
async def test_the_deployments_ttl_is_for_workspaces_of_chats_unless_the_template_forbids_it(
    setting_ms: int,
    for_chat: bool,
    forbids: bool,
    default_ms: int,
    wanted: timedelta | None,
    here: Deployed,
    folders: FolderProvisioner,
):
    await here.sql.upsert_site_setting(key=WORKSPACE_TTL, value=str(setting_ms))
    await here.pool.execute(
        "UPDATE templates SET default_ttl_ms = $1, allows_user_autostop = $2", default_ms, not forbids
    )
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces, for_chat=for_chat)
        found = await here.workspace(build.workspace_id)

    assert build.reason is (BuildReason.CHAT if for_chat else BuildReason.INITIATOR)
    assert found.deadline is None if wanted is None else near(found.deadline, now() + wanted)


@pytest.mark.behaviour("WORKSPACE-2")
async def test_each_heartbeat_of_a_chat_that_runs_pushes_the_deadline_out(here: Deployed):
    clock, replica = FakeClock(), new_id()
    used = await running(here, deadline=now() + 5 * MINUTE)
    idle = await running(here, deadline=now() + 5 * MINUTE)
    touched = await running(here, deadline=now() + 5 * MINUTE)
    elsewhere = await running(here, deadline=now() + 5 * MINUTE)
    await here.chat(used, take=Take(replica, new_id()))
    await here.chat(idle)
    await here.chat(elsewhere, take=Take(new_id(), new_id()))
    usage = UsageTracker(here.store, clock, replica_id=replica)
    usage.used(touched)
    async with beside({"keep": usage.keep()}):
        await clock.wait_for("workspace-heartbeat")
        await clock.advance(HEARTBEAT_SECONDS)
        await clock.wait_for("workspace-heartbeat")
    rows = {id: await here.workspace(id) for id in (used, idle, touched, elsewhere)}

    def is_bumped(row: GetWorkspaceRow) -> bool:
        assert near(row.last_used_at, now()) == near(row.deadline, now() + HOUR)
        return near(row.deadline, now() + HOUR)

    assert {id for id, row in rows.items() if is_bumped(row)} == {used, touched}


@pytest.mark.behaviour("WORKSPACE-2")
@pytest.mark.parametrize(
    ("deadline", "most", "wanted"),
    [
        (10 * MINUTE, None, HOUR),
        (3 * HOUR, None, 3 * HOUR),  # never back
        (58 * MINUTE, None, 58 * MINUTE),  # 5 % of the hour have not passed
        (56 * MINUTE, None, HOUR),
        (10 * MINUTE, 30 * MINUTE, 30 * MINUTE),  # never beyond what the template allows
        (30 * MINUTE, 30 * MINUTE, 30 * MINUTE),
        (None, None, None),  # it may run for ever
    ],
)
async def test_a_deadline_moves_to_the_bump_from_now(
    deadline: timedelta | None, most: timedelta | None, wanted: timedelta | None, here: Deployed
):
    start = now()
    id = await running(
        here, deadline=deadline and start + deadline, max_deadline=None if most is None else start + most
    )
    usage = UsageTracker(here.store, FakeClock(), replica_id=new_id())
    usage.used(id)
    await usage.flush()

    found = await here.workspace(id)
    assert found.deadline is None if wanted is None else near(found.deadline, start + wanted)


async def test_use_that_could_not_be_stored_is_said_again(here: Deployed):
    id = await running(here, deadline=now() + MINUTE)
    usage = UsageTracker(here.store, FakeClock(), replica_id=new_id())
    usage.used(id)
    await here.pool.execute("ALTER TABLE workspaces RENAME TO away")
    await usage.flush()
    await here.pool.execute("ALTER TABLE away RENAME TO workspaces")
    await usage.flush()

    assert near((await here.workspace(id)).deadline, now() + HOUR)


@pytest.mark.behaviour("WORKSPACE-2")
async def test_an_idle_workspace_is_stopped_at_its_deadline_and_one_in_use_is_not(here: Deployed):
    past = now() - MINUTE
    idle, in_use, early, for_ever = [await running(here, deadline=at) for at in (past, past, now() + MINUTE, None)]
    await here.sql.beat_replica(id=new_id(), url="", host="", pid=1, version="1", host_id="here", provisioners=None)
    reachable, gone = [await running(here, deadline=past, host_id=host) for host in ("here", "gone")]
    rested = await running(here, deadline=past)
    await here.chat(in_use)
    take = Take(new_id(), new_id())
    made = await here.chat(rested, take=take)
    await here.transitions.finish_turn(Fence(made.change.chat_id, take.runner_id, made.change.history_version))
    upkeep = Upkeep(here.store, here.hints, FakeClock(), Metrics().workspaces)
    await upkeep.sweep()
    await upkeep.sweep()

    rows = {id: await here.workspace(id) for id in (idle, in_use, early, for_ever, reachable, gone, rested)}
    stopped = {id for id, row in rows.items() if row.transition is BuildTransition.STOP}
    assert stopped == {idle, reachable, rested}
    assert {rows[id].build_number for id in stopped} == {2}
    reasons = await here.pool.fetch("SELECT DISTINCT reason FROM workspace_builds WHERE transition = 'stop'")
    assert [row[0] for row in reasons] == ["autostop"]


async def waiting_for_its_client(here: Deployed, workspace_id: UUID, replica_id: UUID) -> None:
    take = Take(replica_id, new_id())
    made = await here.chat(workspace_id, take=take, dynamic_tools='[{"name": "ask"}]')
    call = ToolCallPart(tool_call_id="c", tool_name="ask", args="{}")
    step = NewMessage(role=Role.ASSISTANT, parts=(call,))
    fence = Fence(made.change.chat_id, take.runner_id, made.change.history_version)
    committed = await here.transitions.commit_step(fence, [step])
    assert isinstance(committed, Applied), committed
    assert committed.fence is not None
    waits = await here.transitions.enter_requires_action(committed.fence)
    assert isinstance(waits, Applied), waits
    assert waits.change.status is Status.REQUIRES_ACTION


async def test_a_chat_that_waits_for_its_client_neither_keeps_a_workspace_running_nor_pushes_its_deadline_out(
    here: Deployed,
):
    replica = new_id()
    overdue, later = await running(here, deadline=now() - MINUTE), await running(here, deadline=now() + 5 * MINUTE)
    for id in (overdue, later):
        await waiting_for_its_client(here, id, replica)
    await UsageTracker(here.store, FakeClock(), replica_id=replica).flush()
    await Upkeep(here.store, here.hints, FakeClock(), Metrics().workspaces).sweep()

    stopped, idle = await here.workspace(overdue), await here.workspace(later)
    assert stopped.transition is BuildTransition.STOP
    assert near(idle.deadline, now() + 5 * MINUTE)


async def test_a_stop_that_failed_is_tried_again_later(here: Deployed):
    id = await running(here, deadline=now() - MINUTE)
    upkeep = Upkeep(here.store, here.hints, FakeClock(), Metrics().workspaces)
    numbers: list[int] = []
    for ago in (timedelta(0), 6 * MINUTE):
        await upkeep.sweep()
        await here.pool.execute(
            "UPDATE workspace_builds SET status = 'failed', finished_at = now() - $1::interval WHERE number > 1",
            ago,
        )
        await upkeep.sweep()
        numbers.append((await here.workspace(id)).build_number)

    assert numbers == [2, 3]


async def test_a_recovery_does_not_lengthen_a_life(here: Deployed, folders: FolderProvisioner):
    await here.pool.execute("UPDATE templates SET max_lifetime_ms = 3600000, default_ttl_ms = 7200000")
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces)
        first = await here.workspace(build.workspace_id)
        chat = (await here.chat(build.workspace_id)).change.chat_id
        there = await workspaces.resolver.resolve(chat)
        await folders.kill_all()
        await workspaces.resolver.recover(there)
        second = await here.workspace(build.workspace_id)

    assert near(first.deadline, now() + HOUR)
    assert second.build_number == 2
    assert (second.max_deadline, second.deadline) == (first.max_deadline, first.deadline)


async def test_a_recovery_leaves_the_deadline_where_use_or_its_owner_has_put_it(
    here: Deployed, folders: FolderProvisioner
):
    await here.pool.execute("UPDATE templates SET default_ttl_ms = 7200000")
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces)
        chat = (await here.chat(build.workspace_id)).change.chat_id
        for deadline in (now() + MINUTE, now() + 5 * HOUR, None):
            await here.pool.execute("UPDATE workspaces SET deadline = $1", deadline)
            there = await workspaces.resolver.resolve(chat)
            await folders.kill_all()
            await workspaces.resolver.recover(there)
            assert (await here.workspace(build.workspace_id)).deadline == deadline
