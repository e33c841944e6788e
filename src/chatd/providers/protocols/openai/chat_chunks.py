"""The chunks of a Chat Completions stream, with all that servers call compatible."""

from typing import Final

import msgspec

NOTHING: Final = msgspec.Raw(b"")


class FunctionDelta(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | dict[str, msgspec.Raw] | None = None  # an object where a server forgot that it is a text


class CallDelta(msgspec.Struct, gc=False):
    """A piece of a call. OpenAI gives the id and name once and an index always; others leave out or repeat any."""

    index: int | None = None
    id: str | None = None
    function: FunctionDelta | None = None
    extra_content: msgspec.Raw = NOTHING  # Google


class ContentPiece(msgspec.Struct, gc=False):
    """Mistral's reasoning models stream lists of these."""

    type: str = ""
    text: str | None = None
    thinking: list["ContentPiece"] | None = None


class ReasoningDetail(msgspec.Struct, omit_defaults=True, gc=False):
    """OpenRouter's form of reasoning, which it wants back unchanged."""

    type: str = ""
    text: str | None = None
    summary: str | None = None
    data: str | None = None
    signature: str | None = None
    id: str | None = None
    format: str | None = None
    index: int | None = None


class UrlCitation(msgspec.Struct, gc=False):
    url: str | None = None
    title: str | None = None


class ChatAnnotation(msgspec.Struct, gc=False):
    type: str = ""
    url_citation: UrlCitation | None = None


class Delta(msgspec.Struct, gc=False):
    content: str | list[ContentPiece] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None  # DeepSeek, Z.ai, xAI, Moonshot, older vLLM
    reasoning: str | None = None  # OpenRouter, Groq, Ollama, newer vLLM
    reasoning_details: list[ReasoningDetail] | None = None
    tool_calls: list[CallDelta] | None = None
    function_call: FunctionDelta | None = None
    annotations: list[ChatAnnotation] | None = None


class Choice(msgspec.Struct, gc=False):
    index: int | None = None
    delta: Delta | None = None
    finish_reason: str | None = None
    usage: msgspec.Raw = NOTHING  # Moonshot
    error: msgspec.Raw = NOTHING  # OpenRouter


class GroqExtra(msgspec.Struct, gc=False):
    usage: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING


class Chunk(msgspec.Struct, gc=False):
    id: str | int | None = None
    object: str | None = None
    choices: list[Choice] | None = None
    usage: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING
    x_groq: GroqExtra | None = None
    search_results: msgspec.Raw = NOTHING  # Perplexity
    citations: msgspec.Raw = NOTHING  # Perplexity, xAI


CHUNK: Final = msgspec.json.Decoder(Chunk)


def given(raw: msgspec.Raw) -> bool:
    """Whether a field was there with more than null in it."""
    return raw is not NOTHING and bytes(raw) != b"null"
