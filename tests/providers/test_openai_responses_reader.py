"""The Responses stream: items become parts, only a terminal event finishes, and failures are failures."""

import json

import pytest

from chatd.core.model import Finished, FinishReason, Ping, SourceFound, ToolCallStarted, VendorError
from chatd.core.parts import ReasoningPart, SourcePart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.usage import Usage
from chatd.providers.framing.wire_event import UnreadableStream, WireEvent
from chatd.providers.protocols.openai.responses import OpenAIResponses
from providers.openai_streams import completed, read_responses

PROTOCOL = "openai-responses"


def added(index, **item):
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index, **item):
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def text_delta(index, text, content_index=0):
    return {
        "type": "response.output_text.delta",
        "output_index": index,
        "content_index": content_index,
        "delta": text,
    }


def message(id, text, **fields):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": id, "type": "message", "role": "assistant", "content": content, **fields}


def metadata(part):
    return json.loads(part.provider_metadata[PROTOCOL])


def test_all_deltas_of_a_message_become_one_text_with_its_id_and_phase():
    read = read_responses(
        {"type": "response.created", "response": {"status": "in_progress"}},
        added(0, id="msg_1", type="message", content=[], phase="commentary"),
        text_delta(0, "Hel"),
        text_delta(0, "lo"),
        done(0, **message("msg_1", "Hello", phase="commentary")),
        completed(message("msg_1", "Hello")),
    )

    (part,) = read.answer.parts
    assert isinstance(part, TextPart)
    assert part.text == "Hello"
    assert metadata(part) == {"id": "msg_1", "phase": "commentary"}
    assert read.answer.finish is FinishReason.STOP
    assert isinstance(read.events[0], Ping)


def test_reasoning_keeps_its_ciphertext_and_what_follows_names_it():
    read = read_responses(
        added(0, id="rs_1", type="reasoning", summary=[], encrypted_content="early"),
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "First"},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 1, "delta": "Second"},
        done(0, id="rs_1", type="reasoning", summary=[], encrypted_content="whole"),
        added(1, id="fc_1", type="function_call", call_id="call_1", name="ls", arguments=""),
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"a"'},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": ":1}"},
        done(1, id="fc_1", type="function_call", call_id="call_1", name="ls", arguments='{"a":1}'),
        completed(),
    )

    reasoning, call = read.answer.parts
    assert isinstance(reasoning, ReasoningPart)
    assert reasoning.text == "First\n\nSecond"
    assert metadata(reasoning) == {"id": "rs_1", "encrypted_content": "whole"}
    assert isinstance(call, ToolCallPart)
    assert (call.tool_call_id, call.tool_name, call.args) == ("call_1", "ls", '{"a":1}')
    assert metadata(call) == {"id": "fc_1", "reasoning": "rs_1", "directly": True}
    assert read.answer.finish is FinishReason.TOOL_CALLS


def test_reasoning_stays_before_its_answer_though_it_is_closed_later():
    read = read_responses(
        added(0, id="rs_1", type="reasoning"),
        {"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "Hm"},
        added(1, id="msg_1", type="message"),
        text_delta(1, "4"),
        done(1, **message("msg_1", "4")),
        done(0, id="rs_1", type="reasoning", content=[{"type": "reasoning_text", "text": "Hm"}]),
        completed(),
    )

    assert [type(part) for part in read.answer.parts] == [ReasoningPart, TextPart]
    assert metadata(read.answer.parts[0]) == {"id": "rs_1", "raw_reasoning": True}


@pytest.mark.behaviour("LOOP-3")
def test_a_search_of_the_vendor_is_a_call_and_right_after_it_its_result():
    item = {
        "id": "ws_1",
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "search", "query": "weather"},
    }
    read = read_responses(
        added(0, id="ws_1", type="web_search_call", status="in_progress"),
        {"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws_1"},
        done(0, **item),
        added(1, id="fc_1", type="function_call", call_id="call_1", name="ls", arguments=""),
        done(1, id="fc_1", type="function_call", call_id="call_1", name="ls", arguments="{}"),
        completed(),
    )

    call, result, local = read.answer.parts
    assert isinstance(call, ToolCallPart)
    assert isinstance(result, ToolResultPart)
    assert isinstance(local, ToolCallPart)
    assert call.provider_executed
    assert result.provider_executed
    assert not local.provider_executed
    assert (call.tool_name, call.tool_call_id) == ("web_search", "ws_1")
    assert result.tool_call_id == "ws_1"
    assert json.loads(call.args) == {"action": {"type": "search", "query": "weather"}}
    assert metadata(call) == {"id": "ws_1", "item": item}
    assert local.args == "{}"


