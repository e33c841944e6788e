"""A provider is tried with one small real call, and what is wrong is said in words."""

import asyncio
import json
import socket
from typing import Any

import pytest

from chatd.clock import Clock, SystemClock
from chatd.core.failure import FailureKind
from chatd.core.model import Capabilities
from chatd.core.secret import Secret
from chatd.providers.hosts import ProviderAccess, ProviderKind, host_of
from chatd.providers.probe import ProbeResult, probe
from chatd.providers.transport import open_transport
from chatd.testing.fake_clock import FakeClock
from chatd.testing.vendors.script import Cut, Delay, Refuse, Say, Script, Silence, Turn
from chatd.testing.vendors.server import vendor_server

WAIT_SECONDS = 20.0  # of real time, for what takes milliseconds
KEY = "test-key"


async def tried(
    url: str,
    kind: ProviderKind = ProviderKind.OPENAI_COMPAT,
    key: str = KEY,
    clock: Clock | None = None,
    **options: Any,
) -> ProbeResult:
    host = host_of(ProviderAccess(kind, "mine", url, Secret(key), json.dumps(options)))
    async with asyncio.timeout(WAIT_SECONDS), open_transport() as transport:
        return await probe(
            host,
            provider="mine",
            model="m-1",
            transport=transport,
            clock=clock or SystemClock(),
            capabilities=Capabilities(),
        )


async def result(script: Script, base: str = "/v1", **more: Any) -> ProbeResult:
    async with vendor_server(script, key=KEY) as vendor:
        return await tried(vendor.url + base, **more)


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        (ProviderKind.ANTHROPIC, ""),
        (ProviderKind.OPENAI, ""),
        (ProviderKind.OPENAI_COMPAT, "/v1"),
        (ProviderKind.AZURE, ""),
        (ProviderKind.GOOGLE, ""),
        (ProviderKind.BEDROCK, ""),
    ],
)
async def test_a_provider_that_answers_is_well(kind: ProviderKind, base: str):
    found = await result([Turn(Say("OK"))], kind=kind, base=base)

    assert found.failure is None
    assert found.first_event_ms is not None


async def test_the_time_until_the_first_event_is_told():
    clock = FakeClock()
    script = [Turn(Say("OK"), faults=[Delay(3)])]
    async with vendor_server(script, key=KEY, clock=clock) as vendor, asyncio.TaskGroup() as tasks:
        trying = tasks.create_task(tried(f"{vendor.url}/v1", clock=clock))
        await clock.wait_for("scripted vendor")
        await clock.advance(3)

    assert trying.result() == ProbeResult(first_event_ms=3000)


async def test_a_wrong_key_is_said_to_be_wrong():
    found = (await result([], key="wrong")).failure

    assert found is not None
    assert found.kind is FailureKind.AUTH
    assert found.message == "Mine did not accept the credentials. Check the API key and its permissions."


async def test_a_wrong_address_is_said_to_be_wrong():
    found = (await result([], base="/nowhere")).failure

    assert found is not None
    assert (found.kind, found.status_code) == (FailureKind.CONFIG, 404)
    assert found.message == "What answered is not the API of mine. Check the provider's address."


async def test_where_nobody_listens_is_said_by_name():
    with socket.socket() as taken:  # bound and not listening: nobody else gets the port meanwhile
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        refused = (await tried(f"http://127.0.0.1:{port}/v1")).failure
    unknown = (await tried("http://no-such-host.invalid/v1")).failure

    assert refused is not None
    assert unknown is not None
    assert refused.message == f"Nobody answers at 127.0.0.1:{port}. Check the address and that the server runs."
    assert unknown.message == "No server is called no-such-host.invalid. Check the address."
    assert (refused.detail, unknown.detail) == ("Connection refused", "")


async def test_half_an_answer_is_none():
    found = (await result([Turn(Say("O", "K"), faults=[Cut(after_events=1)])])).failure

    assert found is not None
    assert found.kind is FailureKind.TIMEOUT


async def test_a_model_that_thinks_longer_than_the_probe_lets_it_is_well():
    words = "Could not finish the message because max_tokens or model output limit was reached."

    found = await result([Refuse(400, words)])

    assert found.failure is None
    assert found.first_event_ms is not None


async def test_a_provider_that_says_nothing_is_not_waited_for():
    clock = FakeClock()
    async with vendor_server([Turn(faults=[Silence()])], key=KEY) as vendor, asyncio.TaskGroup() as tasks:
        trying = tasks.create_task(tried(f"{vendor.url}/v1", clock=clock))
        await vendor.wait_asked()
        await clock.wait_for("probe")
        await clock.advance(30)

    found = trying.result().failure
    assert found is not None
    assert found.kind in (FailureKind.TIMEOUT, FailureKind.STARTUP_TIMEOUT)


async def test_a_provider_that_can_not_be_asked_is_told_what_is_missing():
    host = host_of(ProviderAccess(ProviderKind.VERTEX, "mine", "", Secret("no json"), "{}"))
    async with open_transport() as transport:
        found = await probe(
            host,
            provider="mine",
            model="gemini-3",
            transport=transport,
            clock=SystemClock(),
            capabilities=Capabilities(),
        )

    assert found.failure is not None
    assert found.failure.message == "There are no usable Google credentials for the provider mine."
    assert "service account" in found.failure.detail
