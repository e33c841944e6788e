"""What there is of a step in flight: its parts in the order that vendors take, and its cost if that is known."""

from types import SimpleNamespace
from typing import Any

import pytest

from chatd.core.cost import Prices
from chatd.core.parts import ToolCallPart, ToolResultPart
from chatd.core.usage import Usage
from chatd.engine.flight import cost_of
from chatd.testing.vendors.script import Call, Say, Search, Source, Turn
from engine.chatting import chatting
from engine.scripted_tools import ScriptedTool

PRICED: Any = SimpleNamespace(prices=Prices.parse(input="1", output="2"))
TEN = Usage(input_tokens=4, output_tokens=3)


@pytest.mark.parametrize(
    ("used", "cost"), [([TEN], 10), ([TEN, TEN], 20), ([TEN, Usage()], None), ([Usage(cache_read_tokens=1), TEN], None)]
)
def test_the_cost_of_a_step_is_that_of_all_its_calls_or_not_known(used: list[Usage], cost: int | None):
    assert cost_of(used, PRICED) == cost


async def test_what_the_vendor_ran_itself_is_stored_before_the_calls_of_ours(database: Any):
    hit = Source("https://example.com", "Example")
    script = [Turn(Say("Both."), Call("look", "{}"), Search("news", hit)), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        answer = (await chats.messages(chat))[1]

    tools = [part for part in answer.parts if isinstance(part, ToolCallPart | ToolResultPart)]
    assert [(type(part), part.provider_executed) for part in tools] == [
        (ToolCallPart, True),
        (ToolResultPart, True),
        (ToolCallPart, False),
    ]
