"""Workspaces are created, started, stopped and deleted by builds that real provisioners carry out."""

import asyncio

import pytest

from chatd.clock import SystemClock
from chatd.core.access import Person, Role
from chatd.core.errors import Conflict, InvalidRequest, NotFound
from chatd.core.workspaces.kinds import BuildReason, BuildStatus, BuildTransition
from chatd.core.workspaces.states import WorkspaceState, state_of
from chatd.store.actor import acting_as
from chatd.store.queries import UserRole
from chatd.workspaces.agents.client import agent_client
from chatd.workspaces.provisioner import BuildFailed
from chatd.workspaces.resolving import Reason, WorkspaceUnavailable
from engine.deployment import new_id
from store.world import add_user
from workspaces.deployed import Deployed
from workspaces.folders import FolderProvisioner


async def test_a_workspace_goes_through_its_life_and_its_chat_is_told_what_it_is(
    here: Deployed, folders: FolderProvisioner
):
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            build = await here.created(workspaces, name="mine")
            chat = (await here.chat(build.workspace_id)).change.chat_id
            there = await workspaces.resolver.resolve(chat)
            client = agent_client(there.address, there.token, SystemClock())
            health = await client.health()
            await client.close()
            stop = await workspaces.lifecycle.wait((await workspaces.lifecycle.stop(build.workspace_id)).id)
            with pytest.raises(WorkspaceUnavailable) as stopped:
                await workspaces.resolver.resolve(chat)
            running_then = folders.records()
            start = await workspaces.lifecycle.wait((await workspaces.lifecycle.start(build.workspace_id)).id)
            delete = await workspaces.lifecycle.wait((await workspaces.lifecycle.delete(build.workspace_id)).id)
            with pytest.raises(WorkspaceUnavailable) as deleted:
                await workspaces.resolver.resolve(chat)
            another = await here.created(workspaces, name="mine")

    ends = [(each.number, each.transition, each.status) for each in (build, stop, start, delete)]
    assert ends == [
        (1, BuildTransition.START, BuildStatus.SUCCEEDED),
        (2, BuildTransition.STOP, BuildStatus.SUCCEEDED),
        (3, BuildTransition.START, BuildStatus.SUCCEEDED),
        (4, BuildTransition.DELETE, BuildStatus.SUCCEEDED),
    ]
    assert (there.workspace_id, there.name, there.template_name) == (build.workspace_id, "mine", "local")
    assert health is not None
    assert running_then == []
    assert (stopped.value.reason, deleted.value.reason) == (Reason.STOPPED, Reason.DELETED)
    assert another.workspace_id != build.workspace_id
    assert (await here.sql.get_chat(id=chat)) is not None


async def test_the_call_of_a_tool_makes_one_workspace_however_often_it_is_repeated(
    here: Deployed, folders: FolderProvisioner
):
    key = new_id()
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            builds = await asyncio.gather(*[workspaces.lifecycle.create(here.new(key=key)) for _ in range(5)])
            again = await workspaces.lifecycle.create(here.new(key=key))
            await workspaces.lifecycle.wait(again.id)
            stops = await asyncio.gather(
                *[workspaces.lifecycle.stop(again.workspace_id, key=same) for same in [new_id()] * 3],
                return_exceptions=True,
            )
            stop_ids = {each.id for each in stops if not isinstance(each, BaseException)}
            await workspaces.lifecycle.wait(stop_ids.pop())

    assert {build.id for build in [*builds, again]} == {again.id}
    assert stop_ids == set()
    assert await here.pool.fetchval("SELECT count(*) FROM workspaces") == 1
    assert await here.pool.fetchval("SELECT count(*) FROM workspace_builds") == 2


async def test_two_replicas_of_a_machine_carry_a_build_out_once_and_one_elsewhere_never(
    here: Deployed, folders: FolderProvisioner
):
    elsewhere = FolderProvisioner(folders.root, host_id="there")
    async with (
        here.replica(folders) as workspaces,
        here.replica(folders),
        here.replica(elsewhere, host_id="there"),
    ):
        builds = [await here.created(workspaces) for _ in range(3)]

    assert [build.status for build in builds] == [BuildStatus.SUCCEEDED] * 3
    assert folders.calls.count("start") == 3
    assert elsewhere.calls == []


async def test_a_build_that_fails_says_why_and_leaves_nothing_running(here: Deployed, folders: FolderProvisioner):
    folders.trouble = BuildFailed("There is no room.", detail="Delete a workspace.", code="quota")
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces)
        chat = (await here.chat(build.workspace_id)).change.chat_id
        with pytest.raises(WorkspaceUnavailable) as unavailable:
            await workspaces.resolver.resolve(chat)
        folders.trouble = ZeroDivisionError("secret")
        with acting_as(here.person):
            internal = await workspaces.lifecycle.wait((await workspaces.lifecycle.start(build.workspace_id)).id)
            folders.trouble = None
            healed = await workspaces.lifecycle.wait((await workspaces.lifecycle.start(build.workspace_id)).id)
            logs = await here.store.list_build_logs(build_id=build.id, after_id=0, max_rows=10)

    assert (build.status, build.error_code) == (BuildStatus.FAILED, "quota")
    assert build.error == "There is no room. Delete a workspace."
    assert (unavailable.value.reason, unavailable.value.detail) == (Reason.FAILED, build.error)
    assert (internal.error_code, "secret" in internal.error) == ("internal", False)
    assert healed.status is BuildStatus.SUCCEEDED
    assert folders.calls == ["start", "stop", "start", "stop", "start", "stop"]  # the last by the server's own end
    assert [(log.level, log.line) for log in logs] == [("info", "begins"), ("error", build.error)]


