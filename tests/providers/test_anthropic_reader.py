"""What Anthropic's stream becomes: every kind of block, of end and of failure."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.core.accumulate import Answer
from chatd.core.model import Finished, FinishReason, Ping, ToolCallStarted, VendorError
from chatd.core.parts import ReasoningPart, SourcePart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.usage import Usage
from chatd.providers.framing.event_stream import EventStreamFraming
from chatd.providers.framing.sse import SseFraming
from chatd.providers.framing.wire_event import WireEvent
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from providers.anthropic_streams import (
    ANTHROPIC,
    PING,
    STOP,
    Event,
    answer_of,
    block,
    encode,
    end,
    read_events,
    start,
    text,
)
from providers.event_stream_bytes import chunk, message
from providers.reading import READ_AT, pieces, read


def test_text_is_one_part_with_usage_and_a_reason() -> None:
    result = read_events(start({"input_tokens": 9, "output_tokens": 1}), *text(0, "Hel", "", "lo"), *end())
    assert result.answer == Answer((TextPart(text="Hello"),), Usage(input_tokens=9, output_tokens=7), FinishReason.STOP)


def test_text_that_a_block_begins_with_is_not_lost() -> None:
    assert answer_of(*block(0, {"type": "text", "text": "A"}, {"type": "text_delta", "text": "B"})).parts == (
        TextPart(text="AB"),
    )


@pytest.mark.behaviour("CONTENT-6")
def test_thinking_keeps_its_signature() -> None:
    thinking = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Let me"},
        {"type": "thinking_delta", "thinking": " see."},
        {"type": "signature_delta", "signature": "sig/"},
        {"type": "signature_delta", "signature": "na+ture"},
    )
    assert answer_of(*thinking).parts == (
        ReasoningPart(
            text="Let me see.",
            created_at=READ_AT,
            completed_at=READ_AT,
            provider_metadata={ANTHROPIC: '{"type":"thinking","signature":"sig/na+ture"}'},
        ),
    )


def test_thinking_whose_text_is_omitted_is_kept_for_its_signature() -> None:
    thinking = block(0, {"type": "thinking", "thinking": ""}, {"type": "signature_delta", "signature": "s"})
    (part,) = answer_of(*thinking).parts
    assert isinstance(part, ReasoningPart)
    assert (part.text, part.provider_metadata) == ("", {ANTHROPIC: '{"type":"thinking","signature":"s"}'})


@pytest.mark.behaviour("CONTENT-6")
def test_redacted_thinking_is_kept_for_its_data() -> None:
    (part,) = answer_of(*block(0, {"type": "redacted_thinking", "data": "En+crypted=="})).parts
    assert isinstance(part, ReasoningPart)
    assert part.provider_metadata == {ANTHROPIC: '{"type":"redacted_thinking","data":"En+crypted=="}'}


def test_a_tool_call_has_its_arguments_as_they_came() -> None:
    call = block(
        0,
        {"type": "tool_use", "id": "toolu_1", "name": "execute", "input": {}},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "input_json_delta", "partial_json": '{"b": 1e400, '},
        {"type": "input_json_delta", "partial_json": '"a" : 2}'},
    )
    result = read_events(start(), *call, *end("tool_use"))
    assert result.answer.finish is FinishReason.TOOL_CALLS
    assert result.answer.parts == (
        ToolCallPart(tool_call_id="toolu_1", tool_name="execute", args='{"b": 1e400, "a" : 2}', created_at=READ_AT),
    )


def test_arguments_that_come_at_once_are_not_lost_and_not_doubled() -> None:
    began = {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}}
    (whole,) = answer_of(*block(0, began)).parts
    (piecewise,) = answer_of(*block(0, began, {"type": "input_json_delta", "partial_json": '{"a":2}'})).parts
    assert isinstance(whole, ToolCallPart)
    assert isinstance(piecewise, ToolCallPart)
    assert (json.loads(whole.args), piecewise.args) == ({"a": 1}, '{"a":2}')


def test_a_call_without_arguments_has_none() -> None:
    (part,) = answer_of(*block(0, {"type": "tool_use", "id": "t", "name": "n", "input": {}})).parts
    assert isinstance(part, ToolCallPart)
    assert (part.args, part.provider_metadata) == ("", {})


def test_who_called_a_tool_is_kept_for_the_vendor() -> None:
    caller = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}
    (part,) = answer_of(*block(0, {"type": "tool_use", "id": "t", "name": "n", "input": {}, "caller": caller})).parts
    assert isinstance(part, ToolCallPart)
    assert json.loads(part.provider_metadata[ANTHROPIC]) == {"caller": caller}


SEARCH: Event = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
HITS: Event = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {"type": "web_search_result", "url": "https://a.example/", "title": "A", "encrypted_content": "EvMX"},
        {"type": "web_search_result", "url": "https://b.example/", "title": None, "page_age": "2 days"},
    ],
}


@pytest.mark.behaviour("CONTENT-6", "LOOP-3")
def test_the_vendors_own_call_and_result_stand_together_with_their_blocks() -> None:
    answer = answer_of(
        *block(0, SEARCH, {"type": "input_json_delta", "partial_json": '{"query": "x"}'}), *block(1, HITS)
    )
    call, result, *sources = answer.parts
    assert isinstance(call, ToolCallPart)
    assert (call.tool_call_id, call.args, call.provider_executed) == ("srvtoolu_1", '{"query": "x"}', True)
    assert json.loads(call.provider_metadata[ANTHROPIC]) == SEARCH | {"input": {"query": "x"}}
    assert isinstance(result, ToolResultPart)
    assert (result.tool_call_id, result.tool_name, result.is_error) == ("srvtoolu_1", "web_search", False)
    assert result.provider_executed
    assert json.loads(result.provider_metadata[ANTHROPIC]) == HITS
    assert sources == [SourcePart(url="https://a.example/", title="A"), SourcePart(url="https://b.example/")]


def test_people_see_what_a_search_found_without_what_is_encrypted() -> None:
    (result, *_) = answer_of(*block(0, HITS)).parts
    assert isinstance(result, ToolResultPart)
    assert json.loads(result.result) == [
        {"url": "https://a.example/", "title": "A"},
        {"url": "https://b.example/", "page_age": "2 days"},
    ]


def test_a_search_that_failed_is_an_error() -> None:
    failed = HITS | {"content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}}
    (result,) = answer_of(*block(0, failed)).parts
    assert isinstance(result, ToolResultPart)
    assert result.is_error
    assert json.loads(result.result) == failed["content"]


@pytest.mark.parametrize(
    "kind", ["bash_code_execution_tool_result", "web_fetch_tool_result", "advisor_tool_result", "future_tool_result"]
)
def test_any_result_of_the_vendors_is_kept_whole(kind: str) -> None:
    came = {"type": kind, "tool_use_id": "srv", "content": {"type": "anything", "stdout": "hi"}, "extra": [1]}
    (result,) = answer_of(*block(0, came)).parts
    assert isinstance(result, ToolResultPart)
    assert result.tool_name == kind.removesuffix("_tool_result")
    assert json.loads(result.result) == came["content"]
    assert json.loads(result.provider_metadata[ANTHROPIC]) == came


def test_a_call_to_a_remote_mcp_server_and_its_error() -> None:
    used = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "ask", "server_name": "wiki", "input": {}}
    came = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": True, "content": []}
    call, result = answer_of(*block(0, used, {"type": "input_json_delta", "partial_json": "{}"}), *block(1, came)).parts
    assert isinstance(call, ToolCallPart)
    assert json.loads(call.provider_metadata[ANTHROPIC]) == used
    assert isinstance(result, ToolResultPart)
    assert (result.tool_name, result.is_error) == ("ask", True)


def test_arguments_of_the_vendors_call_that_are_not_json_go_back_as_an_empty_object() -> None:
    (call,) = answer_of(*block(0, SEARCH, {"type": "input_json_delta", "partial_json": '{"query'})).parts
    assert isinstance(call, ToolCallPart)
    assert call.args == '{"query'
    assert json.loads(call.provider_metadata[ANTHROPIC]) == SEARCH


@pytest.mark.behaviour("CONTENT-6")
def test_citations_are_kept_with_their_text_and_web_pages_are_sources_once() -> None:
    web = {"type": "web_search_result_location", "url": "https://a.example/", "title": "A", "encrypted_index": "E"}
    page = {"type": "page_location", "cited_text": "x", "document_index": 0, "start_page_number": 1}
    cited = block(
        0,
        {"type": "text", "text": "", "citations": []},
        {"type": "citations_delta", "citation": web},
        {"type": "text_delta", "text": "So it is."},
        {"type": "citations_delta", "citation": page},
        {"type": "citations_delta", "citation": web},
    )
    source, said = answer_of(*cited).parts
    assert source == SourcePart(url="https://a.example/", title="A")
    assert isinstance(said, TextPart)
    assert said.text == "So it is."
    assert json.loads(said.provider_metadata[ANTHROPIC]) == {"citations": [web, page, web]}


@pytest.mark.parametrize(
    ("reason", "finish", "detail"),
    [
        ("end_turn", FinishReason.STOP, ""),
        ("stop_sequence", FinishReason.STOP, ""),
        ("tool_use", FinishReason.TOOL_CALLS, ""),
        ("max_tokens", FinishReason.LENGTH, ""),
        ("model_context_window_exceeded", FinishReason.LENGTH, ""),
        ("pause_turn", FinishReason.PAUSE, ""),
        ("refusal", FinishReason.CONTENT_FILTER, ""),
        ("something_new", FinishReason.OTHER, "something_new"),
    ],
)
def test_every_reason_to_stop_has_its_name(reason: str, finish: FinishReason, detail: str) -> None:
    answer = read_events(start(), *text(0, "x"), *end(reason)).answer
    assert (answer.finish, answer.finish_detail) == (finish, detail)


def test_a_refusal_says_why() -> None:
    details: Event = {"type": "refusal", "category": "cyber", "explanation": "It looks like malware."}
    assert read_events(start(), *end("refusal", stop_details=details)).answer.finish_detail == "It looks like malware."
    details["explanation"] = None
    assert read_events(start(), *end("refusal", stop_details=details)).answer.finish_detail == "cyber"


def test_usage_is_cumulative_and_what_the_end_says_wins() -> None:
    first = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 30,
        "output_tokens": 1,
        "service_tier": "standard",
    }
    last = {"input_tokens": 15, "output_tokens": 50, "output_tokens_details": {"thinking_tokens": 40}}
    result = read_events(start(first), *text(0, "x"), *end(usage=last))
    assert result.usages[0] == Usage(input_tokens=10, cache_creation_tokens=20, cache_read_tokens=30, output_tokens=1)
    assert result.answer.usage == Usage(
        input_tokens=15, cache_creation_tokens=20, cache_read_tokens=30, output_tokens=50, reasoning_tokens=40
    )


def test_impossible_counts_make_the_usage_unknown_and_not_the_answer_lost() -> None:
    result = read_events(start(), *text(0, "x"), *end(usage={"output_tokens": -1}))
    assert result.finished
    assert result.answer.usage == Usage()


def test_a_ping_is_told() -> None:
    assert Ping() in read_events(start(), PING, *text(0, "x"), PING, *end()).events


def test_unknown_events_blocks_and_deltas_are_skipped() -> None:
    answer = answer_of(
        {"type": "weather_report", "delta": "sunny", "index": "none"},
        *block(0, {"type": "hologram", "data": {"x": 1}}, {"type": "hologram_delta", "light": 1}),
        *block(1, {"type": "container_upload", "file_id": "f"}, {"type": "text_delta", "text": "not ours"}),
        *block(2, {"type": "text", "text": ""}, {"type": "text_delta", "text": "x"}, {"type": "sparkle_delta"}),
        {"no_type": True, "error": "text"},
        {"type": "odd", "error": [1]},
    )
    assert answer.parts == (TextPart(text="x"),)


@pytest.mark.behaviour("ERR-4")
@settings(deadline=None)
@given(st.lists(st.integers(0), max_size=8), st.floats(0, 0.999))
def test_a_stream_cut_anywhere_before_its_end_never_finishes(cuts: list[int], share: float) -> None:
    whole = encode([start(), *text(0, "Hello", " there"), *block(1, SEARCH), *block(2, HITS), *end()])
    last = whole.index(b"event: message_stop")
    upto = last + len(b'event: message_stop\ndata: {"type": "message_stop"}\n')
    part = whole[: int(upto * share)]
    result = read(AnthropicMessages(), SseFraming(), pieces(part, cuts))
    assert not result.finished
    assert result.answer.finish is None


@pytest.mark.behaviour("ERR-4")
def test_a_stream_without_message_stop_has_not_finished_though_it_has_a_reason() -> None:
    assert not read_events(start(), *text(0, "x"), *end()[:-1]).finished


def test_a_block_that_was_left_open_ends_with_the_message() -> None:
    result = read_events(start(), *text(0, "x")[:-1], *end())
    assert result.answer.parts == (TextPart(text="x"),)
    assert isinstance(result.events[-1], Finished)


def test_what_comes_after_the_end_means_nothing() -> None:
    data = encode([start(), *text(0, "x"), *end(), *text(1, "y"), STOP]) + b"data: [DONE]\n\n"
    result = read(AnthropicMessages(), SseFraming(), [data])
    assert result.answer.parts == (TextPart(text="x"),)
    assert sum(isinstance(event, Finished) for event in result.events) == 1


@pytest.mark.behaviour("ERR-4")
def test_an_error_in_the_stream_is_told_and_nothing_finishes_after_it() -> None:
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r"}
    result = read_events(start(), *text(0, "x"), failed, *end())
    assert result.failures == (VendorError("Overloaded", error_type="overloaded_error"),)
    assert not result.finished


def test_an_error_of_a_gateway_without_a_type_is_told() -> None:
    result = read_events(start(), {"type": "", "error": {"message": "upstream is gone"}}, *end())
    assert result.failures == (VendorError("upstream is gone"),)
    assert not result.finished


def test_bedrocks_stream_is_read_as_any_other() -> None:
    events = [start(), *text(0, "Hello"), *end()]
    data = b"".join(chunk(json.dumps(event).encode()) for event in events)
    assert read(AnthropicMessages(), EventStreamFraming(), [data]).answer == read_events(*events).answer


@pytest.mark.parametrize(
    ("name", "payload", "told"),
    [
        ("throttlingException", b'{"message":"Slow"}', VendorError("Slow", error_type="throttlingException")),
        (
            "modelStreamErrorException",
            b'{"originalStatusCode":529,"originalMessage":"Overloaded"}',
            VendorError("Overloaded", error_type="modelStreamErrorException", status_code=529),
        ),
        ("internalServerException", b"?", VendorError("internalServerException", error_type="internalServerException")),
    ],
)
def test_bedrocks_exceptions_are_failures(name: str, payload: bytes, told: VendorError) -> None:
    data = chunk(json.dumps(start()).encode()) + message(
        {":message-type": "exception", ":exception-type": name}, payload
    )
    result = read(AnthropicMessages(), EventStreamFraming(), [data, chunk(b'{"type":"message_stop"}')])
    assert result.failures == (told,)
    assert not result.finished


def test_a_call_is_told_as_soon_as_it_begins() -> None:
    reader = AnthropicMessages().reader()
    began = block(0, {"type": "tool_use", "id": "t", "name": "n", "input": {}})[0]
    assert reader.read(WireEvent("", json.dumps(began).encode())) == [ToolCallStarted(0, "t", "n")]
