"""docs/models.md names the options that there are, and no others."""

import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from chatd.providers.hosts.bedrock import BedrockOptions
from chatd.providers.hosts.openai import AzureHostOptions, CompatibleHostOptions, OpenAIHostOptions
from chatd.providers.hosts.vertex import VertexOptions
from chatd.providers.protocols.anthropic.options import AnthropicOptions
from chatd.providers.protocols.google.options import GoogleOptions
from chatd.providers.protocols.openai.chat_request import OpenAIChatOptions
from chatd.providers.protocols.openai.responses_request import OpenAIOptions

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text("utf-8")


def row(beginning: str) -> str:
    (found,) = [line for line in PAGE.splitlines() if line.startswith(beginning)]
    return found.rstrip(" |").rpartition(" | ")[2]


def names(struct: type[msgspec.Struct]) -> set[str]:
    """Its fields and those of the structs in them."""
    found: set[str] = set()
    for field in msgspec.structs.fields(struct):
        found.add(field.encode_name)
        for inner in _structs(field.type):
            found |= names(inner)
    return found


def _structs(kind: Any) -> list[type[msgspec.Struct]]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [kind]
    return [struct for argument in get_args(kind) for struct in _structs(argument)]


@pytest.mark.parametrize(
    ("beginning", "struct"),
    [
        ("| `anthropic` | `thinking`", AnthropicOptions),
        ("| `google` | `thinking_config`", GoogleOptions),
        ("| `openai`, with `api` `responses`", OpenAIOptions),
        ("| `openai` with `api` `chat`", OpenAIChatOptions),
    ],
)
def test_the_options_of_a_model_are_those_of_its_protocol(beginning: str, struct: type[msgspec.Struct]):
    assert set(re.findall("`([a-z0-9_]+)`", row(beginning))) == names(struct)


@pytest.mark.parametrize(
    ("beginning", "struct"),
    [
        ("| `openai` | ", OpenAIHostOptions),
        ("| `azure` | ", AzureHostOptions),
        ("| `bedrock` | ", BedrockOptions),
        ("| `vertex` | ", VertexOptions),
        ("| `openai-compat` | ", CompatibleHostOptions),
    ],
)
def test_the_options_of_a_provider_are_those_of_its_host(beginning: str, struct: type[msgspec.Struct]):
    named = set(re.findall("`([a-z0-9_]+)`", row(beginning)))
    assert names(struct) - {"session_token"} <= named  # which is refused
    assert "`session_token` of `bedrock`" in PAGE
