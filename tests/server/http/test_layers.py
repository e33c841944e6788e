"""What the layers do to a request on its way in and to its answer on its way out."""

import asyncio
from contextlib import contextmanager
from itertools import count
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from chatd.core.access import Person, Role
from chatd.observe.metrics import Metrics
from chatd.server.asgi import MiddlewareOptions, with_middleware
from chatd.server.middleware.authentication import Credentials, Source, session_cookie_name
from server.http.exchange import body_of, exchange, headers_of, status_of
from server.http.live import layered

MEMBER = Person(UUID(int=7), Role.MEMBER, "mia")


async def ok(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"{}"})


class Seen:
    """An app that keeps the scope it was called with."""

    scope: dict

    async def __call__(self, scope, receive, send):
        self.scope = scope
        await ok(scope, receive, send)


async def only_good(credentials: Credentials) -> Person | None:
    return MEMBER if credentials.token.reveal() == "good" else None


@pytest.mark.parametrize(
    ("headers", "source"),
    [
        ({"authorization": "Bearer good"}, Source.BEARER),
        ({"authorization": "bearer  good "}, Source.BEARER),
        ({"chatd-session-token": "good"}, Source.HEADER),
        ({"coder-session-token": "good"}, Source.HEADER),
        ({"cookie": "theme=dark; chatd_session=good"}, Source.COOKIE),
        ({"authorization": "Basic cHJveHk=", "cookie": "chatd_session=good"}, Source.COOKIE),
    ],
)
async def test_the_person_behind_a_token_acts_for_the_request(headers: dict[str, str], source: Source):
    seen, sources, acting = Seen(), [], []

    async def authenticate(credentials: Credentials) -> Person | None:
        sources.append(credentials.source)
        return await only_good(credentials)

    @contextmanager
    def act(person: Person | None, scope: dict[str, object]):
        acting.append(person)
        yield

    await exchange(layered(seen, authenticate=authenticate, acting=act), headers=headers)

    assert seen.scope["state"]["person"] == MEMBER
    assert (sources, acting) == ([source], [MEMBER])


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/api/x", {"authorization": "Bearer bad"}, 401),
        ("/api/x", {"authorization": "Bearer"}, 401),
        ("/api/x", {"authorization": "Bearer " + "x" * 10_000}, 401),
        ("/api/x", {"chatd-session-token": "bad"}, 401),
        ("/api/x", {"cookie": "chatd_session=bad"}, 200),
        ("/page", {"authorization": "Bearer bad"}, 200),
        ("/api/x", {}, 200),
    ],
)
async def test_only_credentials_given_on_purpose_are_refused(path: str, headers: dict[str, str], status: int):
    assert status_of(await exchange(layered(ok, authenticate=only_good), path, headers=headers)) == status


@pytest.mark.parametrize("name", ["authorization", "chatd-session-token", "cookie"])
async def test_guessing_tokens_uses_up_the_address_and_then_nobody_is_asked(name: str):
    asked: list[str] = []

    async def authenticate(credentials: Credentials) -> Person | None:
        asked.append(credentials.token.reveal())
        return await only_good(credentials)

    def carrying(token: str) -> dict[str, str]:
        return {name: {"authorization": "Bearer ", "cookie": "chatd_session="}.get(name, "") + token}

    app = layered(ok, authenticate=authenticate, requests_per_minute=10, burst=3)
    assert status_of(await exchange(app, headers=carrying("good"))) == 200
    tries = [status_of(await exchange(app, "/api/x", headers=carrying(f"bad-{number}"))) for number in range(5)]

    refused = 200 if name == "cookie" else 401
    assert tries == [refused, refused, refused, 429, 429]
    assert asked == ["good", "bad-0", "bad-1", "bad-2"]
    assert status_of(await exchange(app, headers=carrying("good"))) == 200, "who is known does not pay for others"


async def test_good_tokens_cost_their_address_nothing():
    users = count()

    async def anyone(credentials: Credentials) -> Person | None:
        return Person(UUID(int=next(users)), Role.MEMBER, "x")

    app = layered(ok, authenticate=anyone, requests_per_minute=1, burst=1)
    asked = [status_of(await exchange(app, headers={"authorization": f"Bearer {user}"})) for user in range(5)]

    assert asked == [200] * 5


def test_the_session_cookie_is_bound_to_the_host_where_there_is_https():
    assert session_cookie_name(secure=True) == "__Host-chatd_session"
    assert session_cookie_name(secure=False) == "chatd_session"


@pytest.mark.parametrize(
    ("public_url", "cookies", "found"),
    [
        ("https://chat.example", "chatd_session=planted; __Host-chatd_session=own", "own"),
        ("https://chat.example", "__Host-chatd_session=own; chatd_session=planted", "own"),
        ("https://chat.example", "chatd_session=planted", None),
        ("http://chat.example", "chatd_session=own", "own"),
        ("http://chat.example", "__Host-chatd_session=other; chatd_session=own", "own"),
        (None, "chatd_session=own", "own"),
    ],
)
async def test_a_cookie_that_a_neighbour_sets_does_not_hide_the_own_one(
    public_url: str | None, cookies: str, found: str | None
):
    tokens: list[str] = []

    async def authenticate(credentials: Credentials) -> Person | None:
        tokens.append(credentials.token.reveal())
        return MEMBER

    await exchange(layered(ok, authenticate=authenticate, public_url=public_url), headers={"cookie": cookies})

    assert tokens == ([found] if found else [])


