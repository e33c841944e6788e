"""What the model is asked: the same bytes from memory and from the database, and each prompt begins like the last."""

import json
from itertools import pairwise
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from chatd.core.messages import Message
from chatd.core.provider_kind import ProviderKind
from chatd.engine.histories import Histories
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Say, Think, Turn
from engine.chatting import chatting
from engine.scripted_tools import ScriptedTool
from engine.test_turns import VENDORS

SCRIPT = [
    Turn(Think("Hm."), Say("I look."), Call("look", '{"path": "a"}', id="call_1"), Call("look", "{}", id="call_2")),
    Turn(Call("look", '{"path": "ü"}', id="call_3")),
    Turn(Say("Done.")),
    Turn(Say("Again.")),
]


async def asked(dsn: str, kind: ProviderKind) -> list[Asked]:
    async with chatting(dsn, list(SCRIPT), kind=kind, tools=[ScriptedTool("look")], context_limit=100_000) as chats:
        chat = await chats.begin("hello", system="Be brief.")
        await chats.resting(chat)
        await chats.send(chat, "more")
        await chats.resting(chat)
        return list(chats.vendor.asked)


@pytest.mark.behaviour("LOOP-3")
@pytest.mark.parametrize("kind", VENDORS)
async def test_a_prompt_out_of_memory_is_the_one_out_of_the_database(
    database: Any, kind: ProviderKind, monkeypatch: pytest.MonkeyPatch
):
    in_flight = await asked(database.dsn, kind)
    load, reads = Histories.load, 0

    async def anew(self: Histories, chat_id: UUID, version: int) -> tuple[Message, ...]:
        nonlocal reads
        reads += 1
        self.forget(chat_id)
        return await load(self, chat_id, version)

    monkeypatch.setattr(Histories, "load", anew)
    await clear(database.dsn)
    rebuilt = await asked(database.dsn, kind)

    assert reads >= len(SCRIPT)
    assert [json.dumps(one.body) for one in rebuilt] == [json.dumps(one.body) for one in in_flight]


@pytest.mark.parametrize("kind", VENDORS)
async def test_each_prompt_begins_like_the_last_so_that_caches_hold(database: Any, kind: ProviderKind):
    requests = await asked(database.dsn, kind)

    for last, following in pairwise(requests):
        before, after = (json.dumps(without_marks(one.messages)) for one in (last, following))
        assert after.startswith(before.removesuffix("]"))
        for name in ("system", "instructions", "tools", "systemInstruction"):
            assert last.body.get(name) == following.body.get(name)


def without_marks(messages: list[dict[str, Any]]) -> Any:
    """Where a cache may end moves on with the prompt."""
    return json.loads(
        json.dumps(messages), object_hook=lambda entry: {k: v for k, v in entry.items() if k != "cache_control"}
    )


async def clear(dsn: str) -> None:
    """Another deployment in the same database would have two of everything."""
    connection = await asyncpg.connect(dsn)
    await connection.execute("TRUNCATE chats, providers, users CASCADE")
    await connection.close()
