"""A scripted vendor follows its script, breaks as it is told to, and tells the test what went wrong in itself."""

import asyncio
import json
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import aiohttp
import pytest

from chatd.core.model import FinishReason
from chatd.providers.transport import OutboundRequest, open_transport
from chatd.testing.fake_clock import FakeClock
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import (
    Call,
    CloseAfter,
    Cut,
    Delay,
    Drip,
    Fail,
    Fault,
    Garbage,
    Hold,
    Refuse,
    RunCode,
    Say,
    Silence,
    Turn,
)
from chatd.testing.vendors.server import ScriptEnded, VendorServer, vendor_server

WAIT_SECONDS = 10.0  # of real time, for what takes milliseconds
PATH = "/v1/chat/completions"
BEARER = {"authorization": "Bearer k"}
BODY: dict[str, Any] = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello"}]}


async def ask(vendor: VendorServer, session: aiohttp.ClientSession, path: str = PATH) -> bytes:
    async with asyncio.timeout(WAIT_SECONDS), session.post(vendor.url + path, json=BODY, headers=BEARER) as response:
        return await response.read()


async def answer(*faults: Fault) -> bytes:
    async with vendor_server([Turn(Say("a", "b"), faults=faults)]) as vendor, aiohttp.ClientSession() as session:
        return await ask(vendor, session)


def texts(stream: bytes) -> list[str]:
    lines = [line.removeprefix(b"data: ") for line in stream.split(b"\n\n") if line.startswith(b"data: {")]
    deltas = [choice["delta"] for line in lines for choice in json.loads(line)["choices"]]
    return [delta["content"] for delta in deltas if delta.get("content")]


async def test_a_script_is_played_in_order_over_one_connection():
    script = [Turn(Say("one")), Turn(Say("two"))]
    async with vendor_server(script) as vendor, aiohttp.ClientSession() as session:
        assert vendor.unplayed == 2
        said = [texts(await ask(vendor, session)) for _ in script]

    assert said == [["one"], ["two"]]
    assert (vendor.connections, vendor.unplayed) == (1, 0)
    assert [asked.last_text for asked in vendor.asked] == ["hello", "hello"]
    assert vendor.asked[0].headers["authorization"] == "Bearer k"


async def test_a_function_answers_every_request():
    def echo(asked: Asked) -> Turn:
        return Turn(Say(asked.last_text, "!"))

    async with vendor_server(echo) as vendor, aiohttp.ClientSession() as session:
        assert texts(await ask(vendor, session)) == ["hello", "!"]
        assert texts(await ask(vendor, session)) == ["hello", "!"]


async def test_the_same_script_gives_the_same_bytes():
    assert await answer() == await answer()


@pytest.mark.parametrize(
    ("path", "turn", "error"),
    [
        (PATH, None, ScriptEnded),
        (PATH, Turn(RunCode("1", "1")), TypeError),
        (PATH, Turn(finish=FinishReason.PAUSE), ValueError),
    ],
    ids=["it has ended", "it can't be said", "no such reason"],
)
async def test_a_script_that_can_not_be_followed_fails_the_test(path: str, turn: Turn | None, error: type[Exception]):
    async def fail() -> None:
        async with vendor_server([turn] if turn else []) as vendor, aiohttp.ClientSession() as session:
            with suppress(aiohttp.ClientError):
                await ask(vendor, session, path)

    with pytest.raises(ExceptionGroup) as caught:
        await fail()

    assert caught.group_contains(error)


async def test_what_the_test_raises_comes_out_as_it_is():
    with pytest.raises(KeyError):
        async with vendor_server([]):
            raise KeyError("mine")


async def test_a_stream_is_cut_as_if_it_were_whole():
    assert texts(await answer(Cut(after_events=2))) == ["a"]


