"""A dead agent comes back over the same files, once, and servers find the agents that outlived them."""

import asyncio

import msgspec
import pytest

from chatd.core.workspaces.kinds import BuildReason, BuildStatus
from chatd.store.actor import acting_as
from chatd.workspaces.provisioner import BuildFailed, BuildLog, WorkspaceSpec
from chatd.workspaces.resolving import Reason, WorkspaceUnavailable
from engine.deployment import new_id
from workspaces.deployed import Deployed
from workspaces.folders import PATIENCE, FolderProvisioner


async def test_a_dead_agent_comes_back_over_the_same_files_however_many_miss_it(
    here: Deployed, folders: FolderProvisioner
):
    async with here.replica(folders) as one, here.replica(folders) as two:
        build = await here.created(one)
        chat = (await here.chat(build.workspace_id)).change.chat_id
        there = await one.resolver.resolve(chat)
        (folder,) = folders.root.glob("*")
        (folder / "home" / "kept").write_text("x")
        before = folders.records()
        await folders.kill_all()
        found = await asyncio.gather(*[each.resolver.recover(there) for each in (one, two, one, two, one)])
        after = folders.records()
        again = await one.resolver.recover(there)
        with acting_as(here.person):
            builds = await here.store.list_workspace_builds(
                workspace_id=build.workspace_id, before_number=None, max_rows=10
            )

    assert {each.workspace_id for each in [*found, again]} == {build.workspace_id}
    assert {each.address for each in found} == {again.address}
    assert len(after) == 1
    assert after[0].pid != before[0].pid
    assert (folder / "home" / "kept").read_text() == "x"
    assert [(each.reason, each.status) for each in builds] == [
        (BuildReason.RECOVERY, BuildStatus.SUCCEEDED),
        (BuildReason.INITIATOR, BuildStatus.SUCCEEDED),
    ]


async def test_what_was_stopped_is_not_brought_back_and_a_recovery_that_fails_says_why(
    here: Deployed, folders: FolderProvisioner
):
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces)
        chat = (await here.chat(build.workspace_id)).change.chat_id
        there = await workspaces.resolver.resolve(chat)
        await folders.kill_all()
        folders.trouble = BuildFailed("The disk is full.")
        with pytest.raises(WorkspaceUnavailable) as failed:
            await workspaces.resolver.recover(there)
        with acting_as(here.person):
            await workspaces.lifecycle.wait((await workspaces.lifecycle.stop(build.workspace_id)).id)
        with pytest.raises(WorkspaceUnavailable) as stopped:
            await workspaces.resolver.recover(there)

    assert (failed.value.reason, failed.value.detail) == (Reason.FAILED, "The disk is full.")
    assert stopped.value.reason is Reason.STOPPED


async def test_a_chat_without_a_workspace_or_with_one_elsewhere_is_told_so(here: Deployed, folders: FolderProvisioner):
    elsewhere = FolderProvisioner(folders.root, host_id="there")
    async with here.replica(folders) as workspaces, here.replica(elsewhere, host_id="there") as other:
        none = (await here.chat()).change.chat_id
        with pytest.raises(WorkspaceUnavailable) as missing:
            await workspaces.resolver.resolve(none)
        build = await here.created(other)
        chat = (await here.chat(build.workspace_id)).change.chat_id
        with pytest.raises(WorkspaceUnavailable) as away:
            await workspaces.resolver.resolve(chat)
        found = await other.resolver.resolve(chat)

    assert (missing.value.reason, away.value.reason) == (Reason.NONE, Reason.OTHER_HOST)
    assert found.workspace_id == build.workspace_id


async def test_agents_outlive_a_server_that_was_killed_and_end_with_the_last_that_stops_well(
    here: Deployed, folders: FolderProvisioner
):
    async with here.replica(folders, keeps_agents=True) as workspaces:
        build = await here.created(workspaces)
        chat = (await here.chat(build.workspace_id)).change.chat_id
    outlived = folders.records()
    await here.pool.execute("UPDATE workspaces SET agent_address = 'unix:elsewhere'")
    second, third = new_id(), new_id()
    await here.beat(third)
    async with here.replica(folders, replica_id=second) as workspaces:
        there = await workspaces.resolver.recover(await workspaces.resolver.resolve(chat))
    with_another = folders.records()
    await here.pool.execute("DELETE FROM replicas")
    async with here.replica(folders, replica_id=second) as workspaces:
        pass
    async with here.replica(folders) as workspaces:
        back = await workspaces.resolver.recover(await workspaces.resolver.resolve(chat))

    assert len(outlived) == 1
    assert there.address == outlived[0].address
    assert with_another == outlived
    assert (back.workspace_id, folders.calls) == (build.workspace_id, ["start", "stop", "start"])


