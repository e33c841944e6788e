"""A question to a model, from the history to the events, against a server of raw bytes."""

import asyncio
import json
import sys
from typing import Any

import msgspec
import pytest
import structlog

from chatd.clock import SystemClock
from chatd.core.failure import Failure, FailureKind, error_payload
from chatd.core.model import Finished, ModelEvent, ModelRequest, PromptMessage, ProtocolName, ProviderTool, ToolSpec
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.providers.asking import Asked, ask
from chatd.providers.hosts import Host, ProviderAccess, ProviderKind, host_of
from chatd.providers.stream import ModelCallFailed
from chatd.providers.transport import OutboundRequest, Transport, open_transport
from chatd.testing.fake_clock import FakeClock
from chatd.testing.vendors.script import Say, Turn
from chatd.testing.vendors.server import vendor_server
from providers.raw_vendor import chunk, head, says, vendor

ANSWER = b"".join(
    b"data: " + json.dumps(event).encode() + b"\n\n"
    for event in (
        {"id": "c", "choices": [{"index": 0, "delta": {"content": "hi"}}]},
        {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    )
)


def request(*messages: PromptMessage) -> ModelRequest:
    return ModelRequest(model="m", messages=messages, provider="mine")


USER = PromptMessage(Role.USER, (TextPart(text="hello"),))


async def asked(messages: ModelRequest, url: str, kind: ProviderKind = ProviderKind.OPENAI_COMPAT) -> list[ModelEvent]:
    host = host_of(ProviderAccess(kind, "mine", url, Secret("k")))
    events: list[ModelEvent] = []
    async with (
        open_transport() as transport,
        ask(Asked(host, "mine"), messages, transport=transport, clock=SystemClock()) as stream,
    ):
        async for batch in stream:
            events += batch
    return events


async def test_a_question_gets_its_answer():
    async with vendor(says(head(), chunk(ANSWER), chunk(b"data: [DONE]\n\n"), chunk(b""))) as (running, _):
        events = await asked(request(USER), running.url)

    assert isinstance(events[-1], Finished)


@pytest.mark.behaviour("CONTENT-6")
async def test_what_can_not_be_replayed_is_warned_of():
    """Metadata of another vendor is never dropped in silence, and a long chat does not fill the log with it."""
    thought = ReasoningPart(text="hm", provider_metadata={ProtocolName.ANTHROPIC_MESSAGES: '{"signature":"s"}'})
    cited = TextPart(text="a", provider_metadata={ProtocolName.ANTHROPIC_MESSAGES: '{"citations":[]}'})
    history = request(*[USER, PromptMessage(Role.ASSISTANT, (thought, thought, cited), "another")] * 7, USER)

    async with vendor(says(head(), chunk(ANSWER), chunk(b"data: [DONE]\n\n"), chunk(b""))) as (running, _):
        with structlog.testing.capture_logs() as logs:
            await asked(history, running.url)

    losses: list[Any] = [line for line in logs if line["log_level"] == "warning"]
    assert [(line["loss"], line["count"]) for line in losses] == [("reasoning", 14), ("metadata", 7)]
    assert [line["messages"] for line in losses] == [[1, 3, 5, 7, 9]] * 2
    assert losses[0]["details"] == ["of another provider"]
    assert {(line["provider"], line["model"]) for line in losses} == {("mine", "m")}
    assert "hm" not in str(losses)


async def test_a_history_with_calls_goes_in_words_where_no_tool_is_offered():
    """To make a title or a summary of it, say."""
    called = PromptMessage(Role.ASSISTANT, (ToolCallPart(tool_call_id="c", tool_name="ls", args='{"a":1}'),), "mine")
    said = PromptMessage(Role.TOOL, (ToolResultPart(tool_call_id="c", tool_name="ls", result='"x"'),))
    plain = request(USER, called, said)
    with_tools = msgspec.structs.replace(plain, tools=(ToolSpec("ls", "", "{}"),))
    with_search = msgspec.structs.replace(plain, provider_tools=(ProviderTool("web_search"),))

    roles: list[list[str]] = []
    for history in (plain, with_tools, with_search):
        async with vendor_server([Turn(Say("hi"))]) as server:
            await asked(history, server.url + "/v1")
        roles.append([message["role"] for message in server.asked[0].body["messages"]])

    assert roles == [["user", "assistant", "user"], *[["user", "assistant", "tool"]] * 2]


async def test_a_provider_that_can_not_be_asked_is_a_failure_of_its_configuration(monkeypatch: pytest.MonkeyPatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    host = host_of(ProviderAccess(ProviderKind.VERTEX, "mine", "", Secret("no json"), '{"project": "p"}'))
    async with open_transport() as transport:
        stream = ask(Asked(host, "mine"), request(USER), transport=transport, clock=SystemClock())
        with pytest.raises(ModelCallFailed) as caught:
            await stream.__aenter__()

    failure = caught.value.failure
    assert (failure.kind, failure.provider, failure.retryable) == (FailureKind.CONFIG, "mine", False)
    assert failure.message


class SlowCredentials:
    """The host of a vendor whose credentials take so long."""

    def __init__(self, host: Host, clock: FakeClock, seconds: float) -> None:
        self._host = host
        self._clock = clock
        self._seconds = seconds
        self.framing = host.framing
        self.protocol = host.protocol

    async def prepare(self, request: ModelRequest) -> OutboundRequest:
        await self._clock.sleep(self._seconds, timer="token server")
        return await self._host.prepare(request)


@pytest.mark.behaviour("LOOP-11")
@pytest.mark.parametrize(("seconds", "waits_for"), [(1000, "model credentials"), (50, "model first event")])
async def test_the_time_for_credentials_counts_into_the_time_to_the_first_event(seconds: float, waits_for: str):
    clock = FakeClock()

    async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async def fails(host: Host, transport: Transport) -> Failure:
        try:
            async with ask(Asked(host, "mine"), request(USER), transport=transport, clock=clock) as stream:
                async for _ in stream:
                    pass
        except ModelCallFailed as failed:
            return failed.failure
        raise AssertionError("it did not fail")

    async with vendor(hang) as (running, transport), asyncio.TaskGroup() as tasks:
        host = host_of(ProviderAccess(ProviderKind.OPENAI_COMPAT, "mine", running.url, Secret("k")))
        failing = tasks.create_task(fails(SlowCredentials(host, clock, seconds), transport))
        await clock.wait_for("token server")
        await clock.advance(50)
        await clock.wait_for(waits_for)
        await clock.advance(9)
        assert not failing.done()
        await clock.advance(1)
        failure = await failing

    assert (failure.kind, failure.retryable, failure.provider) == (FailureKind.STARTUP_TIMEOUT, True, "mine")


async def test_what_to_do_about_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "google.auth", None)
    host = host_of(ProviderAccess(ProviderKind.VERTEX, "mine", "", Secret("{}"), '{"project": "p"}'))
    async with open_transport() as transport:
        stream = ask(Asked(host, "mine"), request(USER), transport=transport, clock=SystemClock())
        with pytest.raises(ModelCallFailed) as caught:
            await stream.__aenter__()

    told = error_payload(caught.value.failure)
    assert "google-auth, which is not installed" in told.message
    assert "pip install google-auth" in (told.detail or "")


async def test_options_that_can_not_be_used_are_named_and_not_taken_for_missing_credentials():
    wrong = msgspec.structs.replace(request(USER), options='{"max_tokens_field": 3}')
    async with vendor_server([]) as server:
        with pytest.raises(ModelCallFailed) as caught:
            await asked(wrong, server.url + "/v1")

    failure = caught.value.failure
    assert failure.kind is FailureKind.CONFIG
    assert "options" in failure.message
    assert "max_tokens_field" in failure.detail
    assert server.asked == []
