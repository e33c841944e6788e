"""Vertex is asked where its location is, with tokens that are fetched once and renewed."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import urllib3
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import compute_engine

from chatd.core.model import ProviderTool, ToolSpec
from chatd.core.secret import Secret
from chatd.providers.hosts import Host, Outbound, ProviderAccess, ProviderKind, host_of
from chatd.providers.stream import ModelCallFailed
from providers.asking_hosts import host, request
from providers.raw_vendor import Vendor, chunk, head, says, vendor

WAIT_SECONDS = 20.0  # of real time, for what takes milliseconds


class Tokens:
    """Google's token server: gives `t1`, `t2` and so on, each for so many seconds."""

    def __init__(self, seconds: int) -> None:
        self.given = 0
        self.is_busy = False
        self.seconds = seconds

    async def talk(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_busy:
            writer.write(head("503 Busy", "application/json") + chunk(b"{}") + chunk(b""))
            return
        self.given += 1
        body = json.dumps({"access_token": f"t{self.given}", "expires_in": self.seconds, "token_type": "Bearer"})
        writer.write(head(content_type="application/json") + chunk(body.encode()) + chunk(b""))


@pytest.fixture(scope="module")
def private_key() -> str:
    made = rsa.generate_private_key(65537, 2048)
    return made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


@asynccontextmanager
async def vertex(
    private_key: str, *, seconds: int = 3600, **options: Any
) -> AsyncIterator[tuple[Host, Tokens, Vendor]]:
    tokens = Tokens(seconds)
    async with vendor(tokens.talk) as (running, _):
        account = {
            "type": "service_account",
            "project_id": "the-project",
            "client_email": "a@b.iam.gserviceaccount.com",
            "private_key": private_key,
            "token_uri": running.url,
        }
        yield host(ProviderKind.VERTEX, key=json.dumps(account), **options), tokens, running


async def test_a_token_is_fetched_once_for_all_that_wait(private_key: str):
    async with vertex(private_key) as (asked, tokens, _), asyncio.timeout(WAIT_SECONDS):
        async with asyncio.TaskGroup() as tasks:
            made = [tasks.create_task(asked.prepare(request("gemini-3"))) for _ in range(5)]
        again = await asked.prepare(request("gemini-3"))

    assert {task.result().headers["Authorization"] for task in made} == {"Bearer t1"}
    assert again.headers["Authorization"] == "Bearer t1"
    assert tokens.given == 1


async def test_a_token_that_has_ended_is_renewed(private_key: str):
    async with vertex(private_key, seconds=1) as (asked, _, _):
        made = [(await asked.prepare(request("gemini-3"))).headers["Authorization"] for _ in range(2)]

    assert made == ["Bearer t1", "Bearer t2"]


@pytest.mark.parametrize(
    ("location", "server"),
    [
        ("global", "aiplatform.googleapis.com"),
        ("us", "aiplatform.us.rep.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
        ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
    ],
)
async def test_vertex_is_asked_where_the_location_is(private_key: str, location: str, server: str):
    async with vertex(private_key, location=location) as (asked, _, _):
        gemini = await asked.prepare(request("gemini-3-pro"))
        claude = await asked.prepare(request("claude-sonnet-4-5@20250929", '{"betas":["context-1m-2025-08-07"]}'))

    place = f"https://{server}/v1/projects/the-project/locations/{location}/publishers"
    assert gemini.url == f"{place}/google/models/gemini-3-pro:streamGenerateContent?alt=sse"
    assert claude.url == f"{place}/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"
    body = json.loads(claude.body)
    assert body["anthropic_version"] == "vertex-2023-10-16"
    assert body["stream"] is True
    assert not {"model", "anthropic_beta"} & set(body)
    assert "context-1m-2025-08-07" in claude.headers["anthropic-beta"]


async def test_gemini_on_vertex_is_not_told_to_tell_of_its_own_tools(private_key: str):
    search, look = ProviderTool("google_search"), ToolSpec("look", "Look.", '{"type":"object"}')
    both = msgspec.structs.replace(request("gemini-3-pro"), provider_tools=(search,), tools=(look,))
    async with vertex(private_key) as (asked, _, _):
        made = await asked.prepare(both)

    body = json.loads(made.body)
    assert len(body["tools"]) == 2
    assert "toolConfig" not in body  # Vertex does not know the field, and refuses what it does not know


async def test_a_named_project_wins_over_that_of_the_credentials(private_key: str):
    async with vertex(private_key, project="mine") as (asked, _, _):
        made = await asked.prepare(request("gemini-3"))

    assert "/projects/mine/" in made.url


async def test_a_token_server_that_can_not_be_reached_is_asked_again(private_key: str):
    async with vertex(private_key) as (asked, _, _):
        pass

    with pytest.raises(ModelCallFailed) as caught:
        await asked.prepare(request("gemini-3"))

    assert caught.value.failure.retryable
    assert private_key not in str(caught.value.failure)


async def test_a_token_server_that_is_busy_is_asked_again(private_key: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("google.auth._exponential_backoff.time.sleep", lambda _: None)
    async with vertex(private_key) as (asked, tokens, _):
        tokens.is_busy = True
        with pytest.raises(ModelCallFailed) as caught:
            await asked.prepare(request("gemini-3"))
        tokens.is_busy = False
        made = await asked.prepare(request("gemini-3"))

    assert caught.value.failure.retryable
    assert made.headers["Authorization"] == "Bearer t1"


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_machines_own_token_is_fetched_from_the_machines_network_without_the_proxy(
    is_there: bool, monkeypatch: pytest.MonkeyPatch
):
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        said = {"access_token": "machine", "expires_in": 3600, "email": "a@b", "scopes": []}
        body = json.dumps(said).encode() if is_there else b"{}"
        status = "200 OK" if is_there and asked.startswith(b"GET /computeMetadata/") else "503 Busy"
        flavor = "Metadata-Flavor: Google\r\nContent-Type: application/json"
        writer.write(f"HTTP/1.1 {status}\r\n{flavor}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    metadata = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    monkeypatch.setattr("google.auth.compute_engine._metadata._GCE_METADATA_HOST", metadata)
    monkeypatch.setattr("google.auth.default", lambda **_: (compute_engine.Credentials(), "machines-project"))
    monkeypatch.setattr("google.auth._exponential_backoff.time.sleep", lambda _: None)
    access = ProviderAccess(ProviderKind.VERTEX, "mine")
    asked = host_of(access, Outbound(proxy=Secret("http://127.0.0.1:9")))
    try:
        if is_there:
            made = await asked.prepare(request("gemini-3"))
            assert made.headers["Authorization"] == "Bearer machine"
            assert "/projects/machines-project/" in made.url
        else:
            with pytest.raises(ModelCallFailed) as caught:
                await asked.prepare(request("gemini-3"))
            assert caught.value.failure.retryable
    finally:
        server.close()


@pytest.mark.parametrize(
    ("no_proxy", "is_direct", "through"),
    [
        ("", False, True),
        ("other.test, 10.0.0.0/8", False, True),
        ("token.test", False, False),
        (".test:443", False, True),
        (".test:80", False, False),
        ("", True, False),
    ],
)
async def test_tokens_are_fetched_through_the_proxy_with_its_password_unless_it_is_to_be_passed_by(
    no_proxy: str, is_direct: bool, through: bool
):
    async with vendor(says(head() + chunk(b""))) as (running, _):
        proxy = Secret(running.url.removesuffix("/v1").replace("//", "//ada:p%40ss@"))
        pool = Outbound(proxy, no_proxy=no_proxy).pool(direct=is_direct)
        asking = asyncio.to_thread(pool.request, "POST", "http://token.test/token", body=b"", retries=False)
        if through:
            assert (await asking).status == 200
        else:
            with pytest.raises(urllib3.exceptions.NewConnectionError):  # there is no such host
                await asking

    assert [b"POST http://token.test/token" in asked for asked in running.heads] == [True] * through
    assert [b"Basic YWRhOnBAc3M=" in asked for asked in running.heads] == [True] * through


def test_the_operators_certificates_are_trusted_for_tokens_too(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        Outbound(ca=tmp_path / "none.pem").pool()
