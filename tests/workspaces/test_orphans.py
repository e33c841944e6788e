"""Workspaces of a machine that is gone can be deleted; what they have left there goes when it comes back."""

import pytest

from chatd.core.access import Person, Role
from chatd.core.errors import Conflict, NotFound
from chatd.core.workspaces.kinds import BuildStatus, BuildTransition, ProvisionerKind
from chatd.store.actor import acting_as
from chatd.testing.fake_clock import FakeClock
from chatd.workspaces.lifecycle import Lifecycle
from chatd.workspaces.resolving import Reason, WorkspaceUnavailable
from engine.deployment import new_id
from workspaces.deployed import Deployed
from workspaces.folders import FolderProvisioner


def elsewhere(here: Deployed) -> Lifecycle:
    """On a machine that builds nothing here."""
    return Lifecycle(here.store, here.hints, FakeClock(), {})


async def test_a_workspace_whose_machine_is_gone_is_deleted_without_a_word_to_that_machine(
    here: Deployed, folders: FolderProvisioner
):
    async with here.replica(folders, keeps_agents=True) as workspaces:
        build = await here.created(workspaces, name="mine")
        chat = (await here.chat(build.workspace_id)).change.chat_id
    await here.pool.execute("DELETE FROM replicas")
    calls = list(folders.calls)
    with acting_as(here.person):
        deleted = await elsewhere(here).orphan(build.workspace_id)
        with pytest.raises(NotFound):
            await elsewhere(here).orphan(build.workspace_id)
    row = await here.workspace(build.workspace_id)

    assert (deleted.transition, deleted.status, deleted.number) == (BuildTransition.DELETE, BuildStatus.SUCCEEDED, 2)
    assert deleted.initiator_id == here.person.user_id
    assert (row.deleted, row.has_agent, row.deadline) == (True, False, None)
    assert folders.calls == calls
    async with here.replica(folders, host_id="there") as workspaces:
        with acting_as(here.person):
            another = await workspaces.lifecycle.create(here.new(name="mine"))  # the name is free
        with pytest.raises(WorkspaceUnavailable) as gone:
            await workspaces.resolver.resolve(chat)
    assert another.workspace_id != build.workspace_id
    assert gone.value.reason is Reason.DELETED


async def test_the_machine_deletes_what_is_left_when_it_is_back_and_only_that(
    here: Deployed, folders: FolderProvisioner
):
    async with here.replica(folders, keeps_agents=True) as workspaces:
        gone, kept = await here.created(workspaces), await here.created(workspaces)
    await here.pool.execute("DELETE FROM replicas")
    with acting_as(here.person):
        await elsewhere(here).orphan(gone.workspace_id)
    left = len(folders.records())
    folders.calls.clear()
    async with here.replica(folders, keeps_agents=True):
        await here.until("SELECT count(*) = 0 FROM workspace_builds WHERE error_code = 'orphan'")
    once = list(folders.calls)
    async with here.replica(folders) as workspaces:
        with acting_as(here.person):
            await workspaces.lifecycle.wait((await workspaces.lifecycle.stop(kept.workspace_id)).id)

    assert left == 2
    assert once == ["stop", "delete"]
    assert folders.calls.count("delete") == 1


async def test_a_build_that_the_machine_had_begun_is_over_too(here: Deployed, folders: FolderProvisioner):
    lifecycle = Lifecycle(here.store, here.hints, FakeClock(), {ProvisionerKind.LOCAL: folders})
    with acting_as(here.person):
        build = await lifecycle.create(here.new())
        await here.pool.execute("UPDATE workspace_builds SET status = 'running', replica_id = $1", new_id())
        await elsewhere(here).orphan(build.workspace_id)
        begun = await here.store.get_workspace_build(id=build.id)

    assert begun is not None
    assert (begun.status, begun.cancelled_by) == (BuildStatus.CANCELLED, here.person.user_id)


@pytest.mark.parametrize(
    ("bound_to", "runs_on", "makes", "is_refused"),
    [
        ("here", "here", None, True),
        ("here", "here", ["local"], True),
        ("here", "there", ["local"], False),
        ("here", "here", ["docker"], False),  # a server that makes no such workspaces any more
        (None, "there", ["local"], True),
        (None, "there", ["docker"], False),
    ],
)
async def test_while_a_server_lives_that_can_delete_it_that_one_is_to_do_so(
    bound_to: str | None, runs_on: str, makes: list[str] | None, is_refused: bool, here: Deployed,
    folders: FolderProvisioner,
):  # fmt: skip
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces)
    await here.pool.execute("DELETE FROM replicas")
    await here.pool.execute("UPDATE workspaces SET host_id = $1", bound_to)
    await here.beat(new_id(), runs_on, makes)
    with acting_as(here.person):
        if is_refused:
            with pytest.raises(Conflict, match="can delete this workspace"):
                await elsewhere(here).orphan(build.workspace_id)
        else:
            await elsewhere(here).orphan(build.workspace_id)

    assert (await here.workspace(build.workspace_id)).deleted is not is_refused


async def test_an_admin_may_and_a_stranger_may_not(here: Deployed, folders: FolderProvisioner):
    async with here.replica(folders) as workspaces:
        build = await here.created(workspaces)
    await here.pool.execute("DELETE FROM replicas")
    with acting_as(Person(new_id(), Role.MEMBER, "sam")), pytest.raises(NotFound):
        await elsewhere(here).orphan(build.workspace_id)
    admin = await here.add_user("ada")
    with acting_as(Person(admin, Role.OWNER, "ada")):
        deleted = await elsewhere(here).orphan(build.workspace_id)

    entry = await here.pool.fetchrow("SELECT * FROM audit_log WHERE target_kind = 'workspace' AND action = 'delete'")
    assert deleted.initiator_id == admin
    assert (entry["actor_name"], entry["target_id"]) == ("ada", str(build.workspace_id))
