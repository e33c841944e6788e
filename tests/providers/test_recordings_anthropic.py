"""Anthropic's real streams: the same message for any pieces, and none from a part of one."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatd.core.model import FinishReason, ModelRequest, PromptMessage, TextDelta
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.providers.framing.sse import SseFraming
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from providers.cut_streams import assert_asked_again
from providers.reading import Read, pieces, read
from providers.recordings import Recording, errors, streams

PROTOCOL = "anthropic-messages"
# Streams have up to 80 kB, so that an example costs milliseconds; the recordings themselves are the variety.
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_cut(data: bytes, cuts: list[int]) -> Read:
    return read(AnthropicMessages(), SseFraming(), pieces(data, cuts))


def content_of(recording: Recording) -> list[dict[str, object]]:
    """The message as a plain reader of the JSON would put it together: an oracle."""
    blocks: list[dict[str, object]] = []
    for line in recording.response.body.splitlines():
        if not line.startswith("data: "):
            continue
        event = json.loads(line.removeprefix("data: "))
        if event["type"] == "content_block_start":
            blocks.append(event["content_block"])
        if event["type"] == "content_block_delta":
            for kind, value in event["delta"].items():
                if kind in ("text", "thinking", "signature", "partial_json"):
                    blocks[-1][kind] = str(blocks[-1].get(kind, "")) + value
    return blocks


@pytest.mark.parametrize("recording", streams(PROTOCOL))
@few
@given(cuts=st.lists(st.integers(0, 1 << 20), max_size=40))
def test_any_pieces_give_the_same_message(recording: Recording, cuts: list[int]) -> None:
    data = recording.response.body.encode()
    whole = read_cut(data, [])
    assert whole.finished
    assert read_cut(data, cuts) == whole


@pytest.mark.parametrize("recording", streams(PROTOCOL))
def test_single_bytes_give_the_same_message(recording: Recording) -> None:
    data = recording.response.body.encode()
    assert read_cut(data, list(range(len(data)))) == read_cut(data, [])


@pytest.mark.behaviour("ERR-4")
@pytest.mark.parametrize("recording", streams(PROTOCOL))
@few
@given(place=st.integers(0, 1 << 20), cuts=st.lists(st.integers(0, 1 << 20), max_size=5))
def test_a_stream_cut_before_its_end_is_asked_for_again(recording: Recording, place: int, cuts: list[int]) -> None:
    data = recording.response.body.encode().rstrip(b"\n")
    assert_asked_again(read_cut(data[: place % (len(data) + 1)], cuts))


@pytest.mark.parametrize("recording", streams(PROTOCOL))
def test_the_message_has_all_that_the_stream_said(recording: Recording) -> None:
    result = read_cut(recording.response.body.encode(), [])
    blocks = content_of(recording)
    parts = result.answer.parts
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    assert texts == [block["text"] for block in blocks if block["type"] == "text"]
    assert "".join(event.text for event in result.events if isinstance(event, TextDelta)) == "".join(texts)
    reasoning = [part for part in parts if isinstance(part, ReasoningPart)]
    thoughts = [block for block in blocks if str(block["type"]).endswith("thinking")]
    assert [part.text for part in reasoning] == [block.get("thinking", "") for block in thoughts]
    for part, block in zip(reasoning, thoughts, strict=True):
        kept = json.loads(part.provider_metadata[PROTOCOL])
        assert kept.items() <= block.items()
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    used = [block for block in blocks if str(block["type"]).endswith("tool_use")]
    assert [(part.tool_call_id, part.tool_name, part.args) for part in calls] == [
        (block["id"], block["name"], block.get("partial_json", "")) for block in used
    ]
    results = [json.loads(p.provider_metadata[PROTOCOL]) for p in parts if isinstance(p, ToolResultPart)]
    assert results == [block for block in blocks if str(block["type"]).endswith("_tool_result")]


@pytest.mark.parametrize("recording", streams(PROTOCOL))
def test_usage_and_reason_are_those_of_the_end(recording: Recording) -> None:
    (last,) = (
        json.loads(line.removeprefix("data: "))
        for line in recording.response.body.splitlines()
        if line.startswith('data: {"type":"message_delta"')
    )
    answer = read_cut(recording.response.body.encode(), []).answer
    usage = last["usage"]
    assert last["delta"]["stop_reason"] == "end_turn"
    assert answer.finish is FinishReason.STOP
    assert answer.usage.output_tokens == usage["output_tokens"]
    assert answer.usage.input_tokens == usage["input_tokens"]
    assert answer.usage.cache_read_tokens == usage["cache_read_input_tokens"]
    assert answer.usage.cache_creation_tokens == usage["cache_creation_input_tokens"]


@pytest.mark.behaviour("CONTENT-6")
@pytest.mark.parametrize("recording", streams(PROTOCOL))
def test_the_message_goes_back_to_the_vendor_as_it_came(recording: Recording) -> None:
    answer = read_cut(recording.response.body.encode(), []).answer
    history = (
        PromptMessage(Role.USER, (TextPart(text="first"),)),
        PromptMessage(Role.ASSISTANT, answer.parts, origin="p"),
        PromptMessage(Role.USER, (TextPart(text="next"),)),
    )
    request = ModelRequest(model="claude-sonnet-5", provider="p", messages=history, cache_prompt=False)
    sent = json.loads(AnthropicMessages().body(request))["messages"][1]["content"]
    came = content_of(recording)
    for block in came:
        if args := block.pop("partial_json", None):
            block["input"] = json.loads(str(args))
    wanted = [block for block in came if block["type"] != "text" or str(block["text"]).strip()]
    assert [{**block, "citations": []} for block in sent] == [{**block, "citations": []} for block in wanted]


@pytest.mark.parametrize("recording", errors(PROTOCOL))
def test_an_error_response_has_its_status_and_its_words(recording: Recording) -> None:
    said = json.loads(recording.response.body)
    assert 400 <= recording.response.status < 600
    assert said["type"] == "error"
    assert said["error"]["type"]
    assert not read_cut(recording.response.body.encode(), []).finished
