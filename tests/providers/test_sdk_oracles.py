"""The vendors' own clients read what the scripted servers say, and find in it what the script has."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import httpx
import openai
import pytest
from anthropic.lib.bedrock import AsyncAnthropicBedrock
from anthropic.lib.vertex import AsyncAnthropicVertex
from google import genai
from google.genai import errors as google_errors
from google.genai import types
from openai.types.responses import Response, ResponseFunctionToolCallParam

from chatd.core.model import FinishReason, ModelRequest, PromptMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.core.usage import Usage
from chatd.providers.hosts import ProviderAccess, ProviderKind, host_of
from chatd.providers.transport import open_transport
from chatd.testing.vendors.script import Call, Fail, Refuse, RunCode, Say, Search, Source, Think, Turn
from chatd.testing.vendors.server import VendorServer, vendor_server

KEY = "test-key"
USAGE = Usage(input_tokens=100, output_tokens=30, reasoning_tokens=10, cache_read_tokens=50)
HIT = Source("https://example.com/a", "A page")
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
CALL = Call("read_file", '{"path":', ' "a b"}')
REASONED = Turn(Think("Let me ", "look."), Say("Hello", " ", "wörld"), CALL, usage=USAGE)


def claude(vendor: VendorServer) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=vendor.url, api_key=KEY, max_retries=0)


def gpt(vendor: VendorServer) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{vendor.url}/v1", api_key=KEY, max_retries=0)


def hello(model: str) -> ModelRequest:
    return ModelRequest(model=model, messages=(PromptMessage(Role.USER, (TextPart(text="hello"),)),))


@asynccontextmanager
async def gemini(vendor: VendorServer) -> AsyncGenerator[genai.Client]:
    """With a client of its own, since the one that it would make warns."""
    async with httpx.AsyncClient() as transport:
        options = types.HttpOptions(base_url=vendor.url, httpx_async_client=transport)
        yield genai.Client(api_key=KEY, http_options=options)


async def ask_claude(client: anthropic.AsyncAnthropic) -> anthropic.types.Message:
    async with client.messages.stream(
        model="scripted-claude",
        max_tokens=4096,
        thinking={"type": "enabled", "budget_tokens": 1024},
        tools=[{"name": "read_file", "input_schema": SCHEMA}],
        messages=[{"role": "user", "content": "hello"}],
    ) as stream:
        async for _ in stream:
            pass
        return await stream.get_final_message()


async def test_anthropics_client_reads_thinking_text_and_calls():
    async with vendor_server([REASONED]) as vendor, claude(vendor) as client:
        message = await ask_claude(client)

    thought, text, call = message.content
    assert thought.type == "thinking"
    assert thought.thinking == "Let me look."
    assert thought.signature
    assert text.type == "text"
    assert text.text == "Hello wörld"
    assert call.type == "tool_use"
    assert (call.name, call.input) == ("read_file", {"path": "a b"})
    assert message.stop_reason == "tool_use"
    assert (message.usage.input_tokens, message.usage.output_tokens) == (100, 30)
    assert message.usage.cache_read_input_tokens == 50


async def test_anthropics_client_reads_a_search_code_citations_and_redacted_thinking():
    turn = Turn(
        Think("hidden", redacted=True), Search("cats", HIT), RunCode("ls", "a.txt"), Say("Cats.", sources=[HIT])
    )
    async with vendor_server([turn]) as vendor, claude(vendor) as client:
        message = await ask_claude(client)

    assert [block.type for block in message.content] == [
        "redacted_thinking",
        "server_tool_use",
        "web_search_tool_result",
        "server_tool_use",
        "bash_code_execution_tool_result",
        "text",
    ]
    search, text = message.content[1], message.content[-1]
    assert search.type == "server_tool_use"
    assert search.input == {"query": "cats"}
    assert text.type == "text"
    assert [citation.type for citation in text.citations or ()] == ["web_search_result_location"]


async def test_anthropics_client_reads_the_same_from_bedrock():
    async with (
        vendor_server([REASONED]) as vendor,
        AsyncAnthropicBedrock(base_url=vendor.url, api_key=KEY, aws_region="us-east-1", max_retries=0) as client,
    ):
        stream = await client.messages.create(
            model="scripted-claude",
            max_tokens=4096,
            stream=True,
            messages=[{"role": "user", "content": "hello"}],
        )
        events = [event async for event in stream]

    texts = [
        event.delta.text for event in events if event.type == "content_block_delta" and event.delta.type == "text_delta"
    ]
    assert texts == ["Hello", " ", "wörld"]
    assert events[-1].type == "message_stop"


async def test_anthropics_clients_ask_bedrock_and_vertex_where_ours_do():
    """The model's name has signs that may be written otherwise in a path."""
    model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    async with vendor_server([Turn(Say("a"))] * 4) as vendor:
        keys: dict[str, Any] = {"api_key": KEY, "aws_region": "us-east-1"}
        token: dict[str, Any] = {"access_token": KEY, "region": "global", "project_id": "p"}
        for client, name in (
            (AsyncAnthropicBedrock(base_url=vendor.url, max_retries=0, **keys), model),
            (AsyncAnthropicVertex(base_url=f"{vendor.url}/v1", max_retries=0, **token), "claude-sonnet-4-5@20250929"),
        ):
            async with client:
                stream = await client.messages.create(
                    model=name, max_tokens=9, stream=True, messages=[{"role": "user", "content": "hello"}]
                )
                assert [event.type async for event in stream][-1] == "message_stop"
        async with open_transport() as transport:
            for options in ({"access_key_id": "AKIDEXAMPLE"}, {}):
                access = ProviderAccess(ProviderKind.BEDROCK, "mine", vendor.url, Secret(KEY), json.dumps(options))
                async with transport.post(await host_of(access).prepare(hello(model))) as response:
                    assert response.status == 200

    bedrock, vertex, *mine = (asked.path for asked in vendor.asked)
    assert mine == [bedrock, bedrock]
    assert vertex.endswith(
        "/p/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"
    )


