"""Chats that work in a real workspace: a folder on this machine, without a sandbox."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from browser.app import App
from chatd.testing.vendors.script import Call, Say, Turn
from server.workspace_api import TEMPLATES, WorkspaceApi

IDENTITY = "-c user.name=a -c user.email=a@example.org"
REPOSITORY = f"""
git init -q -b main project && cd project && printf 'one\\ntwo\\nthree\\n' > numbers.txt
git add . && git {IDENTITY} commit -qm first && git switch -qc feature
printf 'one\\ntwo, changed\\nthree\\nfour\\n' > numbers.txt
"""


def running(command: str) -> Turn:
    """A model that runs this."""
    return Turn(Call("execute", json.dumps({"command": command, "timeout": "30s"})))


async def workspace_of(app: App) -> dict[str, Any]:
    """One that runs."""
    chats = app.chats
    (template,) = (await chats.running.owner.get(TEMPLATES)).body
    api = WorkspaceApi(chats, chats.running, chats.mia, chats.running.owner, template["id"])
    return await api.run()


async def working_chat(app: App, *commands: str, title: str = "works") -> dict[str, Any]:
    """A chat in a workspace of its own in which these were run."""
    workspace = await workspace_of(app)
    app.plays(*(running(command) for command in commands), Turn(Say("Done.")))
    chat = await app.chats.create(title, workspace_id=workspace["id"])
    return await app.chats.resting(chat)


@asynccontextmanager
async def app_with_workspaces(apps: Any, **settings: Any) -> AsyncIterator[App]:
    async with apps(local_workspaces="unconfined", **settings) as app:
        await app.chats.running.replica.hints.wait_connected()
        yield app
