"""Running commands in an agent, as a server does."""

import asyncio
from itertools import count
from typing import Any
from uuid import UUID

from agent.running import CHAT, WAIT_SECONDS, AgentProcess

_keys = count()


async def start(agent: AgentProcess, command: str, *, chat: UUID | None = CHAT, epoch: int = 1, **asked: Any) -> str:
    """Start it under a key of its own; the id."""
    body = {"key": f"key-{next(_keys)}", "command": command, **asked}
    reply = await agent.ask("POST", "/processes", chat=chat, epoch=epoch, body=body)
    assert reply.status == 201, reply.body
    return reply.json["id"]


async def output(agent: AgentProcess, id: str, *, chat: UUID | None = CHAT, **query: str) -> Any:
    reply = await agent.ask("GET", f"/processes/{id}/output", chat=chat, query=query)
    assert reply.status == 200, reply.body
    return reply.json


async def finished(agent: AgentProcess, id: str, *, chat: UUID | None = CHAT) -> Any:
    return await output(agent, id, chat=chat, wait="true")


async def run(agent: AgentProcess, command: str, **asked: Any) -> Any:
    """Start it and wait for its end."""
    return await finished(agent, await start(agent, command, **asked))


async def until_said(agent: AgentProcess, id: str, wanted: str) -> Any:
    """Wait, woken by new output, until it has said this."""
    async with asyncio.timeout(WAIT_SECONDS):
        shown = await output(agent, id)
        while wanted not in shown.get("output", ""):
            assert shown["running"], shown
            shown = await output(agent, id, since=str(shown["version"]))
        return shown