async def test_openais_client_asks_azure_where_ours_does():
    script = [Turn(Say("a"))] * 2
    async with (
        vendor_server(script) as vendor,
        openai.AsyncAzureOpenAI(
            azure_endpoint=vendor.url, api_key=KEY, api_version="2024-10-21", max_retries=0
        ) as client,
        open_transport() as transport,
    ):
        stream = await client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": "hello"}], stream=True
        )
        assert [chunk async for chunk in stream]
        options = json.dumps({"api": "chat", "api_version": "2024-10-21"})
        host = host_of(ProviderAccess(ProviderKind.AZURE, "mine", vendor.url, Secret(KEY), options))
        async with transport.post(await host.prepare(hello("gpt-4o"))) as response:
            assert response.status == 200

    theirs, mine = vendor.asked
    assert (theirs.path, theirs.headers["api-key"]) == (mine.path, mine.headers["api-key"])


async def test_anthropics_client_knows_refusals_and_errors_within_a_stream():
    script = [Refuse(429, "Slow down.", headers={"retry-after": "7"}), Turn(Say("a", "b"), faults=[Fail("Busy.")])]
    async with vendor_server(script) as vendor, claude(vendor) as client:
        with pytest.raises(anthropic.RateLimitError, match="Slow down") as refused:
            await ask_claude(client)
        with pytest.raises(anthropic.APIStatusError, match="Busy"):
            await ask_claude(client)

    assert refused.value.response.headers["retry-after"] == "7"


async def ask_responses(client: openai.AsyncOpenAI) -> Response:
    async with client.responses.stream(
        model="gpt-5",
        input="hello",
        reasoning={"effort": "low", "summary": "auto"},
        include=["reasoning.encrypted_content"],
        tools=[{"type": "function", "name": "read_file", "parameters": SCHEMA, "strict": False}],
    ) as stream:
        async for _ in stream:
            pass
        return await stream.get_final_response()


async def test_openais_client_reads_reasoning_text_and_calls_from_responses():
    async with vendor_server([REASONED]) as vendor, gpt(vendor) as client:
        response = await ask_responses(client)

    thought, message, call = response.output
    assert thought.type == "reasoning"
    assert [part.text for part in thought.summary] == ["Let me look."]
    assert thought.encrypted_content
    assert message.type == "message"
    assert response.output_text == "Hello wörld"
    assert call.type == "function_call"
    assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "a b"})
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens) == (150, 30)
    assert response.usage.input_tokens_details.cached_tokens == 50
    assert response.usage.output_tokens_details.reasoning_tokens == 10


async def test_openais_client_reads_a_search_code_and_annotations_from_responses():
    turn = Turn(Search("cats", HIT), RunCode("1+1", "2"), Say("Cats.", sources=[HIT]), finish=FinishReason.LENGTH)
    async with vendor_server([turn]) as vendor, gpt(vendor) as client:
        stream = await client.responses.create(model="gpt-5", input="hello", stream=True)
        events = [event async for event in stream]

    assert events[-1].type == "response.incomplete"
    response = events[-1].response
    assert [item.type for item in response.output] == ["web_search_call", "code_interpreter_call", "message"]
    message = response.output[-1]
    assert message.type == "message"
    assert message.content[0].type == "output_text"
    assert [note.type for note in message.content[0].annotations] == ["url_citation"]
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"


async def test_openais_client_reads_text_and_calls_from_chat_completions():
    async with (
        vendor_server([REASONED]) as vendor,
        gpt(vendor) as client,
        client.chat.completions.stream(
            model="gpt-4o",
            messages=[{"role": "user", "content": "hello"}],
            stream_options={"include_usage": True},
            tools=[{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}],
        ) as stream,
    ):
        async for _ in stream:
            pass
        completion = await stream.get_final_completion()

    choice = completion.choices[0]
    assert choice.message.content == "Hello wörld"
    assert choice.finish_reason == "tool_calls"
    [call] = choice.message.tool_calls or []
    assert (call.function.name, json.loads(call.function.arguments)) == ("read_file", {"path": "a b"})
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (150, 30)