async def test_a_stream_is_cut_within_an_event():
    whole = await answer()

    assert await answer(Cut(after_bytes=len(whole) // 2)) == whole[: len(whole) // 2]


@pytest.mark.parametrize("cut", [Cut(after_events=2, reset=True), Cut(after_bytes=10, reset=True)])
async def test_a_connection_is_reset(cut: Cut):
    with pytest.raises(aiohttp.ClientError):
        await answer(cut)


async def test_a_reset_is_one_and_no_polite_end():
    async with vendor_server([Turn(Say("a"), faults=[Cut(after_events=1, reset=True)])]) as vendor:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(vendor.url.rpartition(":")[2]))
        body = json.dumps(BODY).encode()
        head = f"POST {PATH} HTTP/1.1\r\nAuthorization: Bearer k\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        with pytest.raises(ConnectionResetError):
            async with asyncio.timeout(WAIT_SECONDS):
                await reader.read()
        writer.close()


async def test_garbage_comes_between_events():
    assert b"\n\n\x00\xff" in await answer(Garbage(b"\x00\xff", after_events=1))


async def test_an_error_within_a_stream_ends_it():
    stream = await answer(Fail("Busy."))

    assert stream.count(b"data: ") == 2
    assert b'"message":"Busy."' in stream


async def test_a_silent_vendor_waits_until_the_client_hangs_up():
    script = [Turn(Say("a"), faults=[Silence(after_events=1)])]
    async with vendor_server(script) as vendor, aiohttp.ClientSession() as session:
        async with session.post(vendor.url + PATH, json=BODY, headers=BEARER) as response:
            assert await response.content.readany()
            response.close()
        async with asyncio.timeout(WAIT_SECONDS):
            await vendor.wait_hung_up()


async def test_a_vendor_may_not_even_say_that_it_listens():
    async with vendor_server([Turn(faults=[Silence()])]) as vendor, aiohttp.ClientSession() as session:
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(ask(vendor, session))
            async with asyncio.timeout(WAIT_SECONDS):
                await vendor.wait_asked()
            assert not asking.done()
            asking.cancel()
        async with asyncio.timeout(WAIT_SECONDS):
            await vendor.wait_hung_up()


async def test_delays_and_drips_are_of_the_servers_clock():
    clock = FakeClock()
    turn = Turn(Say("a"), faults=[Delay(60), Drip(bytes=200, seconds=1)])
    async with (
        vendor_server([turn], clock=clock) as vendor,
        aiohttp.ClientSession() as session,
        asyncio.TaskGroup() as tasks,
    ):
        asking = tasks.create_task(ask(vendor, session))
        await clock.wait_for("scripted vendor")
        await clock.advance(59)
        assert not asking.done()
        await clock.advance(1)
        while not asking.done():
            await clock.advance(1)
            await asyncio.wait([asking], timeout=0.01)

    assert texts(asking.result()) == ["a"]


async def test_an_answer_is_held_until_the_test_lets_it_go():
    go = asyncio.Event()
    async with (
        vendor_server([Turn(Say("a", "b"), faults=[Hold(go, before_event=2)])]) as vendor,
        aiohttp.ClientSession() as session,
        asyncio.timeout(WAIT_SECONDS),
        session.post(vendor.url + PATH, json=BODY, headers=BEARER) as response,
    ):
        first = await response.content.readuntil(b"\n\n") + await response.content.readuntil(b"\n\n")
        go.set()
        rest = await response.read()

    assert (texts(first), texts(rest)) == (["a"], ["b"])


async def test_a_held_answer_is_given_up_when_the_client_hangs_up():
    async with vendor_server([Turn(faults=[Hold(asyncio.Event(), before_event=1)])]) as vendor:
        async with aiohttp.ClientSession() as session:
            response = await session.post(vendor.url + PATH, json=BODY, headers=BEARER)
            response.close()
        async with asyncio.timeout(WAIT_SECONDS):
            await vendor.wait_hung_up()


async def test_a_connection_is_closed_behind_the_clients_back_which_ours_survives():
    script = [Turn(Say("a"), faults=[CloseAfter()]), Turn(Say("b"))]
    said: list[list[str]] = []
    async with vendor_server(script) as vendor, open_transport() as transport:
        request = OutboundRequest(vendor.url + PATH, json.dumps(BODY).encode(), BEARER)
        for _ in script:
            async with asyncio.timeout(WAIT_SECONDS), transport.post(request) as response:
                said.append(texts(await response.read()))

    assert said == [["a"], ["b"]]
    assert vendor.connections == 2


async def test_a_refusal_has_its_status_headers_and_the_vendors_body():
    script = [
        Refuse(429, "Slow down.", headers={"retry-after": "7"}),
        Refuse(502, "", body=b"<html>", content_type="text/html"),
    ]
    async with vendor_server(script) as vendor, aiohttp.ClientSession() as session:
        async with session.post(vendor.url + PATH, json=BODY, headers=BEARER) as first:
            error = (await first.json())["error"]
        async with session.post(vendor.url + PATH, json=BODY, headers=BEARER) as second:
            page = await second.text()

    assert (first.status, first.headers["retry-after"]) == (429, "7")
    assert (error["message"], error["code"]) == ("Slow down.", "rate_limit_exceeded")
    assert (second.status, second.content_type, page) == (502, "text/html", "<html>")


@pytest.mark.parametrize(
    ("path", "header", "status"),
    [
        ("/v1/messages", "x-api-key", 401),
        ("/model/m/invoke-with-response-stream", "authorization", 403),
        ("/v1/responses", "authorization", 401),
        ("/openai/v1/responses", "api-key", 401),
        (PATH, "authorization", 401),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", "x-goog-api-key", 403),
    ],
)
async def test_a_request_needs_the_right_key(path: str, header: str, status: int):
    async with vendor_server([], key="right") as vendor, aiohttp.ClientSession() as session:
        statuses: list[int] = []
        for headers in ({}, {header: "wrong"}, {header: "Bearer right" if header == "authorization" else "right"}):
            async with session.post(vendor.url + path, json={}, headers=headers) as response:
                statuses.append(response.status)

    assert statuses == [status, status, 400]


async def test_what_is_asked_can_be_read_alike_for_every_vendor():
    seen: list[tuple[str, Sequence[str], bool]] = []

    def note(asked: Asked) -> Turn:
        seen.append((asked.last_text, asked.tool_names, asked.answers_a_call))
        return Turn(Call("f", "{}", id="c1"))

    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    said = [{"role": "user", "content": "hello"}]
    chat = {**BODY, "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}]}
    messages = {**BODY, "max_tokens": 9, "tools": [{"name": "f", "input_schema": schema}]}
    responses = {**BODY, "input": said, "tools": [{"type": "function", "name": "f", "parameters": schema}]}
    del responses["messages"]
    gemini = {
        "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}]}],
    }
    async with vendor_server(note, key=None) as vendor, aiohttp.ClientSession() as session:
        for path, body in (
            (PATH, chat),
            ("/v1/messages", messages),
            ("/v1/responses", responses),
            ("/v1beta/models/m:streamGenerateContent?alt=sse", gemini),
        ):
            headers = {"anthropic-version": "2023-06-01"}
            async with session.post(vendor.url + path, json=body, headers=headers) as response:
                assert response.status == 200, await response.text()
                await response.read()

    assert seen == [("hello", ["f"], False)] * 4


async def test_small_packets_do_not_wait_for_one_another(monkeypatch: pytest.MonkeyPatch):
    asked: list[object] = []
    served = VendorServer.serve

    async def noting(self: VendorServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        asked.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        await served(self, reader, writer)

    monkeypatch.setattr(VendorServer, "serve", noting)
    await answer()

    assert asked
    assert all(asked)
