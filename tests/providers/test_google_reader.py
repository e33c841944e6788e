"""Gemini's stream, read: blocks, signatures, calls, what the vendor ran itself, counts and ends."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.core.failure import classify
from chatd.core.failure.signals import FailureSignals
from chatd.core.model import (
    BlockEnded,
    Finished,
    FinishReason,
    Ping,
    ReasoningDelta,
    ReasoningStarted,
    SourceFound,
    TextDelta,
    TextStarted,
    UsageReported,
    VendorError,
)
from chatd.core.parts import ReasoningPart, SourcePart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.usage import Usage
from chatd.providers.framing.sse import SseFraming
from chatd.providers.framing.wire_event import UnreadableStream
from chatd.providers.protocols.google.gemini import GoogleGemini
from providers.google_streams import answer_of, chunk, events_of, finish_of
from providers.reading import pieces, read

KEY = "google-gemini"


def kept(part: Any) -> dict[str, Any]:
    return json.loads(part.provider_metadata.get(KEY, "{}"))


def test_pieces_of_a_text_are_one_block_and_thoughts_another() -> None:
    events = events_of(
        chunk({"text": "hm", "thought": True}),
        chunk({"text": ", so", "thought": True}),
        chunk({"text": "Par"}),
        chunk({"text": "is."}, finish="STOP"),
    )
    assert events == [
        ReasoningStarted(0),
        ReasoningDelta(0, "hm"),
        ReasoningDelta(0, ", so"),
        BlockEnded(0),
        TextStarted(1),
        TextDelta(1, "Par"),
        TextDelta(1, "is."),
        BlockEnded(1),
        Finished(FinishReason.STOP),
    ]


@pytest.mark.behaviour("CONTENT-6")
def test_a_signature_ends_the_block_that_it_came_with() -> None:
    parts = answer_of(
        chunk({"text": "why", "thought": True, "thoughtSignature": "s1"}),
        chunk({"text": "one"}),
        chunk({"text": " two", "thoughtSignature": "s2"}, {"text": "three"}, finish="STOP"),
    ).answer.parts
    assert [part.text for part in parts if isinstance(part, TextPart | ReasoningPart)] == ["why", "one two", "three"]
    assert [kept(part) for part in parts] == [{"thoughtSignature": "s1"}, {"thoughtSignature": "s2"}, {}]


def test_a_signature_in_an_empty_text_signs_the_text_before_it() -> None:
    parts = answer_of(chunk({"text": "one"}), chunk({"text": "", "thoughtSignature": "s"}, finish="STOP")).answer.parts
    assert [kept(part) for part in parts] == [{"thoughtSignature": "s"}]


@pytest.mark.behaviour("CONTENT-6")
def test_a_signature_without_a_text_before_it_is_kept_as_a_thought_without_words() -> None:
    call, thought = answer_of(
        chunk({"functionCall": {"name": "ls"}}), chunk({"text": "", "thoughtSignature": "s"}, finish="STOP")
    ).answer.parts
    assert isinstance(call, ToolCallPart)
    assert isinstance(thought, ReasoningPart)
    assert (thought.text, kept(thought)) == ("", {"thoughtSignature": "s", "isText": True})


def test_calls_have_their_arguments_as_they_came_and_ids_of_their_answer() -> None:
    raw = (
        b'{"responseId":"R.1","candidates":[{"content":{"parts":['
        b'{"functionCall":{"name":"ls","args":{"b": 1, "a": 1e400}},"thoughtSignature":"s"},'
        b'{"functionCall":{"name":"pwd"}},{"functionCall":{"name":"cat","id":"own","args":{}}}]},"finishReason":"STOP"}]}'
    )
    answered = answer_of(raw)
    calls = [part for part in answered.answer.parts if isinstance(part, ToolCallPart)]
    assert [(call.tool_call_id, call.tool_name, call.args) for call in calls] == [
        ("call_R_1_0", "ls", '{"b": 1, "a": 1e400}'),
        ("call_R_1_1", "pwd", "{}"),
        ("own", "cat", "{}"),
    ]
    assert [kept(call) for call in calls] == [{"thoughtSignature": "s"}, {}, {"functionCallId": "own"}]
    assert answered.answer.finish is FinishReason.TOOL_CALLS
    assert answer_of(raw) == answered


def test_code_that_the_vendor_ran_is_its_call_and_result() -> None:
    call, result, text = answer_of(
        chunk({"executableCode": {"language": "PYTHON", "code": "1/0"}}),
        chunk({"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}}),
        chunk({"text": "No."}, finish="STOP"),
    ).answer.parts
    assert isinstance(call, ToolCallPart)
    assert isinstance(result, ToolResultPart)
    assert (call.tool_name, call.provider_executed) == ("code_execution", True)
    assert json.loads(call.args) == {"language": "PYTHON", "code": "1/0"}
    assert (result.tool_call_id, result.is_error, result.provider_executed) == (call.tool_call_id, True, True)
    assert kept(call) == {"executableCode": {"language": "PYTHON", "code": "1/0"}}
    assert kept(result)["codeExecutionResult"]["output"] == "ZeroDivisionError"
    assert text == TextPart(text="No.")


def test_calls_of_the_vendors_own_tools_find_their_results_by_id() -> None:
    parts = answer_of(
        chunk(
            {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "a", "args": {"q": 1}}, "thoughtSignature": "s"},
            {"toolCall": {"toolType": "URL_CONTEXT", "id": "b"}},
        ),
        chunk({"toolResponse": {"toolType": "URL_CONTEXT", "id": "b", "response": {"x": 2}}}),
        chunk({"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "a"}}),
        chunk({"text": "So."}, finish="STOP", groundingMetadata={"webSearchQueries": ["q"]}),
    ).answer.parts
    told = [
        (part.tool_call_id, part.tool_name, part.args if isinstance(part, ToolCallPart) else part.result)
        for part in parts
        if isinstance(part, ToolCallPart | ToolResultPart)
    ]
    assert told == [
        ("a", "google_search", '{"q": 1}'),
        ("b", "url_context", "{}"),
        ("b", "url_context", '{"x": 2}'),
        ("a", "google_search", "{}"),
    ]
    assert kept(parts[0]) == {
        "thoughtSignature": "s",
        "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "a", "args": {"q": 1}},
    }


def test_a_call_that_the_vendor_never_answered_gets_an_empty_result_at_the_end() -> None:
    call, text, result = answer_of(
        chunk({"executableCode": {"code": "search()"}}), chunk({"text": "Paris."}, finish="STOP")
    ).answer.parts
    assert isinstance(call, ToolCallPart)
    assert isinstance(text, TextPart)
    assert isinstance(result, ToolResultPart)
    assert (result.tool_call_id, result.result) == (call.tool_call_id, "{}")


def test_a_result_without_a_call_gets_one() -> None:
    call, result = answer_of(chunk({"codeExecutionResult": {"outcome": "OUTCOME_OK"}}, finish="STOP")).answer.parts
    assert isinstance(call, ToolCallPart)
    assert isinstance(result, ToolResultPart)
    assert (result.tool_call_id, result.is_error) == (call.tool_call_id, False)


def test_an_image_is_a_result_of_the_vendors_own() -> None:
    call, result = answer_of(
        chunk({"inlineData": {"mimeType": "image/png", "data": "cG5n"}, "thoughtSignature": "s"}, finish="STOP")
    ).answer.parts
    assert isinstance(call, ToolCallPart)
    assert isinstance(result, ToolResultPart)
    assert json.loads(result.result) == {"mime_type": "image/png", "data": "cG5n"}
    assert kept(result) == {"thoughtSignature": "s", "inlineData": True}


def test_parts_that_nobody_knows_yet_are_skipped() -> None:
    answered = answer_of(chunk({"hologram": {"x": 1}}), chunk({"fileData": {}}, {"text": "ok"}, finish="STOP"))
    assert answered.answer.parts == (TextPart(text="ok"),)


def test_a_search_is_shown_with_its_sources_each_once_and_has_nothing_to_send_back() -> None:
    grounding = {
        "webSearchQueries": ["weather"],
        "groundingChunks": [
            {"web": {"uri": "https://a.example", "title": "A"}},
            {"web": {"uri": "https://a.example", "title": "A"}},
            {"maps": {"uri": "https://m.example", "title": "M"}},
            {"retrievedContext": {"text": "no address"}},
        ],
    }
    answered = answer_of(
        chunk({"text": "It is "}, groundingMetadata={}),
        chunk({"text": "mild."}, groundingMetadata=grounding),
        chunk(finish="STOP", groundingMetadata=grounding, citationMetadata={"citationSources": [{"uri": "https://c"}]}),
    )
    call, result, text, *sources = answered.answer.parts
    assert isinstance(call, ToolCallPart)
    assert isinstance(result, ToolResultPart)
    assert (call.tool_name, call.args, call.provider_metadata) == ("google_search", '{"queries":["weather"]}', {})
    assert (result.tool_call_id, result.provider_metadata) == (call.tool_call_id, {})
    assert json.loads(result.result)["sources"][0] == {"url": "https://a.example", "title": "A"}
    assert text == TextPart(text="It is mild.")
    assert sources == [
        SourcePart(url="https://a.example", title="A"),
        SourcePart(url="https://m.example", title="M"),
        SourcePart(url="https://c"),
    ]


def test_a_source_keeps_the_title_that_it_was_first_told_with() -> None:
    places = [{"web": {"uri": "https://a.example", "title": title}} for title in ("First", "Second")]
    answered = answer_of(chunk({"text": "x"}, finish="STOP", groundingMetadata={"groundingChunks": places}))
    assert [event for event in answered.events if isinstance(event, SourceFound)] == [
        SourceFound("https://a.example", "First")
    ]


def test_pages_that_the_vendor_read_are_its_call_and_result() -> None:
    pages = {"urlMetadata": [{"retrievedUrl": "https://a", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"}]}
    call, result, _ = answer_of(chunk({"text": "x"}, finish="STOP", urlContextMetadata=pages)).answer.parts
    assert isinstance(call, ToolCallPart)
    assert isinstance(result, ToolResultPart)
    assert (call.tool_name, call.args, result.is_error) == ("url_context", '{"urls":["https://a"]}', True)


def test_grounding_that_can_not_be_read_does_not_cost_the_answer() -> None:
    answered = answer_of(
        chunk({"text": "x"}, finish="STOP", groundingMetadata={"groundingChunks": 7}, citationMetadata=[])
    )
    assert answered.answer.finish is FinishReason.STOP
    assert not any(isinstance(event, SourceFound) for event in answered.events)


def test_thoughts_and_what_tools_gave_are_counted_where_they_are_paid() -> None:
    counts = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "toolUsePromptTokenCount": 10,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7,
        "totalTokenCount": 122,
    }
    assert answer_of(chunk({"text": "x"}, finish="STOP", usage=counts)).answer.usage == Usage(
        input_tokens=70,
        cache_read_tokens=40,
        output_tokens=12,
        reasoning_tokens=7,
        total_tokens=122,
    )


def test_the_last_count_is_the_one_and_equal_counts_are_told_once() -> None:
    events = events_of(
        chunk({"text": "a"}, usage={"promptTokenCount": 169}),
        chunk({"text": "b"}, usage={"promptTokenCount": 169}),
        chunk({"text": "c"}, finish="STOP", usage={"promptTokenCount": 79, "candidatesTokenCount": 12}),
    )
    assert [event.usage for event in events if isinstance(event, UsageReported)] == [
        Usage(input_tokens=169),
        Usage(input_tokens=79, output_tokens=12),
    ]


@pytest.mark.parametrize("counts", [{"promptTokenCount": "x"}, {"promptTokenCount": 1, "cachedContentTokenCount": 2}])
def test_counts_that_nobody_can_trust_do_not_cost_the_answer(counts: dict[str, Any]) -> None:
    answered = answer_of(chunk({"text": "x"}, finish="STOP", usage=counts))
    assert (answered.answer.finish, answered.answer.usage) == (FinishReason.STOP, Usage())


@pytest.mark.parametrize(
    ("reason", "finish", "detail"),
    [
        ("STOP", FinishReason.STOP, ""),
        ("MAX_TOKENS", FinishReason.LENGTH, ""),
        ("CONTINUATION", FinishReason.LENGTH, ""),
        ("SAFETY", FinishReason.CONTENT_FILTER, "SAFETY"),
        ("RECITATION", FinishReason.CONTENT_FILTER, "RECITATION"),
        ("BLOCKLIST", FinishReason.CONTENT_FILTER, "BLOCKLIST"),
        ("PROHIBITED_CONTENT", FinishReason.CONTENT_FILTER, "PROHIBITED_CONTENT"),
        ("SPII", FinishReason.CONTENT_FILTER, "SPII"),
        ("MODEL_ARMOR", FinishReason.CONTENT_FILTER, "MODEL_ARMOR"),
        ("IMAGE_SAFETY", FinishReason.CONTENT_FILTER, "IMAGE_SAFETY"),
        ("IMAGE_PROHIBITED_CONTENT", FinishReason.CONTENT_FILTER, "IMAGE_PROHIBITED_CONTENT"),
        ("IMAGE_RECITATION", FinishReason.CONTENT_FILTER, "IMAGE_RECITATION"),
        ("TOO_MANY_TOOL_CALLS", FinishReason.OTHER, "TOO_MANY_TOOL_CALLS"),
        ("MISSING_THOUGHT_SIGNATURE", FinishReason.OTHER, "MISSING_THOUGHT_SIGNATURE"),
        ("OTHER", FinishReason.OTHER, "OTHER"),
        ("LANGUAGE", FinishReason.OTHER, "LANGUAGE"),
        ("NEW_IN_2030", FinishReason.OTHER, "NEW_IN_2030"),
    ],
)
def test_why_an_answer_ended(reason: str, finish: FinishReason, detail: str) -> None:
    assert finish_of(chunk({"text": "x"}, finish=reason)) == Finished(finish, detail)


def test_a_refusal_has_the_vendors_words() -> None:
    refused = finish_of(chunk(finish="SAFETY", finishMessage="Not this."))
    assert refused == Finished(FinishReason.CONTENT_FILTER, "Not this.")


def test_calls_that_were_cut_at_the_limit_are_not_taken_for_whole_ones() -> None:
    assert finish_of(chunk({"functionCall": {"name": "ls"}}, finish="MAX_TOKENS")).reason is FinishReason.LENGTH


def test_a_refused_prompt_is_filtered_content() -> None:
    refused = finish_of(b'{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{}}')
    assert refused == Finished(FinishReason.CONTENT_FILTER, "PROHIBITED_CONTENT")


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])
def test_a_call_that_can_not_be_read_is_a_failure_that_may_be_tried_again(reason: str) -> None:
    answered = answer_of(chunk({"text": "x"}, finish=reason, finishMessage="Malformed function call: ls("))
    (failure,) = answered.failures
    assert not answered.finished
    assert (failure.error_type, failure.text) == (reason, "Malformed function call: ls(")
    classified = classify(
        FailureSignals(text=failure.text, error_type=failure.error_type, error_code=failure.error_code),
        now=datetime(2026, 1, 2, tzinfo=UTC),
    )
    assert classified.retryable


def test_an_error_inside_of_a_stream_has_its_status_and_its_wait() -> None:
    error = {
        "code": 429,
        "message": "Quota exceeded.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED"},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"},
        ],
    }
    answered = answer_of(
        chunk({"text": "x"}), json.dumps({"error": error}).encode(), chunk({"text": "y"}, finish="STOP")
    )
    assert answered.failures == (
        VendorError("Quota exceeded.", "RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED", 429, retry_after_seconds=34.5),
    )
    assert not answered.finished


@pytest.mark.parametrize("details", [None, "x", [7], [{"retryDelay": "soon"}]])
def test_an_error_whose_details_can_not_be_read_is_still_told(details: object) -> None:
    (failure,) = events_of(json.dumps({"error": {"code": 503, "details": details}}).encode())
    assert isinstance(failure, VendorError)
    assert (failure.status_code, failure.retry_after_seconds) == (503, None)


@pytest.mark.behaviour("ERR-4")
def test_a_stream_without_a_finish_reason_is_not_finished() -> None:
    assert not answer_of(chunk({"text": "x"}), chunk({"text": "y"}, finish="FINISH_REASON_UNSPECIFIED")).finished
    assert events_of() == []


@pytest.mark.behaviour("ERR-4")
@settings(deadline=None)
@given(st.lists(st.integers(0), max_size=8), st.floats(0, 0.999))
def test_a_stream_cut_anywhere_before_its_last_chunk_ends_never_finishes(cuts: list[int], share: float) -> None:
    said = chunk({"text": "Hm.", "thought": True}), chunk({"functionCall": {"name": "ls"}, "thoughtSignature": "s"})
    whole = b"".join(b"data: " + data + b"\r\n\r\n" for data in (*said, chunk({"text": "x"}, finish="STOP")))
    upto = len(whole) - len(b"}\r\n\r\n")
    try:
        result = read(GoogleGemini(), SseFraming(), pieces(whole[: int(upto * share)], cuts))
    except UnreadableStream:
        return  # half of a chunk, which the framing gives out at the end
    assert not result.finished
    assert result.answer.finish is None


def test_counts_may_come_after_the_finish_reason() -> None:
    answered = answer_of(chunk({"text": "x"}, finish="STOP"), b'{"usageMetadata":{"promptTokenCount":3}}', b"[DONE]")
    assert (answered.answer.finish, answered.answer.usage.input_tokens) == (FinishReason.STOP, 3)


def test_a_chunk_that_says_nothing_shows_that_the_vendor_is_alive() -> None:
    assert events_of(chunk({"text": ""}), b"{}") == [Ping(), Ping()]


def test_only_the_first_candidate_is_read() -> None:
    two = {"candidates": [{"index": 1, "content": {"parts": [{"text": "b"}]}}, {"content": {"parts": [{"text": "a"}]}}]}
    answered = answer_of(json.dumps(two).encode(), chunk(finish="STOP"))
    assert answered.answer.parts == (TextPart(text="a"),)
