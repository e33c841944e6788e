"""Whether the agents of this machine's workspaces answer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, Literal
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import PROVISIONER
from chatd.core.errors import ChatdError
from chatd.server.doctor.findings import Finding, bad, doubtful, good
from chatd.store.actor import acting_as
from chatd.store.queries import GetWorkspaceAgentRow
from chatd.store.store import Store
from chatd.workspaces.agents.client import agent_client
from chatd.workspaces.agents.errors import AgentUnreachable
from chatd.workspaces.host import known_host_id

_MOST: Final = 50  # that are asked; when these answer so do the others
_ANSWER_SECONDS: Final = 3.0  # an agent answers within milliseconds
_WITHOUT: Final = "Commands of models can do all that the server's user can; local_workspaces=confined ends that."
_BACK: Final = "The next use starts it again over the same files; `chatd workspaces logs` says what its builds said."


async def check_agents(
    store: Store, data_dir: Path, clock: Clock, *, unconfined: bool = False
) -> AsyncIterator[Finding]:
    """`unconfined`: the operator wants no sandbox around local workspaces."""
    if unconfined:
        yield doubtful("workspaces", "Local workspaces run without a sandbox", _WITHOUT)
    host_id = known_host_id(data_dir)
    if host_id is None:
        yield good("agents", "No server has run here yet, so there are no workspaces on this machine")
        return
    found = await _agents(store, host_id)
    asked = await asyncio.gather(*(_asked(row, clock) for row in found))
    silent = [row.name for row, said in zip(found, asked, strict=True) if said == "silent"]
    resting = asked.count("rests")
    if not found:
        yield good("agents", "No workspace runs on this machine")
    elif not silent and not resting:
        yield good("agents", f"{len(found)} of this machine's workspaces run, and their agents answer")
    elif not silent:
        yield good("agents", f"{len(found) - resting} of {len(found)} answer; the next use starts the others")
    elif len(silent) == len(found) > 1:
        yield bad("agents", f"None of the agents of this machine's {len(found)} workspaces answers", _BACK)
    else:
        yield doubtful("agents", f"{len(silent)} of {len(found)} agents do not answer: {', '.join(silent[:5])}", _BACK)


async def _agents(store: Store, host_id: str) -> list[GetWorkspaceAgentRow]:
    with acting_as(PROVISIONER):
        ids = await store.list_host_workspaces(host_id=host_id, after_id=UUID(int=0), max_rows=_MOST)
        rows = [await store.get_workspace_agent(id=id) for id in ids]
    return [row for row in rows if row is not None and row.agent_address is not None]


async def _asked(row: GetWorkspaceAgentRow, clock: Clock) -> Literal["answers", "rests", "silent"]:
    """An agent rests when nobody listens on its socket: it leaves when it is not used, and ends with the server."""
    assert row.agent_address is not None
    client = agent_client(row.agent_address, row.agent_token, clock)
    try:
        await client.health(seconds=_ANSWER_SECONDS)
    except AgentUnreachable as error:
        return "rests" if row.agent_address.startswith("unix:") and not error.was_sent else "silent"
    except ChatdError:
        return "silent"
    finally:
        await client.close()
    return "answers"