async def test_probes_are_neither_limited_nor_asked_for_their_host():
    app = layered(ok, requests_per_minute=1, burst=1)
    asked = [status_of(await exchange(app, "/healthz", headers={"host": "10.1.2.3:80"})) for _ in range(3)]

    assert asked == [200, 200, 200]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://localhost"}, 200),
        ({"origin": "https://chat.example"}, 200),
        ({"origin": "https://friend.example"}, 200),
        ({"origin": "http://localhost:81"}, 403),
        ({"origin": "null"}, 403),
        ({}, 200),
        ({"sec-fetch-site": "cross-site", "cookie": "chatd_session=x"}, 403),
        ({"sec-fetch-site": "cross-site"}, 200),
        ({"sec-fetch-site": "same-origin", "cookie": "chatd_session=x"}, 200),
    ],
)
async def test_changes_are_taken_only_from_our_own_pages(headers: dict[str, str], status: int):
    app = layered(ok, public_url="https://chat.example", allowed_origins=("https://friend.example",))

    assert status_of(await exchange(app, method="POST", headers=headers)) == status
    assert status_of(await exchange(app, method="GET", headers=headers)) == 200


async def test_the_public_url_is_an_allowed_host():
    app = layered(ok, public_url="https://chat.example:8443/sub")

    assert status_of(await exchange(app, headers={"host": "chat.example"})) == 200


async def test_a_public_url_or_proxy_range_that_is_none_is_refused_at_start():
    with pytest.raises(ValueError, match="public URL"):
        layered(ok, public_url="chat.example")
    with pytest.raises(ValueError, match="nonsense"):
        layered(ok, trusted_proxies=("nonsense",))


async def test_address_and_scheme_come_from_trusted_proxies_only():
    forwarded = {"x-forwarded-for": "198.51.100.7", "x-forwarded-proto": "https"}
    seen = Seen()
    await exchange(layered(seen, trusted_proxies=("127.0.0.0/8",)), headers=forwarded)
    assert (seen.scope["client"][0], seen.scope["scheme"]) == ("198.51.100.7", "https")
    assert seen.scope["state"]["peer"] == "127.0.0.1"

    await exchange(layered(seen), headers=forwarded)
    assert (seen.scope["client"][0], seen.scope["scheme"]) == ("127.0.0.1", "http")


async def test_a_route_keeps_the_headers_it_sets_itself():
    async def cached(scope, receive, send):
        headers = [(b"cache-control", b"max-age=60"), (b"content-security-policy", b"default-src 'none'")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})

    sent = await exchange(layered(cached))
    assert [value for name, value in sent[0]["headers"] if name == b"cache-control"] == [b"max-age=60"]
    assert headers_of(sent)["content-security-policy"] == "default-src 'none'"


@pytest.mark.parametrize(("given", "kept"), [("trace-1.2_3", True), ("a b", False), ("x" * 65, False), ("", False)])
async def test_a_valid_request_id_is_kept_and_another_is_replaced(given: str, kept: bool):
    answered = headers_of(await exchange(layered(ok), headers={"x-request-id": given}))["x-request-id"]

    assert (answered == given) is kept
    assert answered


async def test_a_request_is_logged_once_without_its_query_string():
    app = layered(ok, authenticate=only_good)
    with capture_logs() as lines:
        await exchange(app, query_string=b"token=planted", headers={"authorization": "Bearer good"})
        await exchange(app, "/healthz")

    (line,) = lines
    assert (line["method"], line["path"], line["status"], line["user_id"]) == ("GET", "/api/x", 200, str(UUID(int=7)))
    assert "planted" not in repr(line)


async def test_requests_and_their_queries_are_counted_by_route_template():
    metrics = Metrics()

    async def routed(scope, receive, send):
        scope["path_template"] = "/api/{name}"
        with metrics.query("get_thing"):
            await ok(scope, receive, send)

    await exchange(layered(routed, metrics=metrics))
    await exchange(layered(ok, metrics=metrics), "/api/made-up-by-a-client")

    text = metrics.render()[0].decode()
    assert 'chatd_http_requests_total{method="GET",route="/api/{name}",status="2xx"} 1.0' in text
    assert 'chatd_db_queries_total{method="GET",query="get_thing",route="/api/{name}"} 1.0' in text
    assert "made-up" not in text


async def test_cancellation_is_answered_and_passes():
    async def cancelled(scope, receive, send):
        raise asyncio.CancelledError

    sent = []

    async def collect(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/api/x", "headers": [(b"host", b"localhost")], "client": None}
    with pytest.raises(asyncio.CancelledError):
        await layered(cancelled)(scope, None, collect)

    assert status_of(sent) == 503
    assert body_of(sent)["message"]


async def test_a_client_that_leaves_is_no_error():
    async def reads(scope, receive, send):
        if (await receive())["type"] == "http.disconnect":
            raise ConnectionResetError("client disconnected")

    with capture_logs() as lines:
        assert await exchange(layered(reads), messages=[]) == []

    assert [line["log_level"] for line in lines] == ["debug", "info"]
    assert lines[-1]["status"] == 499


async def test_the_lifespan_passes_the_layers_by():
    seen = Seen()

    async def send(message):
        pass

    options = MiddlewareOptions(clock=None, metrics=Metrics())  # type: ignore[arg-type]
    await with_middleware(seen, options)({"type": "lifespan"}, None, send)

    assert seen.scope == {"type": "lifespan"}


async def test_an_app_that_swallows_the_limit_still_answers_413():
    async def swallows(scope, receive, send):
        try:
            await receive()
        except Exception:  # noqa: BLE001
            await ok(scope, receive, send)

    body = {"type": "http.request", "body": b"x" * 11, "more_body": False}
    assert status_of(await exchange(layered(swallows, body_limit=10), method="POST", messages=[body])) == 413
