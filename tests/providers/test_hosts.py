"""How each vendor is addressed and signed to: the request that would leave."""

import json
from typing import Any

import pytest

from chatd.core.errors import InvalidRequest
from chatd.core.model import ModelRequest, PromptMessage, ProtocolName
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.providers.asking import Asked
from chatd.providers.framing.event_stream import EventStreamFraming
from chatd.providers.framing.sse import SseFraming
from chatd.providers.hosts import Outbound, ProviderAccess, ProviderKind, host_of
from chatd.providers.stream import ModelCall
from chatd.providers.transport import OutboundRequest

KEY = "sk-test-key"
BEARER = ("Authorization", f"Bearer {KEY}")
SERVICE_ACCOUNT = "not json"


def request(model: str) -> ModelRequest:
    return ModelRequest(model=model, messages=(PromptMessage(Role.USER, (TextPart(text="hello"),)),))


def access(kind: ProviderKind, *, base_url: str = "", key: str = KEY, **options: Any) -> ProviderAccess:
    return ProviderAccess(kind, "mine", base_url, Secret(key) if key else None, json.dumps(options))


async def prepared(model: str, kind: ProviderKind, **more: Any) -> OutboundRequest:
    return await host_of(access(kind, **more)).prepare(request(model))


@pytest.mark.parametrize(
    ("kind", "more", "url", "header"),
    [
        (ProviderKind.ANTHROPIC, {}, "https://api.anthropic.com/v1/messages", ("x-api-key", KEY)),
        (ProviderKind.ANTHROPIC, {"base_url": "http://gate/v1/"}, "http://gate/v1/messages", ("x-api-key", KEY)),
        (ProviderKind.OPENAI, {}, "https://api.openai.com/v1/responses", BEARER),
        (ProviderKind.OPENAI, {"api": "chat"}, "https://api.openai.com/v1/chat/completions", BEARER),
        (
            ProviderKind.AZURE,
            {"base_url": "https://r.openai.azure.com"},
            "https://r.openai.azure.com/openai/v1/responses",
            ("api-key", KEY),
        ),
        (
            ProviderKind.AZURE,
            {"base_url": "https://r.openai.azure.com/", "api": "chat", "api_version": "2024-10-21"},
            "https://r.openai.azure.com/openai/deployments/m-1/chat/completions?api-version=2024-10-21",
            ("api-key", KEY),
        ),
        (
            ProviderKind.GOOGLE,
            {},
            "https://generativelanguage.googleapis.com/v1beta/models/m-1:streamGenerateContent?alt=sse",
            ("x-goog-api-key", KEY),
        ),
        (
            ProviderKind.GOOGLE,
            {"base_url": "https://gate.test/"},
            "https://gate.test/v1beta/models/m-1:streamGenerateContent?alt=sse",
            ("x-goog-api-key", KEY),
        ),
        (
            ProviderKind.GOOGLE,
            {"base_url": "https://gate.test/v1"},
            "https://gate.test/v1/models/m-1:streamGenerateContent?alt=sse",
            ("x-goog-api-key", KEY),
        ),
        (ProviderKind.OPENAI, {"base_url": "https://gate.test"}, "https://gate.test/v1/responses", BEARER),
        (ProviderKind.OPENAI, {"base_url": "https://gate.test/x/"}, "https://gate.test/x/responses", BEARER),
        (
            ProviderKind.OPENAI,
            {"organization": "o"},
            "https://api.openai.com/v1/responses",
            ("OpenAI-Organization", "o"),
        ),
        (ProviderKind.OPENAI, {"project": "p"}, "https://api.openai.com/v1/responses", ("OpenAI-Project", "p")),
        (ProviderKind.VERCEL, {}, "https://ai-gateway.vercel.sh/v1/chat/completions", BEARER),
        (
            ProviderKind.AZURE,
            {"base_url": "https://r.openai.azure.com/openai/v1/", "api": "chat"},
            "https://r.openai.azure.com/openai/v1/chat/completions",
            ("api-key", KEY),
        ),
        (
            ProviderKind.AZURE,
            {"base_url": "https://r.openai.azure.com/openai", "api_version": "2025-04-01-preview"},
            "https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
            ("api-key", KEY),
        ),
        (ProviderKind.OPENROUTER, {}, "https://openrouter.ai/api/v1/chat/completions", BEARER),
        (
            ProviderKind.OPENAI_COMPAT,
            {"base_url": "http://127.0.0.1:11434/v1"},
            "http://127.0.0.1:11434/v1/chat/completions",
            BEARER,
        ),
        (
            ProviderKind.BEDROCK,
            {"region": "eu-west-1"},
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m-1/invoke-with-response-stream",
            BEARER,
        ),
    ],
)
async def test_a_vendor_is_asked_where_and_as_it_wants(
    kind: ProviderKind, more: dict[str, Any], url: str, header: tuple[str, str]
):
    made = await prepared("m-1", kind, **more)

    assert made.url == url
    assert made.headers[header[0]] == header[1]
    assert KEY not in made.url
    assert b"hello" in made.body


