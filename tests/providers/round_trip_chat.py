"""A chat with a scripted vendor that keeps what was said only as the database would: for round trips."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from chatd.clock import SystemClock
from chatd.core.accumulate import Accumulator, Answer
from chatd.core.model import (
    Capabilities,
    ModelRequest,
    PromptMessage,
    ProviderTool,
    ToolSpec,
)
from chatd.core.parts import Part, TextPart, ToolCallPart, ToolResultPart, is_known
from chatd.core.reasoning import ReasoningEffort
from chatd.core.repair import repair
from chatd.core.roles import Role
from chatd.core.stored_parts import decode_parts, encode_parts
from chatd.providers.framing.event_stream import EventStreamFraming
from chatd.providers.framing.sse import SseFraming
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from chatd.providers.protocols.google.gemini import GoogleGemini
from chatd.providers.protocols.openai.chat import OpenAIChat
from chatd.providers.protocols.openai.responses import OpenAIResponses
from chatd.providers.protocols.protocol import VendorProtocol
from chatd.providers.stream import Framing, ModelCall, ModelCallFailed, open_stream
from chatd.providers.transport import OutboundRequest, Transport, open_transport
from chatd.testing.vendors.script import Script
from chatd.testing.vendors.server import VendorServer, vendor_server

WAIT_SECONDS = 20.0  # of real time, for what takes milliseconds
AT = "2026-01-02T03:04:05Z"
READ = ToolSpec("read_file", "Reads a file.", '{"type":"object","properties":{"path":{"type":"string"}}}')
NOW = ToolSpec("now", "", '{"type":"object","properties":{}}')


class Vendor(msgspec.Struct, frozen=True):
    protocol: VendorProtocol
    path: str
    model: str
    headers: Mapping[str, str]
    framing: Callable[[], Framing] = SseFraming
    options: str = "{}"
    effort: ReasoningEffort | None = ReasoningEffort.LOW
    search: str = "web_search"
    change: Callable[[bytes], bytes] = bytes

    @property
    def id(self) -> str:
        return f"{self.protocol.name} {self.path}"


def for_bedrock(body: bytes) -> bytes:
    fields = json.loads(body)
    del fields["model"], fields["stream"]
    return json.dumps(fields | {"anthropic_version": "bedrock-2023-05-31"}).encode()


CLAUDE = Vendor(
    AnthropicMessages(), "/v1/messages", "claude-sonnet-4-5", {"x-api-key": "k", "anthropic-version": "2023-06-01"}
)
ADAPTIVE = msgspec.structs.replace(CLAUDE, model="claude-opus-4-7")
BEDROCK = Vendor(
    AnthropicMessages(),
    "/model/claude-sonnet-4-5/invoke-with-response-stream",
    "claude-sonnet-4-5",
    {"authorization": "Bearer k"},
    framing=EventStreamFraming,
    change=for_bedrock,
)
RESPONSES = Vendor(OpenAIResponses(), "/v1/responses", "gpt-5", {"authorization": "Bearer k"})
NOT_STORED = msgspec.structs.replace(RESPONSES, options='{"store":false}')
CHAT = Vendor(OpenAIChat(), "/v1/chat/completions", "gpt-4o", {"authorization": "Bearer k"})
GEMINI_2 = Vendor(
    GoogleGemini(),
    "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    "gemini-2.5-pro",
    {"x-goog-api-key": "k"},
)
GEMINI_3 = Vendor(
    GoogleGemini(),
    "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse",
    "gemini-3-pro-preview",
    {"x-goog-api-key": "k"},
)
VENDORS = {
    "anthropic": CLAUDE,
    "anthropic-adaptive": ADAPTIVE,
    "bedrock": BEDROCK,
    "responses": RESPONSES,
    "responses-not-stored": NOT_STORED,
    "chat": CHAT,
    "gemini-2": GEMINI_2,
    "gemini-3": GEMINI_3,
}


class Chat:
    """A chat that keeps what was said only as the database would."""

    def __init__(self, server: VendorServer, transport: Transport) -> None:
        self._server = server
        self._transport = transport
        self._rows: list[tuple[Role, str, str]] = []

    def said(self, role: Role, *parts: Part, origin: str = "") -> None:
        self._rows.append((role, encode_parts(parts), origin))

    async def ask(self, vendor: Vendor, *parts: Part | str) -> Answer:
        """The user says this, and the vendor answers."""
        if parts:
            self.said(Role.USER, *(TextPart(text=part) if isinstance(part, str) else part for part in parts))
        answer = await self._call(vendor)
        self.said(Role.ASSISTANT, *answer.parts, origin=vendor.id)
        return answer

    async def run(self, vendor: Vendor, answer: Answer, result: str = '{"ok":true}', **fields: Any) -> Answer:
        """Our tools answer all calls, and the vendor goes on."""
        calls = [part for part in answer.parts if isinstance(part, ToolCallPart) and not part.provider_executed]
        assert calls
        self.said(
            Role.TOOL,
            *(
                ToolResultPart(tool_call_id=call.tool_call_id, tool_name=call.tool_name, result=result, **fields)
                for call in calls
            ),
        )
        return await self.ask(vendor)

    async def _call(self, vendor: Vendor) -> Answer:
        capabilities = Capabilities(reasoning=vendor.effort is not None, pdfs=True, temperature=False)
        messages = [
            PromptMessage(role, tuple(part for part in decode_parts(stored) if is_known(part)), origin)
            for role, stored, origin in self._rows
        ]
        repaired = repair(messages, protocol=vendor.protocol.name, provider=vendor.id, capabilities=capabilities)
        request = ModelRequest(
            model=vendor.model,
            messages=repaired.messages,
            provider=vendor.id,
            tools=(READ, NOW),
            provider_tools=(ProviderTool(vendor.search),),
            max_output_tokens=8000,
            reasoning_effort=None if vendor is CHAT else vendor.effort,
            capabilities=capabilities,
            options=vendor.options,
        )
        body = vendor.change(vendor.protocol.body(request))
        outbound = OutboundRequest(
            self._server.url + vendor.path, body, {"content-type": "application/json", **vendor.headers}
        )
        call = ModelCall("scripted", vendor.protocol, vendor.framing, outbound)
        folded = Accumulator(vendor.protocol.name)
        async with open_stream(call, transport=self._transport, clock=SystemClock()) as stream:
            try:
                async for events in stream:
                    for event in events:
                        folded.add(event, AT)
            except BaseException:
                self.cut_short = folded.cut_short(AT)
                raise
        return folded.answer()


def signatures(server: VendorServer) -> list[str]:
    """All that it signed; it remembers other things beside, under names with a space."""
    return [signature for signature in server.issued.signed if " " not in signature]


async def play(script: Script, scene: Callable[[Chat], Any]) -> VendorServer:
    """Runs the scene against the script. Every request was accepted."""
    async with asyncio.timeout(WAIT_SECONDS), vendor_server(script) as server, open_transport() as transport:
        try:
            await scene(Chat(server, transport))
        except ModelCallFailed as failed:
            failed.add_note("\n".join(refusal.message for refusal in server.refusals))
            raise
    assert [refusal.message for refusal in server.refusals] == []
    assert server.unplayed == 0
    return server
