"""Limits on what costs more than other requests: each kind has its own, for each user, and says which it is."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.access import Person, Role
from chatd.core.file_types import MOST_BYTES
from chatd.server.middleware.authentication import Credentials
from chatd.server.middleware.costly_requests import CostlyLimits
from chatd.server.middleware.rate_limit import Bucket, take
from chatd.testing.fake_clock import FakeClock
from server.http.exchange import body_of, exchange, headers_of, status_of
from server.http.live import layered

CHATS = "/api/experimental/chats"
CHAT = f"{CHATS}/{UUID(int=5)}"
MANY = 10_000
LIMITS = CostlyLimits(inference=3, uploads=2, upload_bytes=1000, searches=2, exports=1)


async def ok(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


async def by_name(credentials: Credentials) -> Person | None:
    """Everyone is who they say they are."""
    name = credentials.token.reveal()
    return Person(UUID(int=len(name)), Role.MEMBER, name)


class Server:
    def __init__(self, limits: CostlyLimits = LIMITS, requests_per_minute: int = MANY) -> None:
        self.clock = FakeClock()
        self._app = layered(
            ok, clock=self.clock, authenticate=by_name, requests_per_minute=requests_per_minute, costly=limits
        )

    async def ask(self, method: str, path: str, *, who: str = "mia", query: str = "", **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        signed = {"authorization": f"Bearer {who}"} if who else {}
        return await exchange(self._app, path, method=method, headers={**signed, **named}, query_string=query.encode())

    async def statuses(self, times: int, method: str, path: str, **more: str) -> list[int]:
        return [status_of(await self.ask(method, path, **more)) for _ in range(times)]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", CHATS),
        ("POST", f"{CHAT}/messages"),
        ("PATCH", f"{CHAT}/messages/7"),
        ("POST", f"{CHAT}/compact"),
        ("POST", f"{CHAT}/title/propose"),
        ("POST", f"{CHAT}/title/regenerate"),
        ("POST", f"{CHATS}/"),
        ("POST", f"/{CHATS}".replace("/chats", "//chats")),
    ],
)
async def test_what_makes_a_model_work_is_limited(method: str, path: str):
    server = Server()
    assert await server.statuses(4, method, path) == [200, 200, 200, 429]


async def test_all_of_a_kind_share_one_limit_and_other_users_have_their_own():
    server = Server()
    for path in (CHATS, f"{CHAT}/messages", f"{CHAT}/compact"):
        assert status_of(await server.ask("POST", path)) == 200

    assert status_of(await server.ask("POST", f"{CHAT}/title/propose")) == 429
    assert status_of(await server.ask("POST", CHATS, who="olga")) == 200


async def test_who_is_refused_is_told_which_limit_it_is_and_how_long_to_wait():
    server = Server()
    await server.statuses(3, "POST", CHATS)
    refused = await server.ask("POST", CHATS)
    await server.clock.advance(19)
    early = await server.ask("POST", CHATS)
    await server.clock.advance(1)
    late = await server.ask("POST", CHATS)

    assert body_of(refused)["message"] == (
        "Too many messages, chats, edits, compactions and titles: 3 a minute are allowed. Wait a moment."
    )
    assert headers_of(refused)["retry-after"] == "20"
    assert (status_of(early), status_of(late)) == (429, 200)


async def test_uploads_are_limited_by_number_and_by_bytes():
    few, large = Server(), Server()
    small = await few.statuses(3, "POST", f"{CHATS}/files", content_length="10")
    first = await large.ask("POST", f"{CHATS}/files", content_length="900")
    second = await large.ask("POST", f"{CHATS}/files", content_length="200")
    await large.clock.advance(60)
    third = await large.ask("POST", f"{CHATS}/files", content_length="200")

    assert small == [200, 200, 429]
    assert [status_of(sent) for sent in (first, second, third)] == [200, 429, 200]
    assert body_of(second)["message"].startswith("Too many bytes in uploads: 1000 a minute")


async def test_an_upload_without_a_length_counts_as_the_longest():
    server = Server(CostlyLimits(upload_bytes=2 * MOST_BYTES))
    assert await server.statuses(3, "POST", f"{CHATS}/files") == [200, 200, 429]


async def test_an_upload_into_a_workspace_without_a_length_counts_as_the_longest_of_those():
    server = Server(CostlyLimits(upload_bytes=8 * MOST_BYTES, workspace_upload=4 * MOST_BYTES))
    path = f"/api/experimental/workspaces/{UUID(int=6)}/files/content"
    assert await server.statuses(3, "PUT", path) == [200, 200, 429]


async def test_searches_in_messages_are_limited_and_lists_are_not():
    server = Server()
    assert await server.statuses(2, "GET", CHATS, query="q=search%3Ablue") == [200, 200]
    assert await server.statuses(1, "GET", CHATS, query="q=Search%3Ablue") == [429]
    assert await server.statuses(3, "GET", CHATS, query="q=title%3Ablue") == [200] * 3
    assert await server.statuses(3, "GET", CHATS) == [200] * 3


async def test_exports_are_limited():
    server = Server()
    assert await server.statuses(2, "GET", f"{CHAT}/export", query="format=html") == [200, 429]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", CHAT),
        ("POST", f"{CHAT}/interrupt"),
        ("POST", f"{CHAT}/tool-results"),
        ("POST", f"{CHAT}/queue/7/promote"),
        ("GET", f"{CHATS}/files/{UUID(int=6)}"),
        ("POST", "/api/v2/users/login"),
    ],
)
async def test_nothing_else_is(method: str, path: str):
    assert await Server().statuses(10, method, path) == [200] * 10


async def test_zero_is_no_limit_and_no_limit_on_requests_is_none_on_these():
    assert await Server(CostlyLimits()).statuses(20, "POST", CHATS) == [200] * 20
    assert await Server(requests_per_minute=0).statuses(20, "POST", CHATS) == [200] * 20


async def test_who_is_not_signed_in_uses_up_nothing():
    server = Server()
    assert await server.statuses(10, "POST", CHATS, who="") == [200] * 10


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 50)), max_size=60), st.floats(0.1, 50), st.integers(1, 20))
def test_a_bucket_lets_through_at_most_its_rate_and_burst_and_one_too_large(
    asked: list[tuple[float, float]], per_second: float, burst: int
):
    bucket, now, let_through = Bucket(burst, 0.0), 0.0, 0.0
    for gap, amount in asked:
        now += gap
        bucket, wait = take(bucket, now=now, per_second=per_second, burst=burst, amount=amount)
        let_through += min(amount, burst) if wait == 0 else 0
        assert 0 <= bucket.tokens <= burst

    assert let_through <= burst + now * per_second + 1e-6