@pytest.mark.parametrize(
    ("item", "name", "args", "result", "is_error"),
    [
        (
            {"type": "code_interpreter_call", "code": "1+1", "container_id": "c", "outputs": None, "status": "failed"},
            "code_interpreter",
            {"code": "1+1", "container_id": "c"},
            {"status": "failed"},
            True,
        ),
        (
            {"type": "file_search_call", "queries": ["a"], "results": [{"text": "b"}], "status": "completed"},
            "file_search",
            {"queries": ["a"]},
            {"results": [{"text": "b"}], "status": "completed"},
            False,
        ),
        (
            {"type": "mcp_call", "name": "ask", "server_label": "wiki", "arguments": '{"q":1}', "output": "so"},
            "ask",
            {"q": 1},
            {"output": "so"},
            False,
        ),
        (
            {"type": "mcp_call", "name": "ask", "server_label": "wiki", "arguments": "{cut", "error": "down"},
            "ask",
            {},
            {"error": "down"},
            True,
        ),
        (
            {"type": "mcp_list_tools", "server_label": "wiki", "tools": [{"name": "ask"}]},
            "mcp_list_tools",
            {"server_label": "wiki"},
            {"tools": [{"name": "ask"}]},
            False,
        ),
        (
            {"type": "image_generation_call", "result": "aGk=", "revised_prompt": "a cat", "status": "completed"},
            "image_generation",
            {"revised_prompt": "a cat"},
            {"result": "aGk=", "status": "completed"},
            False,
        ),
        (
            {"type": "teleport_call", "content": 7, "distance": {"km": 12}},
            "teleport",
            {},
            {"content": 7, "distance": {"km": 12}},
            False,
        ),
    ],
)
def test_what_the_vendor_ran_itself_is_shown_also_of_a_type_that_is_not_known(item, name, args, result, is_error):
    item = {"id": "x_1", **item}
    read = read_responses(added(0, id="x_1", type=item["type"]), done(0, **item), completed(item))

    call, shown = read.answer.parts
    assert isinstance(call, ToolCallPart)
    assert isinstance(shown, ToolResultPart)
    assert json.loads(call.args) == args
    assert json.loads(shown.result) == result
    assert shown.is_error is is_error
    assert shown.tool_name == name or item["type"] == "mcp_call"


def test_a_computer_call_is_ours_to_run():
    action = {"type": "click", "x": 1, "y": 2, "button": "left"}
    item = {"id": "cu_1", "type": "computer_call", "call_id": "call_1", "action": action, "status": "completed"}
    read = read_responses(done(0, **item), completed())

    (call,) = read.answer.parts
    assert isinstance(call, ToolCallPart)
    assert (call.tool_name, call.tool_call_id, call.provider_executed) == ("computer", "call_1", False)
    assert json.loads(call.args) == {"action": action}
    assert read.answer.finish is FinishReason.TOOL_CALLS


def test_citations_are_sources_once_and_metadata_of_their_text():
    citation = {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 1}
    annotations = [citation, {**citation, "start_index": 1}]
    content = [{"type": "output_text", "text": "see", "annotations": annotations}]
    read = read_responses(
        text_delta(0, "see"),
        {
            "type": "response.output_text.annotation.added",
            "output_index": 0,
            "content_index": 0,
            "annotation": citation,
        },
        done(0, id="msg_1", type="message", content=content),
        completed(),
    )

    assert [event for event in read.events if isinstance(event, SourceFound)] == [SourceFound("https://a.example", "A")]
    source, text = read.answer.parts
    assert isinstance(source, SourcePart)
    assert isinstance(text, TextPart)
    assert metadata(text)["annotations"] == annotations


