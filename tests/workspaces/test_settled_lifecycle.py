"""Calls that make, stop and start a workspace are done once, however often they are settled after a crash."""

from typing import Any
from uuid import UUID

import msgspec
import pytest

from chatd.clock import SystemClock
from chatd.engine.tools.tool import Tool, ToolCall, ToolContext
from chatd.engine.tools.workspace.lifecycle import lifecycle_tools
from chatd.engine.turn_workspace import TurnWorkspace
from chatd.store.transitions import Take
from chatd.workspaces.resolving import NoWorkspaces
from engine.deployment import new_id
from workspaces.deployed import Deployed
from workspaces.folders import FolderProvisioner


def context_of(here: Deployed, chat_id: UUID, runner_id: UUID) -> ToolContext:
    return ToolContext(
        chat_id=chat_id,
        runner_id=runner_id,
        owner_id=here.person.user_id,
        organization_id=here.organization_id,
        clock=SystemClock(),
        progress=lambda _: None,
        if_cut=lambda _: None,
        workspace=TurnWorkspace(NoWorkspaces(), SystemClock(), chat_id=chat_id, ancestors=(), epoch=1),
        budget=100_000,
    )


@pytest.mark.behaviour("STATE-10")
async def test_a_call_that_is_settled_tells_what_it_has_done_and_does_nothing_again(
    here: Deployed, folders: FolderProvisioner
):
    async with here.replica(folders) as workspaces:
        take = Take(new_id(), new_id())
        await here.beat(take.replica_id)
        chat = await here.chat(take=take)
        context = context_of(here, chat.change.chat_id, take.runner_id)
        create, start, stop = lifecycle_tools(here.store, here.transitions, workspaces.lifecycle)

        async def done(tool: Tool, key: str, args: dict[str, Any]) -> list[dict[str, Any]]:
            call = ToolCall(key, "id", tool.spec.name, msgspec.json.encode(args).decode())
            outputs = [await tool.run(call, context), await tool.settle(call, context)]
            return [msgspec.json.decode(output.result) for output in outputs]

        made, again = await done(create, "k1", {"template_id": str(here.template_id)})
        ended, ended_again = await done(stop, "k2", {})
        began, began_again = await done(start, "k3", {})
        call = ToolCall("k2", "id", "stop_workspace", "{}")
        late = msgspec.json.decode((await stop.settle(call, context)).result)
        builds = await here.pool.fetchval("SELECT count(*) FROM workspace_builds")
        runs = folders.records()

    assert (made["created"], ended["stopped"], began["started"]) == (True, True, True)
    assert (made, ended, began) == (again, ended_again, began_again)
    assert late == ended
    assert builds == 3
    assert len(runs) == 1
