"""WebSockets are refused with the same errors as requests, and closed with a code once they are open."""

import asyncio

import aiohttp
import msgspec
import pytest
from litestar import Litestar, get

from chatd.core.errors import NotFound
from chatd.server.problem import litestar_answers
from server.http.exchange import body_of, exchange, status_of
from server.http.live import WAIT_SECONDS, ExactProblem, Live, layered, served

pytestmark = pytest.mark.behaviour("API-4")


async def refuses(scope, receive, send):
    raise NotFound("Chat")


async def fails(scope, receive, send):
    raise RuntimeError("internals")


async def accepts_then_fails(scope, receive, send):
    await send({"type": "websocket.accept"})
    raise RuntimeError("internals")


async def closes(scope, receive, send):
    await send({"type": "websocket.close", "code": 4001, "reason": "not today"})


async def echoes(scope, receive, send):
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})


async def test_an_error_before_accept_is_an_http_answer_in_the_one_shape():
    sent = await exchange(layered(refuses), kind="websocket", can_answer_websockets=True)

    assert sent[0]["type"] == "websocket.http.response.start"
    assert status_of(sent) == 404
    assert body_of(sent) == {"message": "Chat not found, or you may not see it."}


async def test_an_unknown_error_before_accept_shows_only_the_request_id():
    sent = await exchange(layered(fails), kind="websocket", headers={"x-request-id": "r7"}, can_answer_websockets=True)

    assert status_of(sent) == 500
    assert body_of(sent)["detail"] == "r7"


@pytest.mark.parametrize(("app", "code"), [(refuses, 1008), (fails, 1011)])
async def test_a_server_that_can_not_answer_closes_with_a_code(app, code: int):
    (close,) = await exchange(layered(app), kind="websocket")

    assert (close["type"], close["code"]) == ("websocket.close", code)
    assert "internals" not in close["reason"]


async def test_an_error_after_accept_closes_with_1011():
    accept, close = await exchange(layered(accepts_then_fails), kind="websocket", can_answer_websockets=True)

    assert accept["type"] == "websocket.accept"
    assert (close["type"], close["code"]) == ("websocket.close", 1011)


async def test_a_route_that_closes_before_accept_answers_403():
    sent = await exchange(layered(closes), kind="websocket", can_answer_websockets=True)

    assert status_of(sent) == 403
    assert body_of(sent) == {"message": "not today"}


async def test_a_foreign_page_may_not_open_one():
    sent = await exchange(
        layered(echoes), kind="websocket", headers={"origin": "https://evil.example"}, can_answer_websockets=True
    )

    assert status_of(sent) == 403


async def test_a_foreign_host_may_not_open_one():
    sent = await exchange(
        layered(echoes), kind="websocket", headers={"host": "evil.example"}, can_answer_websockets=True
    )

    assert status_of(sent) == 421


KEY = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="
VERSION = "sec-websocket-version: 13"


async def handshake(live: Live, path: str, *headers: str) -> tuple[int, ExactProblem]:
    lines = [f"GET {path} HTTP/1.1", "host: localhost", "connection: upgrade", "upgrade: websocket", *headers]
    reader, writer = await asyncio.open_connection("127.0.0.1", live.port)
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        answer = await asyncio.wait_for(reader.read(), WAIT_SECONDS)
    finally:
        writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower(), answer
    return int(head.split()[1]), msgspec.json.decode(body, type=ExactProblem)


@get("/api/http")
async def only_http() -> str:
    return ""


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/api/http", [KEY, VERSION], 404),
        ("/api/nowhere", [KEY, VERSION], 404),
        ("/api/http", [VERSION], 400),
        ("/api/http", [KEY], 400),
        ("/api/http", [KEY, VERSION, *(f"x-{number}: y" for number in range(200))], 431),
        ("/api/" + "x" * 9000, [KEY, VERSION], 414),
        ("/api/http", [KEY, VERSION, "origin: https://evil.example"], 403),
    ],
    ids=["only HTTP", "nothing", "no key", "no version", "too many headers", "too long", "foreign page"],
)
async def test_a_refused_handshake_has_the_one_shape_and_is_no_error_in_the_log(
    path: str, headers: list[str], status: int, caplog: pytest.LogCaptureFixture
):
    app = Litestar([only_http], exception_handlers=litestar_answers(), logging_config=None)
    async with served(layered(app)) as live:
        found, problem = await handshake(live, path, *headers)

    assert found == status
    assert problem.message
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


async def test_on_a_real_socket_a_good_one_opens_and_a_bad_one_is_answered():
    async with served(layered(echoes)) as live:
        async with live.client.ws_connect("/api/x", headers={"origin": live.url}) as socket:
            await socket.send_str("hello")
            assert await socket.receive_str() == "hello"
            assert "permessage-deflate" not in str(socket._response.headers)

        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await live.client.ws_connect("/api/x", headers={"origin": "https://evil.example"})
        assert refused.value.status == 403
