"""Bedrock and Vertex: requests that are signed as the clouds check it, with credentials that are found and renewed."""

import asyncio
import hashlib
import hmac
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from chatd.core.errors import InvalidRequest
from chatd.core.model import ModelRequest, PromptMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.providers.hosts import Host, Outbound, ProviderAccess, ProviderKind, host_of
from chatd.providers.stream import ModelCallFailed
from providers.raw_vendor import Vendor, chunk, head, says, vendor

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ARN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"
WAIT_SECONDS = 20.0  # of real time, for what takes milliseconds


def request(model: str, options: str = "{}") -> ModelRequest:
    messages = (PromptMessage(Role.USER, (TextPart(text="hello"),)),)
    return ModelRequest(model=model, messages=messages, options=options)


def host(kind: ProviderKind, *, key: str = "", base_url: str = "", **options: Any) -> Host:
    return host_of(ProviderAccess(kind, "mine", base_url, Secret(key) if key else None, json.dumps(options)))


@pytest.fixture
def no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without credentials; the file is where its profiles would be."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_CONTAINER_CREDENTIALS_FULL_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    profiles = tmp_path / "aws"
    monkeypatch.setenv("AWS_CONFIG_FILE", str(profiles))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    return profiles


def write(path: Path, text: str) -> None:
    path.write_text(text)