async def test_what_a_start_has_begun_ends_with_the_last_server(
    here: Deployed, folders: FolderProvisioner, monkeypatch: pytest.MonkeyPatch
):
    start, has_begun = folders.start, asyncio.Event()

    async def never_done(spec: WorkspaceSpec, log: BuildLog) -> str:
        await start(spec, log)
        has_begun.set()
        await asyncio.Event().wait()
        return ""

    monkeypatch.setattr(folders, "start", never_done)
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            await workspaces.lifecycle.create(here.new())
        async with asyncio.timeout(PATIENCE):
            await has_begun.wait()
        began = len(folders.records())
    left = len(folders.records())

    assert (began, left) == (1, 0)


async def test_the_first_template_is_made_once_and_never_again(here: Deployed, folders: FolderProvisioner):
    await here.pool.execute("TRUNCATE templates CASCADE")
    async with here.replica(folders), here.replica(folders):
        made = await here.sql.list_templates(organization_id=here.organization_id)
    await here.sql.delete_template(id=made[0].id)
    async with here.replica(folders):
        later = await here.sql.list_templates(organization_id=here.organization_id)

    assert [each.name for each in made] == ["local"]
    assert later == []


async def test_a_recovery_has_the_values_of_the_start_that_it_repeats(here: Deployed, folders: FolderProvisioner):
    asked_for = [{"name": "once", "ephemeral": True}, {"name": "size", "default": "1"}]
    await here.pool.execute("UPDATE templates SET parameters = $1", msgspec.json.encode(asked_for).decode())
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces, parameters={"once": "now", "size": "2"})
        chat = (await here.chat(build.workspace_id)).change.chat_id
        there = await workspaces.resolver.resolve(chat)
        await folders.kill_all()
        await workspaces.resolver.recover(there)
        values = await here.pool.fetch("SELECT parameters FROM workspace_builds ORDER BY number")
        kept = await here.pool.fetchval("SELECT parameters FROM workspaces")

    assert [msgspec.json.decode(row[0]) for row in values] == [{"once": "now", "size": "2"}] * 2
    assert msgspec.json.decode(kept) == {"size": "2"}


@pytest.mark.parametrize(
    "gone",
    [
        "UPDATE users SET status = 'suspended' WHERE id = $1",
        "UPDATE users SET deleted = true WHERE id = $1",
    ],
)
async def test_nothing_is_reached_for_an_owner_who_may_not_use_chatd_any_more(
    gone: str, here: Deployed, folders: FolderProvisioner
):
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces)
        chat = (await here.chat(build.workspace_id)).change.chat_id
        there = await workspaces.resolver.resolve(chat)
        await here.pool.execute(gone, here.person.user_id)
        with pytest.raises(WorkspaceUnavailable) as refused:
            await workspaces.resolver.resolve(chat)

    assert there.workspace_id == build.workspace_id
    assert refused.value.reason is Reason.OWNER_GONE


async def test_an_agent_that_runs_at_another_address_is_found_there_and_not_started_again(
    here: Deployed, folders: FolderProvisioner
):
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces)
        chat = (await here.chat(build.workspace_id)).change.chat_id
        there = await workspaces.resolver.resolve(chat)
        await here.pool.execute("UPDATE workspaces SET agent_address = 'unix:/elsewhere'")
        found = await workspaces.resolver.recover(await workspaces.resolver.resolve(chat))
        later = await workspaces.resolver.resolve(chat)

    assert found == later == there
    assert folders.calls == ["start", "stop"]


async def test_an_agent_whose_stop_failed_is_not_brought_back(here: Deployed, folders: FolderProvisioner):
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces)
        chat = (await here.chat(build.workspace_id)).change.chat_id
        folders.stop_trouble = BuildFailed("It does not end.")
        with acting_as(here.person):
            stop = await workspaces.lifecycle.wait((await workspaces.lifecycle.stop(build.workspace_id)).id)
        folders.stop_trouble = None
        there = await workspaces.resolver.resolve(chat)  # it may run still
        await folders.kill_all()
        with pytest.raises(WorkspaceUnavailable) as refused:
            await workspaces.resolver.recover(there)
        after = folders.records()

    assert stop.status is BuildStatus.FAILED
    assert refused.value.reason is Reason.STOPPED
    assert after == []
