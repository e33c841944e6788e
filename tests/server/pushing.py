"""Chats of a replica whose owner's browsers are told, through a push service on this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from chatd.testing.push_server import Browser, PushServer, Received, push_server
from server.chat_api import PATIENCE, ChatApi, chat_api
from server.running import Answer, Api, Running, running_server

LOOPBACK = "127.0.0.0/8"
WEBPUSH = "/api/v2/users/{user}/webpush"


async def subscribe(api: Api, browser: Browser, user: str = "me") -> Answer:
    return await api.post(f"{WEBPUSH.format(user=user)}/subscription", browser.subscription())


async def unsubscribe(api: Api, browser: Browser, user: str = "me") -> Answer:
    return await api.call("DELETE", f"{WEBPUSH.format(user=user)}/subscription", {"endpoint": browser.endpoint})


async def trial(api: Api, user: str = "me") -> Answer:
    return await api.post(f"{WEBPUSH.format(user=user)}/test")


class Told(msgspec.Struct, frozen=True):
    """`mia` owns the chats, and `browser` is hers."""

    chats: ChatApi
    service: PushServer
    browser: Browser

    @property
    def mia(self) -> Api:
        return self.chats.mia

    async def turn(self, said: str = "hello") -> dict[str, Any]:
        """A chat whose first turn has ended."""
        return await self.chats.resting(await self.chats.create(said))

    async def until_idle(self) -> None:
        """Until nothing is made or sent around the turns that have ended."""
        await idle(self.chats.running)


async def idle(running: Running) -> None:
    engine, pushes = running.replica.engine, running.replica.push.pushes
    jobs: Any = engine.titles._jobs
    async with asyncio.timeout(PATIENCE):
        while engine.worker.running or jobs.alive or pushes.alive:
            await asyncio.get_running_loop().run_in_executor(None, lambda: None)


async def received(browser: Browser, service: PushServer, count: int = 1) -> list[Received]:
    """Once there are so many."""
    async with asyncio.timeout(PATIENCE):
        while len(browser.received) < count:
            await service.until(requests=service.requests + 1)
    return browser.received


@asynccontextmanager
async def telling(database: Any, folder: Path, *turns: Any, **settings: Any) -> AsyncIterator[Told]:
    async with push_server(folder) as service:
        given: dict[str, Any] = {"outbound_ca": str(service.ca), "outbound_private_networks": LOOPBACK, **settings}
        if turns:
            given["turns"] = turns
        async with chat_api(database.dsn, folder, **given) as chats:
            browser = service.browser()
            service.application_key = chats.running.replica.push.public_key
            assert (await subscribe(chats.mia, browser)).status == 204
            yield Told(chats, service, browser)


@asynccontextmanager
async def second_replica(told: Told, dsn: str, folder: Path) -> AsyncIterator[Running]:
    """Another replica of the same deployment, which knows mia too."""
    async with running_server(
        dsn, folder, first_user=False, outbound_ca=str(told.service.ca), outbound_private_networks=LOOPBACK
    ) as running:
        await running.replica.hints.wait_connected()
        yield running
