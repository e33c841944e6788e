"""Requests to Bedrock are signed as Amazon checks it, with credentials that are found and renewed."""

import hashlib
import hmac
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from chatd.core.errors import InvalidRequest
from chatd.providers.hosts import ProviderKind
from chatd.providers.stream import ModelCallFailed
from providers.asking_hosts import host, request
from providers.raw_vendor import chunk, head, says, vendor

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ARN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"


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
