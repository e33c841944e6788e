"""What a chat costs that is watched on another replica: the one that runs it, and the one that shows it."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import aiohttp

from bench.processes import PASSWORD, Measured, chatd_serve, median, new_data_dir, started
from bench.stream import CHUNKS, Client, until_stored

RUNS: Final = 3
CHATS: Final = 20  # at once: a process that wakes for a single word every 20 ms measures the waking
_ADMIN: Final = {"CHATD_BOOTSTRAP_ADMIN_EMAIL": "a@example.com", "CHATD_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD}


async def main() -> None:
    async with AsyncExitStack() as stack:
        data_dir = stack.enter_context(new_data_dir())
        http = await stack.enter_async_context(aiohttp.ClientSession())
        owner = await _server(stack, data_dir)
        other = await _server(stack, data_dir)
        login = {"login": "admin", "password": PASSWORD}
        async with http.post(f"{owner.url}/api/v2/users/login", json=login) as answer:
            token = (await answer.json())["session_token"]
        here, there = Client(owner, token, http), Client(other, token, http)
        more: list[float] = []
        shown: list[float] = []
        for _ in range(RUNS):
            alone, idle = await _turns(owner, other, here, None)
            followed, seen = await _turns(owner, other, here, there)
            more.append((followed - alone) / CHATS / CHUNKS * 1e6)
            shown.append((seen - idle) / CHATS / CHUNKS * 1e6)
    print(f"a chunk for another replica, where the chat runs    {median(more):6.1f} µs of CPU")
    print(f"a chunk from another replica, to its first reader   {median(shown):6.1f} µs of CPU")


async def _server(stack: AsyncExitStack, data_dir: Path) -> Measured:
    command = (*chatd_serve(data_dir), "--requests-per-minute", "0")
    return await stack.enter_async_context(started(*command, **_ADMIN))


async def _turns(owner: Measured, other: Measured, here: Client, there: Client | None) -> tuple[float, float]:
    """CPU seconds of both for turns that have one reader on the first, and one on the other if they are to be shown."""
    chats = [await here.new_chat("hello") for _ in range(CHATS)]
    streams = [await here.follow(chat, "websocket") for chat in chats]
    if there is not None:
        streams += [await there.follow(chat, "websocket") for chat in chats]
    await until_stored(streams)
    before = owner.cpu_seconds(), other.cpu_seconds()
    for chat in chats:
        await here.send(chat, f"count to {CHUNKS}")
    await until_stored(streams, f" {CHUNKS}.".encode())
    used = owner.cpu_seconds() - before[0], other.cpu_seconds() - before[1]
    for _, writer in streams:
        writer.close()
    return used
