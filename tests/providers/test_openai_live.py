"""The reasoning round trip with the real vendor, if there is a key for it: OPENAI_API_KEY.

It asks OPENAI_BASE_URL if that is set, and the model CHATD_LIVE_OPENAI_MODEL. A run costs a few thousand tokens. That
these tests still work is shown without a key by test_openai_live_runs.
"""

import asyncio
import os

import pytest

from chatd.clock import SystemClock
from chatd.core.accumulate import Accumulator, Answer
from chatd.core.model import Capabilities, FinishReason, ModelRequest, PromptMessage, ProtocolName, ToolChoice, ToolSpec
from chatd.core.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart, is_known
from chatd.core.reasoning import ReasoningEffort
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.core.stored_parts import decode_parts, encode_parts
from chatd.providers.asking import Asked, ask
from chatd.providers.hosts import ProviderAccess, ProviderKind, host_of
from chatd.providers.stream import ModelCallFailed
from chatd.providers.transport import open_transport

KEY = os.environ.get("OPENAI_API_KEY", "")
BASE_URL = os.environ.get("OPENAI_BASE_URL", "")
MODEL = os.environ.get("CHATD_LIVE_OPENAI_MODEL", "gpt-5-mini")
WAIT_SECONDS = 300.0  # for four answers of a model that thinks
PROVIDER = "live"
SPEED = ToolSpec(
    "train_speed",
    "The speed of a train in km/h.",
    '{"type":"object","properties":{"train":{"type":"integer"}},"required":["train"],"additionalProperties":false}',
)


class LiveChat:
    """Keeps what was said only as the database would."""

    def __init__(self, options: str) -> None:
        self._options = options
        self._rows: list[tuple[Role, str, str]] = []

    def said(self, role: Role, *parts: Part, origin: str = "") -> None:
        self._rows.append((role, encode_parts(parts), origin))

    async def ask(self, choice: ToolChoice = ToolChoice.AUTO) -> Answer:
        request = ModelRequest(
            model=MODEL,
            messages=tuple(
                PromptMessage(role, tuple(part for part in decode_parts(stored) if is_known(part)), origin)
                for role, stored, origin in self._rows
            ),
            provider=PROVIDER,
            tools=(SPEED,),
            tool_choice=choice,
            max_output_tokens=8000,
            reasoning_effort=ReasoningEffort.MEDIUM,
            capabilities=Capabilities(reasoning=True, temperature=False),
            options=self._options,
        )
        host = host_of(ProviderAccess(ProviderKind.OPENAI, PROVIDER, BASE_URL, Secret(KEY)))
        folded = Accumulator(ProtocolName.OPENAI_RESPONSES)
        async with (
            open_transport() as transport,
            ask(Asked(host, PROVIDER), request, transport=transport, clock=SystemClock()) as stream,
        ):
            async for events in stream:
                for event in events:
                    folded.add(event, "2026-01-02T03:04:05Z")
        answer = folded.answer()
        self.said(Role.ASSISTANT, *answer.parts, origin=PROVIDER)
        return answer


@pytest.mark.skipif(not KEY, reason="OPENAI_API_KEY is not set: this test asks the real vendor")
@pytest.mark.parametrize("options", ['{"store":true}', '{"store":false}'], ids=["stored", "not-stored"])
async def test_a_turn_after_reasoning_and_calls_is_accepted(options: str):
    failure = ""
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            await converse(LiveChat(options))
    except ModelCallFailed as failed:
        failure = f"{failed} {failed.failure.detail}"
    except TimeoutError:
        failure = f"There was no whole answer in {WAIT_SECONDS} seconds."
    if failure:
        pytest.fail(failure, pytrace=False)  # a traceback would show the key


async def converse(chat: LiveChat) -> None:
    chat.said(Role.SYSTEM, TextPart(text="Ask the tool for speeds; never guess them."))
    chat.said(Role.USER, TextPart(text="How many minutes does train 7 take for 300 km, without stops?"))
    answer = await chat.ask(ToolChoice.REQUIRED)
    calls = [part for part in answer.parts if isinstance(part, ToolCallPart)]
    assert answer.finish is FinishReason.TOOL_CALLS
    assert calls
    assert any(isinstance(part, ReasoningPart) for part in answer.parts), "the model did not reason"

    chat.said(
        Role.TOOL,
        *(
            ToolResultPart(tool_call_id=call.tool_call_id, tool_name=call.tool_name, result='{"km_per_hour":200}')
            for call in calls
        ),
    )
    answer = await chat.ask()
    assert answer.finish is FinishReason.STOP
    assert any(isinstance(part, TextPart) and part.text.strip() for part in answer.parts)

    chat.said(Role.USER, TextPart(text="And for 400 km?"))
    answer = await chat.ask(ToolChoice.NONE)
    assert answer.finish is FinishReason.STOP
    assert any(isinstance(part, TextPart) and part.text.strip() for part in answer.parts)
    assert answer.usage.output_tokens
