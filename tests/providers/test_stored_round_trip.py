"""What a vendor said goes through the database and back to it: the same prompt, to the byte, with all it signed."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

import msgspec
import pytest
import pytest_asyncio
import structlog

from chatd.clock import SystemClock
from chatd.core.accumulate import Accumulator, Answer
from chatd.core.messages import Message, NewMessage
from chatd.core.model import Capabilities, ModelRequest, ProviderTool
from chatd.core.parts import ToolResultPart
from chatd.core.prompt import prompt_of
from chatd.core.provider_kind import ProviderKind
from chatd.core.reasoning import ReasoningEffort
from chatd.core.repair import repair
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.core.step import local_calls
from chatd.core.vendor_order import vendor_first
from chatd.providers.asking import Asked, ask
from chatd.providers.hosts import Host, ProviderAccess, host_of
from chatd.providers.transport import Transport, open_transport
from chatd.store.stored_messages import read_message
from chatd.testing.postgres import Database
from chatd.testing.vendors.script import Call, Say, Script, Search, Source, Think, Turn
from chatd.testing.vendors.server import VendorServer, vendor_server
from providers.round_trip_chat import AT, NOW, READ, WAIT_SECONDS, signatures
from store.transition_driver import Chats, applied, fence, open_chats

HIT = Source("https://example.com/a", "A page")
CAPABILITIES = Capabilities(reasoning=True, temperature=False)
OTHER_MODEL = UUID(int=7)
KINDS = {
    "anthropic": (ProviderKind.ANTHROPIC, "", "claude-sonnet-4-5", "{}"),
    "responses": (ProviderKind.OPENAI, "/v1", "gpt-5", '{"store":false}'),
    "chat": (ProviderKind.OPENAI_COMPAT, "/v1", "some-model", "{}"),
    "google": (ProviderKind.GOOGLE, "/v1beta", "gemini-3-pro-preview", "{}"),
}


@pytest_asyncio.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as chats:
        yield chats


class Vendor:
    """One of the four, as a provider of this deployment would be asked."""

    def __init__(self, name: str, server: VendorServer, transport: Transport, *, id: str = "mine") -> None:
        kind, path, self._model, self._options = KINDS[name]
        self._id = id
        self._host: Host = host_of(ProviderAccess(kind, "mine", server.url + path, Secret("k")))
        self._transport = transport

    def request(self, history: Sequence[Message | NewMessage]) -> ModelRequest:
        prompt = prompt_of(history, lambda model: "" if model is None else "mine" if model != OTHER_MODEL else "other")
        assert prompt.left_out == ()
        return ModelRequest(
            model=self._model,
            messages=prompt.messages,
            provider=self._id,
            tools=(READ, NOW),
            provider_tools=(ProviderTool("web_search"),),
            max_output_tokens=8000,
            reasoning_effort=ReasoningEffort.LOW,
            capabilities=CAPABILITIES,
            options=self._options,
        )

    def body(self, history: Sequence[Message | NewMessage]) -> bytes:
        request = self.request(history)
        protocol = self._host.protocol(request.model)
        told = repair(request.messages, protocol=protocol.name, provider=self._id, capabilities=CAPABILITIES)
        return protocol.body(msgspec.structs.replace(request, messages=told.messages))

    async def answer(self, history: Sequence[Message | NewMessage]) -> Answer:
        request = self.request(history)
        folded = Accumulator(self._host.protocol(request.model).name)
        asked = Asked(self._host, "mine")
        async with ask(asked, request, transport=self._transport, clock=SystemClock()) as stream:
            async for events in stream:
                for event in events:
                    folded.add(event, AT)
        return folded.answer()


def step_of(answer: Answer, model: UUID) -> list[NewMessage]:
    """As a turn stores it: the answer, and a message for each result."""
    parts = vendor_first(answer.parts)
    results = [
        ToolResultPart(tool_call_id=call.tool_call_id, tool_name=call.tool_name, result='{"ok":true}')
        for call in local_calls(parts)
    ]
    said = NewMessage(role=Role.ASSISTANT, parts=parts, model_config_id=model)
    return [said, *(NewMessage(role=Role.TOOL, parts=(result,)) for result in results)]


async def read_back(chats: Chats, chat_id: UUID) -> list[Message]:
    return [read_message(row) for row in await chats.sql.list_prompt_messages(chat_id=chat_id)]


def turns() -> Script:
    looks = Turn(Think("Let me ", "look."), Search("a", HIT), Say("I look.", sources=[HIT]), Call("now"))
    return [looks, Turn(Say("Done.")), Turn(Say("Bye."))]


@pytest.mark.behaviour("CONTENT-6", "LOOP-3")
@pytest.mark.parametrize("name", KINDS)
async def test_what_is_stored_goes_back_as_it_would_have_in_flight(chats: Chats, name: str):
    async with asyncio.timeout(WAIT_SECONDS), vendor_server(turns()) as server, open_transport() as transport:
        vendor = Vendor(name, server, transport)
        begun = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user()], take=chats.take()))
        chat_id = begun.change.chat_id
        asked = await read_back(chats, chat_id)
        step = step_of(await vendor.answer(asked), chats.model_id)
        applied(await chats.transitions.commit_step(fence(begun), step))
        stored = await read_back(chats, chat_id)
        with structlog.testing.capture_logs() as logs:
            await vendor.answer(stored)

    in_flight = [*asked, *step]
    assert prompt_of(in_flight, str).messages == prompt_of(stored, str).messages
    assert vendor.body(in_flight) == vendor.body(stored)
    assert [refusal.message for refusal in server.refusals] == []
    sent = json.dumps(server.asked[1].body)
    assert json.loads(vendor.body(stored)) == server.asked[1].body
    signed = ["Let me look."] if name == "chat" else signatures(server)  # which signs nothing
    assert signed
    assert all(signature in sent for signature in signed)
    assert [line for line in logs if line["log_level"] == "warning"] == []


@pytest.mark.behaviour("CONTENT-6")
@pytest.mark.parametrize("name", ["anthropic", "responses", "google"])
async def test_what_another_provider_signed_is_kept_from_this_one_with_a_warning(chats: Chats, name: str):
    async with asyncio.timeout(WAIT_SECONDS), vendor_server(turns()) as server, open_transport() as transport:
        vendor, other = Vendor(name, server, transport), Vendor(name, server, transport, id="other")
        begun = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user()], take=chats.take()))
        chat_id = begun.change.chat_id
        step = step_of(await vendor.answer(await read_back(chats, chat_id)), chats.model_id)
        applied(await chats.transitions.commit_step(fence(begun), step))
        stored = await read_back(chats, chat_id)
        with structlog.testing.capture_logs() as logs:
            await other.answer(stored)
        again = vendor.body(stored).decode()

    warnings: list[Any] = [line for line in logs if line["log_level"] == "warning"]
    assert {line["loss"] for line in warnings} >= {"reasoning", "vendor_call"}
    assert {place for line in warnings for place in line["messages"]} == {1}
    sent = json.dumps(server.asked[1].body)
    assert signatures(server)
    assert not any(signature in sent for signature in signatures(server))
    assert all(signature in again for signature in signatures(server))