async def test_a_compatible_server_may_want_no_key_and_other_headers():
    made = await prepared("m", ProviderKind.OPENAI_COMPAT, base_url="http://x/v1", key="", headers={"X-Team": "a"})

    assert "Authorization" not in made.headers
    assert made.headers["X-Team"] == "a"


async def test_bedrock_names_the_model_in_the_address_and_signs_with_aws_keys():
    made = await prepared("anthropic.claude-x:0", ProviderKind.BEDROCK, key="secret", access_key_id="AKIDEXAMPLE")
    host = host_of(access(ProviderKind.BEDROCK))

    body = json.loads(made.body)
    assert body["anthropic_version"] == "bedrock-2023-05-31"
    assert not {"model", "stream"} & set(body)
    assert made.url.endswith("/model/anthropic.claude-x%3A0/invoke-with-response-stream")
    assert made.headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "secret" not in str(dict(made.headers))
    assert host.framing is EventStreamFraming
    assert host_of(access(ProviderKind.ANTHROPIC)).framing is SseFraming


async def test_vertex_says_what_is_wrong_with_its_credentials():
    host = host_of(access(ProviderKind.VERTEX, key=SERVICE_ACCOUNT, project="p"))

    assert host.protocol("claude-x").name is ProtocolName.ANTHROPIC_MESSAGES
    assert host.protocol("gemini-x").name is ProtocolName.GOOGLE_GEMINI
    with pytest.raises(InvalidRequest, match="no usable Google credentials") as caught:
        await host.prepare(request("gemini-x"))
    assert SERVICE_ACCOUNT not in str(caught.value.validations)


@pytest.mark.parametrize(
    ("kind", "more", "words"),
    [
        (ProviderKind.ANTHROPIC, {"key": ""}, "no API key"),
        (ProviderKind.AZURE, {}, "needs an address"),
        (ProviderKind.OPENAI_COMPAT, {}, "needs an address"),
        (ProviderKind.OPENAI, {"api": "telepathy"}, "options"),
    ],
)
def test_what_is_not_configured_is_said_by_name(kind: ProviderKind, more: dict[str, Any], words: str):
    with pytest.raises(InvalidRequest, match=words):
        host_of(access(kind, **more))


@pytest.mark.parametrize("kind", [kind for kind in ProviderKind if kind is not ProviderKind.VERTEX])
async def test_nothing_that_holds_a_key_shows_it(kind: ProviderKind):
    held = access(kind, base_url="https://models.example/v1", session_token=KEY, headers={"x-gate": KEY})
    asked = host_of(held)
    sent = await asked.prepare(request("m-1"))
    call = ModelCall("mine", asked.protocol("m-1"), asked.framing, sent)

    assert KEY in str(sent.headers)
    for holder in (held, asked, sent, call, Asked(asked, "mine"), Outbound(Secret(f"http://ada:{KEY}@proxy"))):
        assert KEY not in repr(holder) + str(holder)
    assert "mine" in repr(held)


def test_a_request_is_shown_by_its_address_and_its_size():
    sent = OutboundRequest("https://models.example/v1/chat?key=k&alt=sse", b"hello", {"Authorization": KEY})

    assert repr(sent) == str(sent) == "OutboundRequest('https://models.example/v1/chat', 5 bytes)"
