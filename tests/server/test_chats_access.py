"""Who may do what with someone's chat: one table of every route about chats, walked with every kind of person."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from chatd.testing.vendors.script import Hold, Say, Turn
from server.chat_api import CHATS, ChatApi, chat_api, text
from server.running import Api

CONTENT = {"content": [text("x")]}
# The owner of the chat, a site owner, an auditor, a stranger, nobody. 409: they may, and the chat can't right now.
READS = (200, 200, 200, 404, 401)
TABLE: dict[tuple[str, str], tuple[Any, tuple[int, ...]]] = {
    ("get", ""): (None, (200, 200, 200, 200, 401)),
    ("post", ""): (CONTENT, (201, 201, 201, 201, 401)),
    ("get", "/{chat}"): (None, READS),
    ("patch", "/{chat}"): ({"title": "t"}, (204, 204, 403, 404, 401)),
    ("get", "/{chat}/prompts"): (None, READS),
    ("get", "/{chat}/cost"): (None, READS),
    ("get", "/{chat}/diff"): (None, READS),
    ("get", "/{chat}/export"): (None, READS),
    ("post", "/{chat}/fork"): ({}, (201, 201, 201, 404, 401)),
    ("put", "/{chat}/read"): ({}, (204, 403, 403, 404, 401)),
    ("post", "/{chat}/interrupt"): (None, (200, 200, 403, 404, 401)),
    ("post", "/{chat}/compact"): (None, (409, 403, 403, 404, 401)),
    ("post", "/{chat}/reconcile-invalid"): (None, (409, 409, 403, 404, 401)),
    ("post", "/{chat}/tool-results"): (
        {"results": [{"tool_call_id": "c", "output": 1}]},
        (409, 403, 403, 404, 401),
    ),
    ("post", "/{chat}/title/propose"): (None, (200, 403, 403, 404, 401)),
    ("post", "/{chat}/title/regenerate"): (None, (200, 403, 403, 404, 401)),
    ("get", "/{chat}/messages"): (None, READS),
    ("post", "/{chat}/messages"): (CONTENT, (200, 403, 403, 404, 401)),
    ("patch", "/{chat}/messages/{message}"): (CONTENT, (200, 403, 403, 404, 401)),
    ("put", "/{chat}/queue"): ({"ids": "queue"}, (204, 204, 403, 404, 401)),
    ("delete", "/{chat}/queue/{queued}"): (None, (204, 204, 403, 404, 401)),
    ("post", "/{chat}/queue/{queued}/promote"): (None, (202, 403, 403, 404, 401)),
    ("post", "/{chat}/queue/{queued}/hold"): (None, (200, 403, 403, 404, 401)),
    ("post", "/{chat}/queue/{queued}/release"): ({}, (409, 403, 403, 404, 401)),
}
PEOPLE = ("owner", "admin", "auditor", "stranger", "nobody")


async def busy_chat(chats: ChatApi) -> dict[str, str]:
    """What stands for the parameters of a path: a chat at work, its first message, and one that waits."""
    chat = await chats.create()
    queued = (await chats.send(chat, "waits")).body["queued_message"]
    page = (await chats.mia.get(f"{CHATS}/{chat['id']}/messages")).body
    return {"chat": chat["id"], "message": str(page["messages"][-1]["id"]), "queued": str(queued["id"])}


async def test_every_route_of_a_chat_is_in_the_table(chats: ChatApi):
    document = (await chats.mia.get("/api/openapi.json")).body
    routes = {
        (method, path.removeprefix(CHATS))
        for path, item in document["paths"].items()
        if path == CHATS or path.startswith(f"{CHATS}/{{chat}}")
        for method in item
    }

    assert routes == set(TABLE)


@pytest.mark.parametrize("route", TABLE, ids=" ".join)
async def test_everyone_may_do_what_the_table_says(database: Any, tmp_path: Path, route: tuple[str, str]):
    body, expected = TABLE[route]
    method, path = route
    go = asyncio.Event()
    async with chat_api(database.dsn, tmp_path, [Turn(Say("one"), faults=(Hold(go),))]) as chats:
        people: dict[str, Api] = {
            "owner": chats.mia,
            "admin": chats.running.owner,
            "auditor": await chats.running.add_user("aud", "auditor"),
            "stranger": await chats.running.add_user("sam"),
            "nobody": chats.running.api,
        }
        found: dict[str, int] = {}
        for name in reversed(PEOPLE):
            named = await busy_chat(chats)
            given = {"ids": [int(named["queued"])]} if body == {"ids": "queue"} else body
            answer = await people[name].call(method.upper(), CHATS + path.format(**named), given)
            found[name] = answer.status
            untouched = (await chats.mia.get(f"{CHATS}/{named['chat']}")).body
            if answer.status in (401, 403, 404):
                assert untouched["status"] == "running", name
        go.set()

    assert tuple(found[name] for name in PEOPLE) == expected
