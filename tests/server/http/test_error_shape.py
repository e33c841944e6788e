"""Every error of a live server has one JSON shape and the right status."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import aiohttp
import asyncpg
import msgspec
import pytest
from litestar import Litestar, Request, get, post
from litestar.params import FromPath, FromQuery, JSONBody

from chatd.core.errors import Conflict, Forbidden, NotFound, Unauthenticated, UsageLimitReached, Validation
from chatd.server.problem import litestar_answers
from chatd.server.slow_clients import HEAD_BYTES
from server.http.live import WAIT_SECONDS, Live, layered, problem_of, served
from server.running import running_server

pytestmark = pytest.mark.behaviour("API-4")

LIMIT = 1000
NEXT_MONTH = datetime(2030, 2, 1, tzinfo=UTC)
INTERNAL = "the engine room is on fire"


class Item(msgspec.Struct):
    size: int


class Order(msgspec.Struct):
    count: Annotated[int, msgspec.Meta(ge=1)]
    items: list[Item]


class Kind(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Parcel(msgspec.Struct, forbid_unknown_fields=True):
    kind: Kind
    more: dict[str, list[Kind]] = {}
    size: Literal[1, 2] | None = None


@post("/api/parcels")
async def parcel(data: JSONBody[Parcel]) -> Parcel:
    return data


@get("/api/parcels")
async def parcels(kind: FromQuery[Kind | None] = None) -> None:
    return None


@get("/api/things/{number:int}")
async def thing(number: FromPath[int]) -> dict[str, int]:
    return {"number": number}


@post("/api/orders")
async def order(data: JSONBody[Order]) -> Order:
    return data


@post("/api/uploads")
async def upload(request: Request) -> dict[str, int]:
    return {"bytes": len(await request.body())}


@get("/api/fails/{kind:str}")
async def fail(kind: FromPath[str]) -> None:
    raise {
        "unknown": RuntimeError(INTERNAL),
        "conflict": Conflict("Taken.", validations=[Validation("email", "is taken")]),
        "missing": NotFound("Chat"),
        "forbidden": Forbidden("No."),
        "stranger": Unauthenticated("Sign in."),
        "database": asyncpg.ConnectionDoesNotExistError(INTERNAL),
        "unique": asyncpg.UniqueViolationError(INTERNAL),
        "spent": UsageLimitReached(
            period="month", limit_microdollars=5_000_000, spent_microdollars=5_000_001, resets_at=NEXT_MONTH
        ),
    }[kind]


@pytest.fixture
async def live() -> AsyncIterator[Live]:
    app = Litestar([thing, order, upload, fail], exception_handlers=litestar_answers(), logging_config=None)
    async with served(layered(app, body_limit=LIMIT)) as live:
        yield live


async def test_an_answer_that_is_no_error_is_left_alone(live: Live):
    async with live.client.get("/api/things/7") as response:
        assert (response.status, await response.json()) == (200, {"number": 7})


async def test_an_unknown_address_is_404(live: Live):
    async with live.client.get("/api/nowhere") as response:
        await problem_of(response, 404)


async def test_a_wrong_method_is_405_and_names_the_right_ones(live: Live):
    async with live.client.delete("/api/orders") as response:
        await problem_of(response, 405)
        assert "POST" in response.headers["allow"]


async def test_malformed_json_is_400(live: Live):
    async with live.client.post(
        "/api/orders", data=b'{"count": 1,', headers={"content-type": "application/json"}
    ) as response:
        problem = await problem_of(response, 400)

    assert problem.validations == []


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"count": "\xff"}', "It is not valid UTF-8."),
        (b'{"\xff": 1}', "It is not valid UTF-8."),
        (b"[" * (LIMIT * 100), "It is nested too deeply."),
    ],
    ids=["no UTF-8", "no UTF-8 in a name", "too deep"],
)
async def test_json_that_can_not_be_decoded_is_400(body: bytes, detail: str):
    app = Litestar([order], exception_handlers=litestar_answers(), logging_config=None)
    async with (
        served(layered(app)) as live,
        live.client.post("/api/orders", data=body, headers={"content-type": "application/json"}) as response,
    ):
        problem = await problem_of(response, 400)

    assert (problem.message, problem.detail) == ("The request body is not valid JSON.", detail)


async def test_a_route_that_needs_a_body_says_so(live: Live):
    async with live.client.post("/api/orders") as response:
        problem = await problem_of(response, 400)

    assert (problem.message, problem.validations) == ("A JSON body is needed.", [])


async def test_wrong_fields_are_400_and_are_named_by_their_path(live: Live):
    async with live.client.post("/api/orders", json={"count": 1, "items": [{"size": 1}, {"size": "x"}]}) as response:
        problem = await problem_of(response, 400)

    assert [validation.field for validation in problem.validations] == ["items[1].size"]


@pytest.mark.parametrize(
    ("body", "field", "detail"),
    [
        ({"kind": "bogus"}, "kind", "Invalid enum value 'bogus'; one of small, large"),
        (
            {"kind": "small", "more": {"x": ["large", "no"]}},
            "more[...][1]",
            "Invalid enum value 'no'; one of small, large",
        ),
        ({"kind": "small", "size": 7}, "size", "Invalid enum value 7; one of 1, 2"),
        ({"kind": "small", "colour": "red"}, "colour", "there is no such field"),
        ({}, "kind", "needed"),
    ],
)
async def test_what_would_have_been_right_is_said(body: Any, field: str, detail: str):
    app = Litestar([parcel], exception_handlers=litestar_answers(), logging_config=None)
    async with served(layered(app)) as live, live.client.post("/api/parcels", json=body) as response:
        problem = await problem_of(response, 400)

    assert [(wrong.field, wrong.detail) for wrong in problem.validations] == [(field, detail)]


async def test_what_a_query_may_say_is_said():
    app = Litestar([parcels], exception_handlers=litestar_answers(), logging_config=None)
    async with served(layered(app)) as live, live.client.get("/api/parcels?kind=bogus") as response:
        problem = await problem_of(response, 400)

    assert [(wrong.field, wrong.detail) for wrong in problem.validations] == [
        ("kind", "Invalid enum value 'bogus'; one of small, large")
    ]


async def test_a_body_of_the_wrong_kind_is_400(live: Live):
    async with live.client.post("/api/orders", json=[1, 2]) as response:
        problem = await problem_of(response, 400)

    assert len(problem.validations) == 1


async def test_a_path_parameter_of_the_wrong_type_is_404(live: Live):
    async with live.client.get("/api/things/seven") as response:
        await problem_of(response, 404)


@pytest.mark.parametrize(
    ("kind", "status"),
    [("conflict", 409), ("missing", 404), ("forbidden", 403), ("stranger", 401), ("database", 503), ("unique", 409)],
)
async def test_a_refusal_has_its_status_and_shows_nothing_internal(live: Live, kind: str, status: int):
    async with live.client.get(f"/api/fails/{kind}") as response:
        await problem_of(response, status)

        assert INTERNAL not in await response.text()


@pytest.mark.behaviour("COST-4")
async def test_a_spent_limit_is_told_with_its_reset_in_fields(live: Live):
    async with live.client.get("/api/fails/spent") as response:
        body = await response.json()

    assert response.status == 409
    assert {name: value for name, value in body.items() if name not in ("message", "detail")} == {
        "kind": "usage_limit",
        "period": "month",
        "limit_micros": 5_000_000,
        "spent_micros": 5_000_001,
        "resets_at": "2030-02-01T00:00:00Z",
    }


async def test_an_unknown_failure_shows_only_the_request_id(live: Live):
    async with live.client.get("/api/fails/unknown", headers={"x-request-id": "abc-1"}) as response:
        problem = await problem_of(response, 500)

        assert problem.detail == "abc-1" == response.headers["x-request-id"]
        assert INTERNAL not in await response.text()


async def test_a_foreign_host_is_421(live: Live):
    async with live.client.get("/api/things/7", headers={"host": "evil.example"}) as response:
        await problem_of(response, 421)


async def test_a_foreign_page_may_not_post(live: Live):
    async with live.client.post("/api/orders", json={}, headers={"origin": "https://evil.example"}) as response:
        await problem_of(response, 403)


async def test_an_announced_body_over_the_limit_is_413_with_the_limit(live: Live):
    async with live.client.post("/api/uploads", data=b"x" * (LIMIT + 1)) as response:
        problem = await problem_of(response, 413)

    assert str(LIMIT) in (problem.detail or "")


async def test_a_chunked_body_over_the_limit_is_413(live: Live):
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(LIMIT // 100 + 5):
            yield b"x" * 100

    async with live.client.post("/api/uploads", data=chunks()) as response:
        await problem_of(response, 413)


async def test_a_chunked_body_at_the_limit_is_taken(live: Live):
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(LIMIT // 100):
            yield b"x" * 100

    async with live.client.post("/api/uploads", data=chunks()) as response:
        assert await response.json() == {"bytes": LIMIT}


async def test_what_is_not_http_is_400(live: Live):
    assert b'{"message":' in await _raw(live, b"GARBAGE\x00\r\n\r\n", status=b"400")


async def test_an_endless_header_is_431(live: Live):
    # One byte too many: all of it is read, so that the connection is not reset before the answer arrives.
    endless = b"GET / HTTP/1.1\r\nx: ".ljust(HEAD_BYTES + 1, b"a")

    assert b'{"message":' in await _raw(live, endless, status=b"431")


async def test_errors_carry_the_security_headers_too(live: Live):
    async with live.client.get("/api/nowhere") as response:
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in response.headers["content-security-policy"]
        assert response.headers["cache-control"] == "no-store"
        assert "server" not in response.headers


async def _raw(live: Live, request: bytes, *, status: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", live.port)
    writer.write(request)
    try:
        answer = await asyncio.wait_for(reader.read(), WAIT_SECONDS)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 " + status), answer
    return answer


async def test_too_many_requests_are_429_with_the_time_to_wait():
    app = Litestar([thing], exception_handlers=litestar_answers(), logging_config=None)
    async with served(layered(app, requests_per_minute=60, burst=1)) as live:
        async with live.client.get("/api/things/1") as response:
            assert response.status == 200
        async with live.client.get("/api/things/1") as response:
            await problem_of(response, 429)
            assert int(response.headers["retry-after"]) >= 1


async def test_a_token_that_nobody_has_is_401():
    app = Litestar([thing], exception_handlers=litestar_answers(), logging_config=None)
    async with served(layered(app)) as live:
        async with live.client.get("/api/things/1", headers={"authorization": "Bearer chatd_nobody"}) as response:
            await problem_of(response, 401)
            assert response.headers["www-authenticate"] == "Bearer"
        async with live.client.get("/api/things/1", cookies={"chatd_session": "old"}) as response:
            assert response.status == 200


async def test_an_answer_that_breaks_off_is_not_taken_for_whole():
    async def breaks(scope, receive, send):
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"half", "more_body": True})
            raise RuntimeError(INTERNAL)

    async with served(layered(breaks)) as live, live.client.get("/api/x") as response:
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"login": "\xff", "password": "x"}', "The request body is not valid JSON."),
        (b"[" * 100_000, "The request body is not valid JSON."),
        (b"", "A JSON body is needed."),
    ],
    ids=["no UTF-8", "too deep", "none"],
)
async def test_the_whole_server_refuses_bodies_that_it_can_not_decode(
    database: Any, tmp_path: Path, body: bytes, message: str
):
    async with (
        running_server(database.dsn, tmp_path, first_user=False) as running,
        aiohttp.ClientSession(running.api.url) as client,
        client.post("/api/v2/users/login", data=body, headers={"content-type": "application/json"}) as response,
    ):
        assert (await problem_of(response, 400)).message == message


@pytest.mark.parametrize("path", ["/", "/api/v2/users/me", "/api/v2/nothing", "/metrics"])
async def test_the_whole_server_has_no_websocket_where_there_is_only_http(database: Any, tmp_path: Path, path: str):
    async with (
        running_server(database.dsn, tmp_path, first_user=False) as running,
        aiohttp.ClientSession(running.api.url) as client,
    ):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.ws_connect(path)

    assert refused.value.status == 404
