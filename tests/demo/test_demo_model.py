"""The demo model answers over the real protocol, through the same client as any vendor."""

import asyncio

import pytest

from chatd.clock import SystemClock
from chatd.core.accumulate import Accumulator, Answer
from chatd.core.failure import FailureKind
from chatd.core.model import FinishReason, ModelRequest, PromptMessage, TextDelta, ToolSpec
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.demo.brain import MODEL, Heard, answer
from chatd.demo.server import PACE_SECONDS, demo_model
from chatd.providers.asking import Asked, ask
from chatd.providers.hosts import ProviderAccess, ProviderKind, host_of
from chatd.providers.stream import ModelCallFailed
from chatd.providers.transport import open_transport
from chatd.testing.fake_clock import FakeClock

KEY = Secret("demo-key")
EXECUTE = ToolSpec("execute", "Run a command.", '{"type":"object","properties":{"command":{"type":"string"}}}')
TOOLS = frozenset({"execute", "read_file"})


def user(text: str) -> PromptMessage:
    return PromptMessage(Role.USER, (TextPart(text=text),))


async def asked(*messages: PromptMessage, tools: tuple[ToolSpec, ...] = (), key: Secret = KEY) -> Answer:
    async with (
        asyncio.timeout(20),
        open_transport() as transport,
        demo_model(api_key=KEY, clock=Hurried()) as demo,
    ):
        host = host_of(ProviderAccess(ProviderKind.OPENAI_COMPAT, "Demo", demo.base_url, key))
        request = ModelRequest(model=MODEL, messages=messages, tools=tools)
        accumulator = Accumulator(host.protocol(MODEL).name)
        async with ask(Asked(host, "Demo"), request, transport=transport, clock=SystemClock()) as stream:
            async for events in stream:
                for event in events:
                    accumulator.add(event, "now")
    return accumulator.answer()


class Hurried(SystemClock):
    """Does not wait between words."""

    async def sleep(self, seconds: float, *, timer: str) -> None:
        await super().sleep(0, timer=timer)


async def test_it_says_that_it_is_a_demo_and_what_to_try():
    said = await asked(user("hello"))

    assert said.finish is FinishReason.STOP
    assert isinstance(said.parts[0], TextPart)
    assert "demo model" in said.parts[0].text
    assert "docs/models.md" in said.parts[0].text
    assert said.usage.output_tokens


async def test_it_calls_a_real_tool_when_asked_in_plain_words_and_goes_on_with_its_result():
    said = await asked(user("please run `ls -la`"), tools=(EXECUTE,))

    call = said.parts[-1]
    assert isinstance(call, ToolCallPart)
    assert (call.tool_name, call.args) == ("execute", '{"command":"ls -la"}')
    assert said.finish is FinishReason.TOOL_CALLS
    result = ToolResultPart(tool_call_id=call.tool_call_id, tool_name="execute", result='{"output":"README.md"}')
    went_on = await asked(
        user("please run `ls -la`"),
        PromptMessage(Role.ASSISTANT, said.parts),
        PromptMessage(Role.TOOL, (result,)),
        tools=(EXECUTE,),
    )
    assert isinstance(went_on.parts[0], TextPart)
    assert "README.md" in went_on.parts[0].text


async def test_it_reasons_when_asked_to_think():
    said = await asked(user("think about life"))

    assert isinstance(said.parts[0], ReasoningPart)


async def test_a_wrong_key_is_refused():
    with pytest.raises(ModelCallFailed) as caught:
        await asked(user("hello"), key=Secret("wrong"))

    assert caught.value.failure.kind is FailureKind.AUTH


async def test_words_come_one_by_one():
    clock = FakeClock()
    async with open_transport() as transport, demo_model(api_key=KEY, clock=clock) as demo:
        host = host_of(ProviderAccess(ProviderKind.OPENAI_COMPAT, "Demo", demo.base_url, KEY))
        request = ModelRequest(model=MODEL, messages=(user("count to 3"),))
        async with ask(Asked(host, "Demo"), request, transport=transport, clock=SystemClock()) as stream:
            words: list[str] = []
            for _ in range(3):
                events = await anext(stream)
                words += [event.text for event in events if isinstance(event, TextDelta)]
                await clock.wait_for("demo word")
                await clock.advance(PACE_SECONDS)

    assert words == ["1,", " 2,", " 3."]


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("run `ls`", "execute", {"command": "ls"}),
        ("Could you execute: git status.", "execute", {"command": "git status"}),
        ('run "echo hi"', "execute", {"command": "echo hi"}),
        ("read README.md", "read_file", {"path": "README.md"}),
        ("show the file `src/main.py` please", "read_file", {"path": "src/main.py"}),
        ("open /etc/hosts", "read_file", {"path": "/etc/hosts"}),
    ],
)
def test_plain_words_are_understood(text: str, tool: str, arguments: dict[str, str]):
    said = answer([Heard("user", text)], TOOLS)

    assert said.tool is not None
    assert (said.tool.name, said.tool.arguments) == (tool, arguments)


def test_without_the_tool_it_says_so():
    said = answer([Heard("user", "run `ls`")], frozenset())

    assert said.tool is None
    assert said.text.startswith("I would run `ls` if this chat had the tool `execute`.")
