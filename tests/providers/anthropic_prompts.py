"""Histories and requests for tests of what is sent to Anthropic."""

import json
from typing import Any

from chatd.core.model import Capabilities, ModelRequest, PromptMessage, ProtocolName
from chatd.core.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.repair import repair
from chatd.core.roles import Role
from chatd.providers.protocols.anthropic.messages import AnthropicMessages

ANTHROPIC = "anthropic-messages"
THINKS = Capabilities(reasoning=True)


def said(role: Role, *parts: Part | str, origin: str = "") -> PromptMessage:
    return PromptMessage(role, tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts), origin)


def user(*parts: Part | str) -> PromptMessage:
    return said(Role.USER, *parts)


def assistant(*parts: Part | str, origin: str = "me") -> PromptMessage:
    return said(Role.ASSISTANT, *parts, origin=origin)


def tool(*parts: Part) -> PromptMessage:
    return said(Role.TOOL, *parts)


def call(call_id: str = "t1", args: str = "{}", **fields: Any) -> ToolCallPart:
    return ToolCallPart(tool_call_id=call_id, tool_name="execute", args=args, **fields)


def result(call_id: str = "t1", text: str = '{"ok":true}', **fields: Any) -> ToolResultPart:
    return ToolResultPart(tool_call_id=call_id, tool_name="execute", result=text, **fields)


def kept(**fields: Any) -> dict[str, str]:
    return {ANTHROPIC: json.dumps(fields)}


def body(*messages: PromptMessage, options: Any = None, **fields: Any) -> Any:
    fields = {"model": "claude-sonnet-4-6", "cache_prompt": False, "provider": "me"} | fields
    request = ModelRequest(messages=messages or (user("Hi"),), options=json.dumps(options or {}), **fields)
    return json.loads(AnthropicMessages().body(request))


def messages_of(*messages: PromptMessage, **fields: Any) -> list[tuple[str, list[dict[str, Any]]]]:
    return [(message["role"], message["content"]) for message in body(*messages, **fields)["messages"]]


def repaired_of(
    *messages: PromptMessage, capabilities: Capabilities | None = None
) -> list[tuple[str, list[dict[str, Any]]]]:
    """As they are sent: repaired first."""
    capabilities = capabilities or Capabilities()
    protocol = ProtocolName.ANTHROPIC_MESSAGES
    repaired = repair(messages, protocol=protocol, provider="me", capabilities=capabilities)
    return messages_of(*repaired.messages, capabilities=capabilities)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


SIGNED = ReasoningPart(text="Hm.", provider_metadata=kept(type="thinking", signature="s="))
OMITTED = ReasoningPart(text="", provider_metadata=kept(type="thinking", signature="o="))
REDACTED = ReasoningPart(text="", provider_metadata=kept(type="redacted_thinking", data="d="))

SEARCHED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"encrypted_content": "E"}]}
WEB = (
    ToolCallPart(tool_call_id="srvtoolu_1", args="{}", provider_executed=True, provider_metadata=kept(**SEARCHED)),
    ToolResultPart(tool_call_id="srvtoolu_1", result="[]", provider_executed=True, provider_metadata=kept(**FOUND)),
)