async def test_openais_client_knows_refusals_and_errors_within_a_stream():
    script = [Refuse(429, "Slow down."), Turn(Say("a"), faults=[Fail("Busy.")]), Turn(Say("a"), faults=[Fail("Busy.")])]
    async with vendor_server(script) as vendor, gpt(vendor) as client:
        with pytest.raises(openai.RateLimitError, match="Slow down"):
            await ask_responses(client)
        with pytest.raises(openai.APIError, match="Busy"):
            await ask_responses(client)
        stream = await client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": "hello"}], stream=True
        )
        with pytest.raises(openai.APIError, match="Busy"):
            async for _ in stream:
                pass


async def ask_gemini(client: genai.Client, *tools: types.Tool) -> list[types.GenerateContentResponse]:
    config = types.GenerateContentConfig(
        tools=list(tools), thinking_config=types.ThinkingConfig(include_thoughts=True), temperature=0.5
    )
    stream = await client.aio.models.generate_content_stream(
        model="gemini-3-pro-preview", contents="hello", config=config
    )
    return [chunk async for chunk in stream]


async def test_googles_client_reads_thoughts_text_and_calls():
    declared = types.FunctionDeclaration(name="read_file", description="Reads.", parameters_json_schema=SCHEMA)
    async with vendor_server([REASONED]) as vendor, gemini(vendor) as client:
        chunks = await ask_gemini(client, types.Tool(function_declarations=[declared]))

    parts = [part for chunk in chunks for part in chunk.parts or ()]
    assert "".join(part.text or "" for part in parts if part.thought) == "Let me look."
    assert "".join(part.text or "" for part in parts if not part.thought) == "Hello wörld"
    [call] = [part.function_call for part in parts if part.function_call]
    assert (call.name, call.args) == ("read_file", {"path": "a b"})
    [signed] = [part.thought_signature for part in parts if part.function_call]
    assert signed is not None
    usage = chunks[-1].usage_metadata
    assert usage is not None
    assert (usage.prompt_token_count, usage.candidates_token_count, usage.thoughts_token_count) == (150, 20, 10)
    assert chunks[-1].candidates is not None
    assert chunks[-1].candidates[0].finish_reason is types.FinishReason.STOP


async def test_googles_client_reads_a_search_and_code():
    turn = Turn(Search("cats", HIT), RunCode("print(2)", "2"), Say("Cats."))
    async with vendor_server([turn]) as vendor, gemini(vendor) as client:
        chunks = await ask_gemini(client, types.Tool(google_search=types.GoogleSearch()))

    parts = [part for chunk in chunks for part in chunk.parts or ()]
    assert [part.executable_code.code for part in parts if part.executable_code] == ["print(2)"]
    assert [part.code_execution_result.output for part in parts if part.code_execution_result] == ["2"]
    assert chunks[-1].candidates is not None
    grounding = chunks[-1].candidates[0].grounding_metadata
    assert grounding is not None
    assert grounding.web_search_queries == ["cats"]
    assert [found.web.uri for found in grounding.grounding_chunks or () if found.web] == [HIT.url]


async def test_googles_client_knows_refusals():
    async with vendor_server([Refuse(429, "Slow down.")]) as vendor, gemini(vendor) as client:
        with pytest.raises(google_errors.ClientError, match="Slow down") as refused:
            await ask_gemini(client)

    assert (refused.value.code, refused.value.status) == (429, "RESOURCE_EXHAUSTED")


async def test_every_client_lists_the_models():
    async with vendor_server([], models=["one", "two"]) as vendor:
        async with claude(vendor) as client:
            claudes = [model.id async for model in client.models.list()]
        async with gpt(vendor) as client:
            gpts = [model.id async for model in client.models.list()]
        async with gemini(vendor) as client:
            geminis = [model.name async for model in await client.aio.models.list()]

    assert claudes == gpts == ["one", "two"]
    assert geminis == ["models/one", "models/two"]


async def test_a_request_that_the_vendor_would_refuse_is_refused_in_its_form():
    async with vendor_server([]) as vendor:
        async with claude(vendor) as client:
            with pytest.raises(anthropic.BadRequestError, match="text content blocks must be non-empty"):
                await client.messages.create(
                    model="m", max_tokens=9, stream=True, messages=[{"role": "user", "content": ""}]
                )
        async with gpt(vendor) as client:
            call = ResponseFunctionToolCallParam(type="function_call", call_id="c1", name="f", arguments="{}")
            with pytest.raises(openai.BadRequestError, match="No tool output found for function call c1"):
                await client.responses.create(model="m", stream=True, input=[call])
        async with gemini(vendor) as client:
            content = types.Content(role="user", parts=[types.Part(text="a")])
            with pytest.raises(google_errors.ClientError, match="alternate"):
                async for _ in await client.aio.models.generate_content_stream(
                    model="gemini-2.5-pro", contents=[content, content]
                ):
                    pass

    assert len(vendor.refusals) == 3