def as_amazon_signs(raw_head: bytes, body: bytes, secret: str, region: str) -> str:
    """The signature that Amazon expects for what has arrived, by its documentation."""
    first, *lines = raw_head.decode().removesuffix("\r\n\r\n").split("\r\n")
    path = first.split(" ")[1]
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    said = dict(part.split("=", 1) for part in headers["authorization"].removeprefix("AWS4-HMAC-SHA256 ").split(", "))
    signed = said["SignedHeaders"].split(";")
    canonical = "\n".join(
        (
            "POST",
            quote(path, safe="/-_.~"),
            "",
            *(f"{name}:{headers[name]}" for name in signed),
            "",
            ";".join(signed),
            hashlib.sha256(body).hexdigest(),
        )
    )
    at = headers["x-amz-date"]
    scope = f"{at[:8]}/{region}/bedrock/aws4_request"
    text = "\n".join(("AWS4-HMAC-SHA256", at, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{secret}".encode()
    for piece in scope.split("/"):
        key = hmac.digest(key, piece.encode(), "sha256")
    assert said["Credential"].endswith(scope)
    return said["Signature"] + " " + hmac.new(key, text.encode(), "sha256").hexdigest()


@pytest.mark.parametrize("model", [MODEL, ARN, "m"])
@pytest.mark.parametrize("token", ["", "session"])
async def test_what_arrives_at_bedrock_has_the_signature_that_amazon_expects(model: str, token: str):
    async with vendor(says(head(), chunk(b""))) as (running, transport):
        asked = host(
            ProviderKind.BEDROCK,
            key="wJalrX/secret",
            base_url=running.url.removesuffix("/v1"),
            access_key_id="AKIDEXAMPLE",
            region="eu-central-1",
            session_token=token,
        )
        made = await asked.prepare(request(model))
        async with transport.post(made):
            pass

    given, expected = as_amazon_signs(running.heads[0], made.body, "wJalrX/secret", "eu-central-1").split(" ")
    assert given == expected
    assert (b"X-Amz-Security-Token: session" in running.heads[0]) is bool(token)


async def test_a_bedrock_key_of_the_environment_is_used_if_no_other_is_named(
    no_aws: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "from-env")

    found = [
        (await host(ProviderKind.BEDROCK, **options).prepare(request(MODEL))).headers["Authorization"][:27]
        for options in ({}, {"key": "mine"}, {"key": "s", "access_key_id": "AKID"})
    ]

    assert found == ["Bearer from-env", "Bearer mine", "AWS4-HMAC-SHA256 Credential"]


async def test_a_profile_of_the_machine_is_used(no_aws: Path):
    write(
        no_aws,
        "[default]\naws_access_key_id=AKIDDEFAULT\naws_secret_access_key=s\n"
        "[profile other]\naws_access_key_id=AKIDOTHER\naws_secret_access_key=s\naws_session_token=t\n",
    )

    default = await host(ProviderKind.BEDROCK).prepare(request(MODEL))
    other = await host(ProviderKind.BEDROCK, profile="other").prepare(request(MODEL))

    assert "AKIDDEFAULT/" in default.headers["Authorization"]
    assert "AKIDOTHER/" in other.headers["Authorization"]
    assert other.headers["X-Amz-Security-Token"] == "t"


@pytest.mark.parametrize(("lasting", "is_renewed"), [("hours=10", False), ("minutes=1", True)])
async def test_credentials_are_found_once_and_renewed_when_they_end(
    no_aws: Path, tmp_path: Path, lasting: str, is_renewed: bool
):
    script = tmp_path / "give.py"
    write(
        script,
        "import json, pathlib, datetime as d\n"
        f"seen = pathlib.Path({str(tmp_path / 'seen')!r})\n"
        "with seen.open('a') as file: file.write('x')\n"
        f"until = d.datetime.now(d.UTC) + d.timedelta({lasting})\n"
        "print(json.dumps({'Version': 1, 'AccessKeyId': f'AKID{seen.stat().st_size}', 'SecretAccessKey': 's',"
        " 'SessionToken': 't', 'Expiration': until.isoformat()}))\n",
    )
    write(no_aws, f"[default]\ncredential_process = {sys.executable} {script}\n")
    asked = host(ProviderKind.BEDROCK)

    made = [(await asked.prepare(request(MODEL))).headers["Authorization"] for _ in range(2)]

    first, second = (found.split("Credential=")[1].split("/")[0] for found in made)
    assert (first != second) is is_renewed


async def test_a_machine_without_credentials_is_told_what_to_set(no_aws: Path):
    for options in ({}, {"profile": "nobody"}):
        with pytest.raises(InvalidRequest, match="no usable AWS credentials") as caught:
            await host(ProviderKind.BEDROCK, **options).prepare(request(MODEL))
        assert "API key" in (caught.value.detail or "")


async def test_a_role_that_can_not_be_asked_now_is_asked_again(no_aws: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:9/nobody")
    monkeypatch.setattr("botocore.utils.ContainerMetadataFetcher.SLEEP_TIME", 0)

    with pytest.raises(ModelCallFailed) as caught:
        await host(ProviderKind.BEDROCK).prepare(request(MODEL))

    assert caught.value.failure.retryable
    assert caught.value.failure.message == "Mine is temporarily unavailable."


def test_the_clouds_libraries_are_imported_only_when_used():
    checked = (
        "import sys, chatd.providers.hosts, chatd.providers.asking, chatd.providers.probe\n"
        "print([name for name in ('botocore', 'google.auth', 'urllib3') if name in sys.modules])"
    )

    said = subprocess.run([sys.executable, "-c", checked], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("kind", "module", "package"),
    [(ProviderKind.BEDROCK, "botocore.auth", "botocore"), (ProviderKind.VERTEX, "google.auth", "google-auth")],
)
async def test_a_library_that_is_missing_is_named(
    kind: ProviderKind, module: str, package: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(InvalidRequest, match=f"needs the package {package}") as caught:
        await host(kind, key="s", access_key_id="AKID").prepare(request(MODEL))
    assert caught.value.detail == f"Install it where chatd runs: pip install {package}"


class Tokens:
    """Google's token server: gives `t1`, `t2` and so on, each for so many seconds."""

    def __init__(self, seconds: int) -> None:
        self.given = 0
        self.seconds = seconds

    async def talk(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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


async def test_tokens_are_fetched_through_the_proxy_with_its_password_unless_the_machine_gives_them():
    async with vendor(says()) as (running, _):
        outbound = Outbound(Secret(running.url.removesuffix("/v1").replace("//", "//ada:p%40ss@")))

        through: Any = outbound.pool()
        direct: Any = outbound.pool(direct=True)

    assert through.proxy_headers["proxy-authorization"] == "Basic YWRhOnBAc3M="
    assert direct.proxy is None


def test_the_operators_certificates_are_trusted_for_tokens_too(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        Outbound(ca=tmp_path / "none.pem").pool()
