"""Gemini's real streams: the same message for any pieces, and none from a part of one."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatd.core.model import Capabilities, ModelRequest, PromptMessage, TextDelta
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.repair import repair
from chatd.core.roles import Role
from chatd.providers.framing.sse import SseFraming
from chatd.providers.protocols.google.gemini import GoogleGemini
from core.prompt_legality import problems
from providers.cut_streams import assert_asked_again
from providers.reading import Read, pieces, read
from providers.recordings import Recording, streams

PROTOCOL = "google-gemini"
# Streams have up to 20 kB, so that an example costs milliseconds; the recordings themselves are the variety.
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
recorded = pytest.mark.parametrize("recording", streams(PROTOCOL))


def read_cut(data: bytes, cuts: list[int]) -> Read:
    return read(GoogleGemini(), SseFraming(), pieces(data, cuts))


def chunks_of(recording: Recording) -> list[dict[str, Any]]:
    lines = recording.response.body.splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def parts_of(recording: Recording) -> list[dict[str, Any]]:
    return [part for chunk in chunks_of(recording) for part in chunk["candidates"][0]["content"].get("parts", [])]


@recorded
@few
@given(cuts=st.lists(st.integers(0, 1 << 20), max_size=40))
def test_any_pieces_give_the_same_message(recording: Recording, cuts: list[int]) -> None:
    data = recording.response.body.encode()
    whole = read_cut(data, [])
    assert whole.finished
    assert read_cut(data, cuts) == whole


@recorded
def test_single_bytes_give_the_same_message(recording: Recording) -> None:
    data = recording.response.body.encode()
    assert read_cut(data, list(range(len(data)))) == read_cut(data, [])


@pytest.mark.behaviour("ERR-4")
@recorded
@few
@given(place=st.integers(0, 1 << 20), cuts=st.lists(st.integers(0, 1 << 20), max_size=5))
def test_a_stream_cut_before_its_end_is_asked_for_again(recording: Recording, place: int, cuts: list[int]) -> None:
    """The finish reason is in the last chunk, which counts once its blank line has come."""
    data = recording.response.body.encode().rstrip(b"\r\n")
    assert_asked_again(read_cut(data[: place % (len(data) + 1)], cuts))


@recorded
def test_the_message_has_all_that_the_stream_said(recording: Recording) -> None:
    result = read_cut(recording.response.body.encode(), [])
    wire = parts_of(recording)
    parts = result.answer.parts
    said = "".join(part["text"] for part in wire if "text" in part and not part.get("thought"))
    assert "".join(part.text for part in parts if isinstance(part, TextPart)) == said
    assert "".join(event.text for event in result.events if isinstance(event, TextDelta)) == said
    thoughts = "".join(part["text"] for part in wire if part.get("thought"))
    assert "".join(part.text for part in parts if isinstance(part, ReasoningPart)) == thoughts
    calls = [part["functionCall"] for part in wire if "functionCall" in part]
    local = [part for part in parts if isinstance(part, ToolCallPart) and not part.provider_executed]
    assert [(part.tool_name, json.loads(part.args)) for part in local] == [
        (call["name"], call["args"]) for call in calls
    ]
    signatures = [part["thoughtSignature"] for part in wire if part.get("thoughtSignature")]
    stored = [
        json.loads(part.provider_metadata.get(PROTOCOL, "{}"))
        for part in parts
        if isinstance(part, TextPart | ReasoningPart | ToolCallPart | ToolResultPart)
    ]
    assert [kept["thoughtSignature"] for kept in stored if "thoughtSignature" in kept] == signatures


@recorded
def test_usage_is_that_of_the_end(recording: Recording) -> None:
    counts = chunks_of(recording)[-1]["usageMetadata"]
    usage = read_cut(recording.response.body.encode(), []).answer.usage
    assert usage.total_tokens == counts["totalTokenCount"]
    assert (usage.input_tokens or 0) + (usage.output_tokens or 0) == counts["totalTokenCount"]
    assert usage.reasoning_tokens == counts.get("thoughtsTokenCount")


@pytest.mark.behaviour("CONTENT-6")
@recorded
def test_the_message_goes_back_to_the_vendor_with_every_signature_on_its_part(recording: Recording) -> None:
    answer = read_cut(recording.response.body.encode(), []).answer
    history = (
        PromptMessage(Role.USER, (TextPart(text="first"),)),
        PromptMessage(Role.ASSISTANT, answer.parts, origin="p"),
        PromptMessage(Role.USER, (TextPart(text="next"),)),
    )
    legal = repair(history, protocol=GoogleGemini().name, provider="p", capabilities=Capabilities()).messages
    assert problems(legal, GoogleGemini().name, "p") == []
    request = ModelRequest(model="gemini-3-pro-preview", provider="p", messages=legal)
    sent = json.loads(GoogleGemini().body(request))["contents"]
    assert [content["role"] for content in sent[:2]] == ["user", "model"]
    for part in parts_of(recording):
        if signature := part.get("thoughtSignature"):
            (found,) = (one for one in sent[1]["parts"] if one.get("thoughtSignature") == signature)
            kinds = part.keys() - {"thoughtSignature"}
            assert found.keys() - {"thoughtSignature"} == kinds
            assert all(found[kind] == part[kind] for kind in kinds - {"text"})
    texts = "".join(part["text"] for part in sent[1]["parts"] if "text" in part and "thought" not in part)
    assert texts == "".join(part["text"] for part in parts_of(recording) if "text" in part and "thought" not in part)
