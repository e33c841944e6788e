"""Each vendor's stream, cut before its end, is a failure that is retried and never an answer."""

import asyncio
import json
from typing import Any

import pytest

from chatd.clock import SystemClock
from chatd.core.failure import Failure, FailureKind
from chatd.core.model import Finished, ModelEvent, ModelRequest, PromptMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.providers.hosts import ProviderAccess, ProviderKind, host_of
from chatd.providers.stream import ModelCall, ModelCallFailed, open_stream
from chatd.providers.transport import open_transport
from chatd.testing.vendors.script import Cut, Fail, Fault, Garbage, Say, Turn
from chatd.testing.vendors.server import vendor_server

WAIT_SECONDS = 20.0  # of real time, for what takes milliseconds
WORDS = ("one ", "two ", "three ", "four ")

VENDORS: dict[str, tuple[ProviderKind, str, dict[str, Any]]] = {
    "anthropic": (ProviderKind.ANTHROPIC, "", {}),
    "bedrock": (ProviderKind.BEDROCK, "", {}),
    "bedrock signed": (ProviderKind.BEDROCK, "", {"access_key_id": "AKIDEXAMPLE"}),
    "responses": (ProviderKind.OPENAI, "/v1", {}),
    "azure": (ProviderKind.AZURE, "", {}),
    "azure deployment": (ProviderKind.AZURE, "", {"api": "chat", "api_version": "2024-10-21"}),
    "chat": (ProviderKind.OPENAI_COMPAT, "/v1", {}),
    "gemini": (ProviderKind.GOOGLE, "/v1beta", {}),
}
vendors = pytest.mark.parametrize("vendor", VENDORS)


async def asked(vendor: str, *faults: Fault) -> list[ModelEvent]:
    kind, base, options = VENDORS[vendor]
    async with (
        asyncio.timeout(WAIT_SECONDS),
        vendor_server([Turn(Say(*WORDS), faults=faults)]) as server,
        open_transport() as transport,
    ):
        host = host_of(ProviderAccess(kind, "mine", server.url + base, Secret("test-key"), json.dumps(options)))
        request = ModelRequest(model="m-1:0", messages=(PromptMessage(Role.USER, (TextPart(text="hello"),)),))
        call = ModelCall("mine", host.protocol(request.model), host.framing, await host.prepare(request))
        events: list[ModelEvent] = []
        async with open_stream(call, transport=transport, clock=SystemClock()) as stream:
            async for batch in stream:
                events += batch
    return events


async def failure(vendor: str, *faults: Fault) -> Failure:
    with pytest.raises(ModelCallFailed) as caught:
        await asked(vendor, *faults)
    return caught.value.failure


@vendors
async def test_a_whole_stream_is_an_answer(vendor: str):
    events = await asked(vendor)

    assert isinstance(events[-1], Finished)
    assert sum(isinstance(event, Finished) for event in events) == 1


@vendors
@pytest.mark.behaviour("ERR-4")
@pytest.mark.parametrize("events", [0, 1, 3])
async def test_a_stream_that_closes_early_as_if_it_were_whole_is_told_so(vendor: str, events: int):
    found = await failure(vendor, Cut(after_events=events))

    assert (found.kind, found.retryable) == (FailureKind.TIMEOUT, True)
    assert found.message == "Mine closed the stream before the answer was complete."


@vendors
@pytest.mark.behaviour("ERR-4", "ERR-5")
@pytest.mark.parametrize("cut", [Cut(after_events=3, reset=True), Cut(after_bytes=150, reset=True)])
async def test_a_stream_that_is_reset_is_retried(vendor: str, cut: Cut):
    found = await failure(vendor, cut)

    assert (found.kind, found.retryable) == (FailureKind.TIMEOUT, True)


@vendors
@pytest.mark.behaviour("ERR-4")
async def test_a_stream_that_is_cut_within_an_event_is_retried(vendor: str):
    found = await failure(vendor, Cut(after_bytes=200))

    assert (found.kind, found.retryable) == (FailureKind.TIMEOUT, True)


@vendors
async def test_bytes_that_no_vendor_sends_are_retried(vendor: str):
    found = await failure(vendor, Garbage(b"data: {\n\n" + b"\xff" * 20, after_events=2))

    assert found.retryable


@vendors
@pytest.mark.behaviour("ERR-1")
async def test_an_error_of_the_vendors_within_the_stream_is_classified(vendor: str):
    found = await failure(vendor, Fail("Busy."))

    assert found.retryable
    assert found.detail == "Busy."
