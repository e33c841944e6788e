"""Streams of both OpenAI protocols, written by hand, and readers of their requests."""

import json
from typing import Any

from chatd.core.model import ModelRequest, PromptMessage
from chatd.core.parts import Part, TextPart
from chatd.core.roles import Role
from chatd.providers.framing.sse import SseFraming
from chatd.providers.protocols.openai.chat import OpenAIChat
from chatd.providers.protocols.openai.responses import OpenAIResponses
from providers.reading import Read, read

PROVIDER = "openai-of-tests"


def sse(*events: Any) -> bytes:
    """Each event as JSON, or as it is if it is text."""
    return b"".join(
        b"data: " + (event if isinstance(event, str) else json.dumps(event)).encode() + b"\n\n" for event in events
    )


def read_responses(*events: Any) -> Read:
    return read(OpenAIResponses(), SseFraming(), [sse(*events)])


def read_chat(*events: Any) -> Read:
    return read(OpenAIChat(), SseFraming(), [sse(*events)])


def completed(*output: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", "output": list(output), **fields}}


def chunk(finish_reason: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice]}


def call_piece(**fields: Any) -> dict[str, Any]:
    """A piece of a call: `name` and `arguments` belong to its function."""
    function = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    return {**fields, "function": function}


def user(*parts: Part | str) -> PromptMessage:
    return PromptMessage(Role.USER, tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts))


def system(text: str) -> PromptMessage:
    return PromptMessage(Role.SYSTEM, (TextPart(text=text),))


def assistant(*parts: Part, origin: str = PROVIDER) -> PromptMessage:
    return PromptMessage(Role.ASSISTANT, parts, origin)


def tool(*parts: Part) -> PromptMessage:
    return PromptMessage(Role.TOOL, parts)


def asked(*messages: PromptMessage, **fields: Any) -> ModelRequest:
    return ModelRequest(model="gpt-test", messages=messages, provider=PROVIDER, **fields)


def responses_body(*messages: PromptMessage, **fields: Any) -> dict[str, Any]:
    return json.loads(OpenAIResponses().body(asked(*messages, **fields)))


def chat_body(*messages: PromptMessage, **fields: Any) -> dict[str, Any]:
    return json.loads(OpenAIChat().body(asked(*messages, **fields)))
