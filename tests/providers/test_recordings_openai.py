"""Real streams of OpenAI, and of servers that speak as it does: the same message for any pieces, none from a part."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatd.core.failure import Wording
from chatd.core.failure.detail import one_clean_line
from chatd.core.model import ModelRequest, PromptMessage, SourceFound
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.core.usage import Usage
from chatd.providers.framing.sse import SseFraming
from chatd.providers.protocols.openai.chat import OpenAIChat
from chatd.providers.protocols.openai.responses import OpenAIResponses
from chatd.providers.protocols.protocol import VendorProtocol
from core.failing import failure
from providers.cut_streams import assert_asked_again
from providers.reading import Read, pieces, read
from providers.recordings import Recording, errors, streams

PROTOCOLS: dict[str, VendorProtocol] = {"openai-responses": OpenAIResponses(), "openai-chat": OpenAIChat()}
ALL = [parameter for name in PROTOCOLS for parameter in streams(name)]
RESPONSES = streams("openai-responses")
CHATS = streams("openai-chat")
# Streams have up to 120 kB, so that an example costs milliseconds; the recordings themselves are the variety.
few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_cut(recording: Recording, data: bytes, cuts: list[int]) -> Read:
    return read(PROTOCOLS[recording.protocol], SseFraming(), pieces(data, cuts))


def whole(recording: Recording) -> Read:
    return read_cut(recording, recording.response.body.encode(), [])


def events_of(recording: Recording) -> list[dict[str, Any]]:
    lines = (line for line in recording.response.body.splitlines() if line.startswith("data: {"))
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def output_of(recording: Recording) -> list[dict[str, Any]]:
    """The items as they ended, which is where ciphertexts and some ids differ from those of the finished response."""
    events = events_of(recording)
    output = next(event["response"]["output"] for event in events if event["type"] == "response.completed")
    ended = {event["output_index"]: event["item"] for event in events if event["type"] == "response.output_item.done"}
    return [ended.get(index, item) for index, item in enumerate(output)]


def fails(recording: Recording) -> bool:
    return any(event.get("error") for event in events_of(recording))


@pytest.mark.parametrize("recording", ALL)
@few
@given(cuts=st.lists(st.integers(0, 1 << 20), max_size=40))
def test_any_pieces_give_the_same_message_and_usage(recording: Recording, cuts: list[int]) -> None:
    expected = whole(recording)
    assert expected.finished is not fails(recording)
    assert read_cut(recording, recording.response.body.encode(), cuts) == expected


@pytest.mark.parametrize(
    "recording", [found for found in ALL if found.values[0] is None or len(found.values[0].response.body) < 20_000]
)
def test_single_bytes_give_the_same_message(recording: Recording) -> None:
    data = recording.response.body.encode()
    assert read_cut(recording, data, list(range(len(data)))) == whole(recording)


def terminal(recording: Recording) -> int:
    """Where the event begins that ends the stream: what comes before it must not finish, however it ends."""
    data = recording.response.body.encode()
    if recording.protocol == "openai-responses":
        return data.index(b'"type":"response.completed"') if b'"type":"response.completed"' in data else len(data)
    return min(
        (place for word in (b'"finish_reason":"', b"data: [DONE]") if (place := data.find(word)) >= 0), default=0
    )


@pytest.mark.behaviour("ERR-4")
@pytest.mark.parametrize("recording", ALL)
@few
@given(place=st.integers(0, 1 << 20), cuts=st.lists(st.integers(0, 1 << 20), max_size=5))
def test_a_stream_cut_before_its_end_is_asked_for_again(recording: Recording, place: int, cuts: list[int]) -> None:
    data = recording.response.body.encode()[: terminal(recording)]
    part = read_cut(recording, data[: place % (len(data) + 1)], cuts)
    assert_asked_again(part)


@pytest.mark.parametrize("recording", RESPONSES)
def test_a_response_has_all_that_its_last_event_says(recording: Recording) -> None:
    """The finished response, which the reader takes only what it missed from, is the oracle."""
    result = whole(recording)
    parts = result.answer.parts
    response = next(event["response"] for event in events_of(recording) if event["type"] == "response.completed")
    output = response["output"]
    contents = [content for item in output if item["type"] == "message" for content in item["content"]]
    assert [part.text for part in parts if isinstance(part, TextPart)] == [content["text"] for content in contents]
    kinds = {"message": TextPart, "reasoning": ReasoningPart}
    order = [type(part) for part in parts if isinstance(part, TextPart | ReasoningPart | ToolCallPart)]
    assert order == [kinds.get(item["type"], ToolCallPart) for item in output]
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    called = [item for item in output if item["type"] not in kinds]
    assert [part.tool_call_id for part in calls] == [item.get("call_id") or item["id"] for item in called]
    assert [part.args for part in calls if not part.provider_executed] == [
        item["arguments"] for item in called if item["type"] == "function_call"
    ]
    results = [part.tool_call_id for part in parts if isinstance(part, ToolResultPart)]
    assert results == [part.tool_call_id for part in calls if part.provider_executed]
    for place, part in enumerate(parts):
        if isinstance(part, ToolResultPart):
            before = parts[place - 1]
            assert isinstance(before, ToolCallPart)
            assert before.tool_call_id == part.tool_call_id
    cited = [note["url"] for content in contents for note in content["annotations"] if note["type"] == "url_citation"]
    assert {event.url for event in result.events if isinstance(event, SourceFound)} == set(cited)
    usage = response["usage"]
    assert result.answer.usage.total_tokens == usage["total_tokens"]
    cached = usage["input_tokens_details"]["cached_tokens"]
    assert result.answer.usage.input_tokens == usage["input_tokens"] - cached


@pytest.mark.behaviour("CONTENT-6", "LOOP-10")
@pytest.mark.parametrize("recording", RESPONSES)
def test_without_store_a_response_goes_back_as_it_came(recording: Recording) -> None:
    history = (
        PromptMessage(Role.USER, (TextPart(text="first"),)),
        PromptMessage(Role.ASSISTANT, whole(recording).answer.parts, origin="p"),
    )
    request = ModelRequest(model="m", provider="p", messages=history, options='{"store":false}')
    sent = json.loads(OpenAIResponses().body(request))["input"][1:]
    output = output_of(recording)
    assert [item["type"] for item in sent] == [item["type"] for item in output]
    for item, came in zip(sent, output, strict=True):
        if item["type"] == "reasoning":
            assert item["id"] == came["id"]
            assert item.get("encrypted_content") == came.get("encrypted_content")
        elif item["type"] == "message":
            assert item.get("phase") == came.get("phase")
            assert [content["text"] for content in item["content"]] == [content["text"] for content in came["content"]]
        elif item["type"] != "function_call":
            assert item == came
    stored = json.loads(OpenAIResponses().body(ModelRequest(model="m", provider="p", messages=history)))["input"]
    assert not [item for item in stored if item["type"] == "reasoning"]
    assert not [item for item in stored if item["type"] in ("message", "function_call") and "id" in item]


@pytest.mark.parametrize("recording", CHATS)
def test_a_completion_has_all_that_its_chunks_say(recording: Recording) -> None:
    result = whole(recording)
    chunks = events_of(recording)
    deltas = [choice.get("delta") or {} for event in chunks for choice in event.get("choices") or ()]
    texts = [part.text for part in result.answer.parts if isinstance(part, TextPart)]
    thoughts = [part.text for part in result.answer.parts if isinstance(part, ReasoningPart)]
    assert "".join(texts) == "".join(delta.get("content") or "" for delta in deltas)
    assert "".join(thoughts) == "".join(
        delta.get("reasoning_content") or delta.get("reasoning") or "" for delta in deltas
    )
    pieces_of_calls = [piece for delta in deltas for piece in delta.get("tool_calls") or ()]
    calls = [part for part in result.answer.parts if isinstance(part, ToolCallPart)]
    assert [part.tool_call_id for part in calls] == [piece["id"] for piece in pieces_of_calls if piece.get("id")]
    assert "".join(part.args for part in calls) == "".join(piece["function"]["arguments"] for piece in pieces_of_calls)
    counted = [event.get("usage") or (event.get("x_groq") or {}).get("usage") for event in chunks]
    last = next((usage for usage in reversed(counted) if usage), None)
    if last is None or fails(recording):
        assert result.answer.usage == Usage()
    else:
        assert result.answer.usage.total_tokens == last["total_tokens"]
        assert result.answer.usage.output_tokens == last["completion_tokens"]


@pytest.mark.behaviour("ERR-1", "ERR-2")
@pytest.mark.parametrize("recording", [parameter for name in PROTOCOLS for parameter in errors(name)])
def test_an_error_response_keeps_its_status_and_its_words(recording: Recording) -> None:
    response = recording.response
    found = failure(status_code=response.status, body=response.body, content_type=response.content_type)
    assert found.status_code == response.status
    said = one_clean_line(json.loads(response.body)["error"]["message"])
    assert found.detail.startswith(said) or found.wording is Wording.HISTORY  # whose words name ids only
    assert found.rule != "anything_else"
    assert not read_cut(recording, recording.response.body.encode(), []).finished