async def test_a_build_is_cancelled_before_it_begins_and_while_it_runs(here: Deployed, folders: FolderProvisioner):
    with acting_as(here.person):
        async with here.replica(folders) as workspaces:
            folders.gate.clear()
            build = await workspaces.lifecycle.create(here.new())
            async with asyncio.timeout(20):
                await folders.begun.wait()
            await workspaces.lifecycle.cancel(build.id)
            ended = await workspaces.lifecycle.wait(build.id)
            with pytest.raises(Conflict):
                await workspaces.lifecycle.cancel(build.id)
        waiting = await workspaces.lifecycle.start(build.workspace_id)
        cancelled = await workspaces.lifecycle.cancel(waiting.id)

    assert (ended.status, cancelled.status) == (BuildStatus.CANCELLED, BuildStatus.CANCELLED)
    row = await here.workspace(build.workspace_id)
    assert state_of(row.transition, row.build_status) is WorkspaceState.FAILED


async def test_one_build_at_a_time(here: Deployed, folders: FolderProvisioner):
    with acting_as(here.person):
        async with here.replica(folders) as workspaces:
            folders.gate.clear()
            build = await workspaces.lifecycle.create(here.new())
            for call in (workspaces.lifecycle.start, workspaces.lifecycle.stop, workspaces.lifecycle.delete):
                with pytest.raises(Conflict, match="starting"):
                    await call(build.workspace_id)
            folders.gate.set()
            await workspaces.lifecycle.wait(build.id)
            with pytest.raises(Conflict, match="runs already"):
                await workspaces.lifecycle.start(build.workspace_id)
            raced = await asyncio.gather(
                *[workspaces.lifecycle.stop(build.workspace_id) for _ in range(5)], return_exceptions=True
            )
            won = [each for each in raced if not isinstance(each, BaseException)]
            await workspaces.lifecycle.wait(won[0].id)

    assert len(won) == 1
    assert all(isinstance(each, Conflict) for each in raced if isinstance(each, BaseException))


async def test_others_see_no_workspace_and_an_owner_of_the_site_may_stop_but_not_reach_it(
    here: Deployed, folders: FolderProvisioner
):
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces)
        with acting_as(Person(new_id(), Role.MEMBER, "eve")):
            with pytest.raises(NotFound):
                await workspaces.lifecycle.stop(build.workspace_id)
            with pytest.raises(NotFound):
                await workspaces.lifecycle.wait(build.id)
            with pytest.raises(NotFound):
                await workspaces.lifecycle.create(here.new())
        reader = Person(here.person.user_id, Role.MEMBER, "mia", frozenset({"workspace:read"}))
        with acting_as(reader), pytest.raises(NotFound):
            await workspaces.lifecycle.stop(build.workspace_id)
        admin = (await add_user(here.sql, "olga", UserRole.OWNER)).id
        with acting_as(Person(admin, Role.OWNER, "olga")):
            with pytest.raises(WorkspaceUnavailable) as unreachable:
                await workspaces.resolver.resolve_workspace(build.workspace_id)
            stop = await workspaces.lifecycle.wait((await workspaces.lifecycle.stop(build.workspace_id)).id)

    assert unreachable.value.reason is Reason.NONE
    assert (stop.status, stop.initiator_id, stop.reason) == (BuildStatus.SUCCEEDED, admin, BuildReason.INITIATOR)


async def test_values_are_checked_kept_and_given_to_the_build(here: Deployed, folders: FolderProvisioner):
    asks = '[{"name": "size", "type": "number", "max": 4}, {"name": "once", "default": "no", "ephemeral": true}]'
    await here.pool.execute("UPDATE templates SET parameters = $1", asks)
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            with pytest.raises(InvalidRequest) as wrong:
                await workspaces.lifecycle.create(here.new(parameters={"size": "5", "other": "1"}))
            build = await here.created(workspaces, parameters={"size": "3", "once": "yes"})
            await workspaces.lifecycle.wait((await workspaces.lifecycle.stop(build.workspace_id)).id)
            start = await workspaces.lifecycle.wait((await workspaces.lifecycle.start(build.workspace_id)).id)

    assert [each.field for each in wrong.value.validations] == ["parameters.other", "parameters.size"]
    assert (build.parameters, start.parameters) == ('{"once": "yes", "size": "3"}', '{"once": "no", "size": "3"}')
    assert (await here.workspace(build.workspace_id)).parameters == '{"size": "3"}'


async def test_templates_that_are_not_for_this_are_refused(here: Deployed, folders: FolderProvisioner):
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            with pytest.raises(NotFound):
                await workspaces.lifecycle.create(here.new(organization_id=new_id()))
            await here.pool.execute("UPDATE templates SET agents_allowed = false")
            with pytest.raises(Conflict, match="Agents"):
                await workspaces.lifecycle.create(here.new(for_chat=True))
            await here.pool.execute("UPDATE templates SET deprecated = 'Take the other one.'")
            with pytest.raises(Conflict, match="deprecated"):
                await workspaces.lifecycle.create(here.new())
            await here.pool.execute("UPDATE templates SET deprecated = '', provisioner = 'docker'")
            with pytest.raises(Conflict, match="docker"):
                await workspaces.lifecycle.create(here.new())
