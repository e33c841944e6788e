"""A question to a model, from the history to the events, against a server of raw bytes."""

import json
from typing import Any

import pytest
import structlog

from chatd.clock import SystemClock
from chatd.core.failure import FailureKind
from chatd.core.model import Finished, ModelEvent, ModelRequest, PromptMessage, ProtocolName
from chatd.core.parts import ReasoningPart, TextPart
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.providers.asking import Asked, ask
from chatd.providers.hosts import ProviderAccess, ProviderKind, host_of
from chatd.providers.stream import ModelCallFailed
from chatd.providers.transport import open_transport
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


async def test_what_can_not_be_replayed_is_warned_of():
    """Metadata of another vendor is never dropped in silence."""
    thought = ReasoningPart(text="hm", provider_metadata={ProtocolName.ANTHROPIC_MESSAGES: '{"signature":"s"}'})
    history = request(USER, PromptMessage(Role.ASSISTANT, (thought, TextPart(text="a")), "another"), USER)

    async with vendor(says(head(), chunk(ANSWER), chunk(b"data: [DONE]\n\n"), chunk(b""))) as (running, _):
        with structlog.testing.capture_logs() as logs:
            await asked(history, running.url)

    losses: list[Any] = [line for line in logs if line["log_level"] == "warning"]
    assert losses
    assert {line["message"] for line in losses} == {1}
    assert "hm" not in str(losses)


async def test_a_provider_that_can_not_be_asked_is_a_failure_of_its_configuration(monkeypatch: pytest.MonkeyPatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    host = host_of(ProviderAccess(ProviderKind.VERTEX, "mine", "", Secret("no json"), '{"project": "p"}'))
    async with open_transport() as transport:
        stream = ask(Asked(host, "mine"), request(USER), transport=transport, clock=SystemClock())
        with pytest.raises(ModelCallFailed) as caught:
            await stream.__aenter__()

    assert caught.value.failure.kind in (FailureKind.AUTH, FailureKind.CONFIG)
    assert not caught.value.failure.retryable
