"""A whole replica with a scripted vendor behind it, and chats as a client of the API has them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from chatd.core import chat_summary, labels, titles
from chatd.store.chat_hints import chat_topic
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Refuse, Say, Turn
from chatd.testing.vendors.server import VendorServer, vendor_server
from server.configured_models import KEY, model, provider
from server.running import Answer, Api, Running, running_server

CHATS = "/api/experimental/chats"
PATIENCE = 30
_SIDE = {titles.PROMPT[:20]: "A made title", labels.PROMPT[:20]: "Said something", chat_summary.PROMPT[:20]: "All."}


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


class _Script:
    """Turns are played in order, then the last one again; what is asked beside turns is answered by itself."""

    def __init__(self, turns: Sequence[Turn | Refuse], side: Refuse | None) -> None:
        self._turns = list(turns)
        self._side = side
        self.asked: list[Asked] = []

    def __call__(self, asked: Asked) -> Turn | Refuse:
        for begin, answer in _SIDE.items():
            if begin in str(asked.body.get("system")):
                return self._side or Turn(Say(answer))
        self.asked.append(asked)
        return self._turns.pop(0) if len(self._turns) > 1 else self._turns[0]


class ChatApi(msgspec.Struct, frozen=True):
    """`mia` is a member who owns the chats, unless a test says otherwise."""

    running: Running
    vendor: VendorServer
    script: _Script
    mia: Api
    model_id: str

    async def create(self, said: str = "hello", api: Api | None = None, **fields: Any) -> dict[str, Any]:
        made = await (api or self.mia).post(CHATS, {"content": [text(said)], **fields})
        assert made.status == 201, made
        return made.body

    async def send(self, chat: dict[str, Any], said: str, **fields: Any) -> Answer:
        return await self.mia.post(f"{CHATS}/{chat['id']}/messages", {"content": [text(said)], **fields})

    async def until(self, chat: dict[str, Any], *statuses: str, api: Api | None = None) -> dict[str, Any]:
        """The chat, once it is in one of these."""
        moved = asyncio.Event()
        subscription = self.running.replica.hints.subscribe(chat_topic(UUID(chat["id"])), lambda _: moved.set())
        await self.running.replica.hints.wait_connected()
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    moved.clear()
                    seen = await (api or self.mia).get(f"{CHATS}/{chat['id']}")
                    assert seen.status == 200, seen
                    if seen.body["status"] in statuses:
                        return seen.body
                    await moved.wait()
        finally:
            subscription.close()

    async def resting(self, chat: dict[str, Any], api: Api | None = None) -> dict[str, Any]:
        return await self.until(chat, "waiting", "error", api=api)

    async def said(self, chat: dict[str, Any]) -> list[str]:
        """What was said, oldest first."""
        page = await self.mia.get(f"{CHATS}/{chat['id']}/messages?limit=200")
        assert page.status == 200, page
        return [
            f"{message['role']}: {part['text']}"
            for message in reversed(page.body["messages"])
            for part in message["content"]
            if part["type"] == "text"
        ]


@asynccontextmanager
async def chat_api(
    dsn: str,
    data_dir: Path,
    turns: Sequence[Turn | Refuse] = (Turn(Say("Hi.")),),
    *,
    side: Refuse | None = None,
    **settings: Any,
) -> AsyncIterator[ChatApi]:
    """`side` is the answer to all that is asked beside turns."""
    script = _Script(turns, side)
    async with (
        vendor_server(script, key=KEY) as vendor,
        running_server(dsn, data_dir, **settings) as running,
    ):
        provider_id = await provider(running.owner, base_url=vendor.url)
        made = await model(running.owner, provider_id, "scripted-model", context_limit=100_000)
        yield ChatApi(running, vendor, script, await running.add_user("mia"), made["id"])