def test_a_refusal_is_read_by_people_and_told_apart():
    read = read_responses(
        {"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "I won't."},
        done(0, id="msg_1", type="message", content=[{"type": "refusal", "refusal": "I won't."}]),
        completed(),
    )

    (part,) = read.answer.parts
    assert isinstance(part, TextPart)
    assert part.text == "I won't."
    assert metadata(part)["refusal"] is True
    assert read.answer.finish is FinishReason.CONTENT_FILTER
    assert read.answer.finish_detail == "I won't."


def test_an_item_that_never_ended_is_taken_from_the_finished_response():
    tools = {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "wiki", "tools": []}
    read = read_responses(
        added(0, id="mcpl_1", type="mcp_list_tools", server_label="wiki"),
        added(1, id="msg_1", type="message"),
        text_delta(1, "Hi"),
        done(1, **message("msg_1", "Hi")),
        completed(tools, message("msg_1", "Hi"), message("msg_2", "and bye")),
    )

    assert [type(part) for part in read.answer.parts] == [ToolCallPart, ToolResultPart, TextPart, TextPart]
    assert metadata(read.answer.parts[0])["item"] == tools


def test_an_id_may_come_with_the_end_of_an_item():
    item = {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}
    result = read_responses(
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": {**item, "id": "fc_1"}},
        completed(),
    )

    (call,) = result.answer.parts
    assert isinstance(call, ToolCallPart)
    assert json.loads(call.provider_metadata["openai-responses"])["id"] == "fc_1"


def test_items_that_have_other_ids_in_the_end_are_the_same_items():
    """As some servers do, which also leave every item at the first place."""

    def spoken(id, text):
        return {"type": "message", "id": id, "content": [{"type": "output_text", "text": text}]}

    events = [
        {"type": "response.output_item.done", "output_index": 0, "item": spoken(f"msg_{number}", text)}
        for number, text in enumerate(("a", "b"))
    ]
    result = read_responses(*events, completed(spoken("x", "a"), spoken("y", "b")))

    assert [part.text for part in result.answer.parts if isinstance(part, TextPart)] == ["a", "b"]


def test_usage_is_told_apart_by_what_was_cached():
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 15},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 120,
    }
    read = read_responses(text_delta(0, "a"), completed(usage=usage))

    assert read.answer.usage == Usage(
        input_tokens=5,
        cache_read_tokens=80,
        cache_creation_tokens=15,
        output_tokens=20,
        reasoning_tokens=5,
        total_tokens=120,
    )


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 2}, "output_tokens": 1},
        {"input_tokens": -1},
        {"input_tokens": 1.5},
        "many",
        [],
    ],
)
def test_an_impossible_usage_is_no_reason_to_lose_an_answer(usage):
    read = read_responses(text_delta(0, "a"), completed(usage=usage))

    assert read.answer.finish is FinishReason.STOP
    assert read.answer.usage == Usage()


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("max_output_tokens", FinishReason.LENGTH),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("steering", FinishReason.OTHER),
    ],
)
@pytest.mark.parametrize("kind", ["response.incomplete", "response.completed"])
def test_an_incomplete_response_says_why(reason, finish, kind):
    """By its event or by its status alone."""
    response = {"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []}
    read = read_responses(text_delta(0, "half"), {"type": kind, "response": response})

    assert read.answer.finish is finish
    assert read.answer.finish_detail == reason
    assert [part.text for part in read.answer.parts if isinstance(part, TextPart)] == ["half"]


@pytest.mark.behaviour("ERR-1", "ERR-4")
@pytest.mark.parametrize(
    ("event", "failure"),
    [
        (
            {
                "type": "response.failed",
                "response": {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "Slow down"}},
            },
            VendorError("Slow down", error_code="rate_limit_exceeded"),
        ),
        (
            {"type": "error", "code": "server_error", "message": "Broken", "param": None, "sequence_number": 3},
            VendorError("Broken", error_code="server_error"),
        ),
        (
            {"type": "error", "error": {"type": "overloaded", "code": "529", "message": "Busy"}},
            VendorError("Busy", error_type="overloaded", error_code="529", status_code=529),
        ),
        ({"error": {"code": 503, "message": "Gone"}}, VendorError("Gone", error_code="503", status_code=503)),
        (
            {"type": "response.completed", "response": {"status": "failed", "error": {"message": "Half"}}},
            VendorError("Half"),
        ),
        (
            {"type": "response.completed", "response": {"status": "cancelled"}},
            VendorError("The vendor reported a failure and did not say which."),
        ),
        (
            {"type": "response.failed", "response": {"status": "failed", "error": None}},
            VendorError("The vendor reported a failure and did not say which."),
        ),
    ],
)
def test_a_failure_within_a_stream_is_no_end_of_it(event, failure):
    read = read_responses(text_delta(0, "half"), event, completed())

    assert read.failures == (failure,)
    assert not read.finished


@pytest.mark.behaviour("ERR-4")
def test_a_stream_without_its_terminal_event_is_not_finished():
    read = read_responses(text_delta(0, "whole?"), done(0, **message("msg_1", "whole?")), "[DONE]")

    assert not read.finished
    assert read.answer.finish is None


def test_nothing_is_read_after_the_end():
    read = read_responses(text_delta(0, "a"), completed(), text_delta(0, "b"), completed(), "[DONE]")

    assert sum(isinstance(event, Finished) for event in read.events) == 1
    assert [part.text for part in read.answer.parts if isinstance(part, TextPart)] == ["a"]


def test_an_unknown_event_is_skipped_whatever_it_holds():
    read = read_responses(
        {"type": "response.hologram.delta", "delta": {"x": 1}, "output_index": "zero"},
        text_delta(0, "a"),
        completed(),
    )

    assert read.finished


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"null",
        b"7",
        b'{"type":"response.output_text.delta","delta":7}',
        b'{"type":"response.output_item.added","item":7}',
        b'{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":"text"}}',
        b'{"type":"response.completed","response":[]}',
        b'{"type":"response.output_text.delta","delta":"\xff"}',
        b"[" * 100_000,
        b'{"type":"response.output_text.delta","delta":"' + b"a" * (20 * 1024 * 1024) + b'"}',
    ],
    ids=lambda data: repr(data[:70]),
)
def test_what_no_vendor_should_send_is_unreadable(data):
    with pytest.raises(UnreadableStream):
        OpenAIResponses().reader().read(WireEvent("", data))


def test_deltas_that_contradict_their_item_are_unreadable():
    reader = OpenAIResponses().reader()
    item = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "ls"}
    started = reader.read(WireEvent("", json.dumps(added(0, **item)).encode()))
    assert started == [ToolCallStarted(0, "c", "ls")]

    with pytest.raises(UnreadableStream):
        reader.read(WireEvent("", json.dumps(text_delta(0, "a")).encode()))
