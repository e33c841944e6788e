"""WebSockets are refused with the same errors as requests, and closed with a code once they are open."""

import aiohttp
import pytest

from chatd.core.errors import NotFound
from server.http.exchange import body_of, exchange, status_of
from server.http.live import layered, served

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


async def test_on_a_real_socket_a_good_one_opens_and_a_bad_one_is_answered():
    pytest.importorskip("websockets", reason="uvicorn has no WebSocket library to serve with")
    async with served(layered(echoes)) as live:
        async with live.client.ws_connect("/api/x", headers={"origin": live.url}) as socket:
            await socket.send_str("hello")
            assert await socket.receive_str() == "hello"
            assert "permessage-deflate" not in str(socket._response.headers)

        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await live.client.ws_connect("/api/x", headers={"origin": "https://evil.example"})
        assert refused.value.status == 403
