"""The Chat Completions stream, as OpenAI sends it and as compatible servers do."""

import json

import pytest

from chatd.core.model import FinishReason, Ping, ToolCallStarted, VendorError
from chatd.core.parts import ReasoningPart, SourcePart, TextPart, ToolCallPart
from chatd.core.usage import Usage
from chatd.providers.framing.sse import SseFraming
from chatd.providers.framing.wire_event import UnreadableStream, WireEvent
from chatd.providers.protocols.openai.chat import OpenAIChat
from providers.openai_streams import call_piece, chunk, read_chat, sse
from providers.reading import read

DONE = "[DONE]"


def calls_of(parts):
    return [(part.tool_name, part.args) for part in parts if isinstance(part, ToolCallPart)]


def test_deltas_become_one_text_and_done_finishes_it():
    result = read_chat(
        chunk(role="assistant", content=""), chunk(content="Hel"), chunk(content="lo"), chunk("stop"), DONE
    )

    assert result.answer.parts == (TextPart(text="Hello"),)
    assert result.answer.finish is FinishReason.STOP
    assert isinstance(result.events[0], Ping)


def test_a_good_end_of_the_bytes_after_a_finish_reason_finishes_too():
    result = read_chat(chunk(content="Hello"), chunk("stop"))

    assert result.answer.finish is FinishReason.STOP


@pytest.mark.behaviour("ERR-4")
def test_without_done_and_finish_reason_an_answer_is_not_whole():
    result = read_chat(chunk(content="Hello"))

    assert not result.finished
    assert result.answer.parts == (TextPart(text="Hello"),)


@pytest.mark.behaviour("ERR-4")
def test_done_alone_is_no_answer():
    assert not read_chat(DONE).finished
    assert not read_chat(chunk(role="assistant"), DONE).finished


def test_done_without_a_finish_reason_ends_for_another_reason():
    assert read_chat(chunk(content="a"), DONE).answer.finish is FinishReason.OTHER
    called = read_chat(chunk(tool_calls=[call_piece(index=0, id="c", name="ls", arguments="{}")]), DONE)
    assert called.answer.finish is FinishReason.TOOL_CALLS


@pytest.mark.parametrize(
    ("said", "finish", "detail"),
    [
        ("stop", FinishReason.STOP, ""),
        ("STOP", FinishReason.STOP, ""),
        ("eos_token", FinishReason.STOP, ""),
        ("tool_calls", FinishReason.STOP, ""),
        ("length", FinishReason.LENGTH, ""),
        ("content_filter", FinishReason.CONTENT_FILTER, ""),
        ("weary", FinishReason.OTHER, "weary"),
    ],
)
def test_finish_reasons_without_calls(said, finish, detail):
    answer = read_chat(chunk(content="a"), chunk(said), DONE).answer

    assert (answer.finish, answer.finish_detail) == (finish, detail)


@pytest.mark.parametrize("said", ["stop", "tool_calls", "function_call", "tool_use", "eos_token"])
def test_a_call_is_a_call_whatever_the_server_says(said):
    piece = call_piece(index=0, id="call_1", name="ls", arguments="{}")
    answer = read_chat(chunk(tool_calls=[piece]), chunk(said), DONE).answer

    assert answer.finish is FinishReason.TOOL_CALLS


def test_arguments_arrive_in_pieces():
    result = read_chat(
        chunk(tool_calls=[call_piece(index=0, id="call_1", name="ls", arguments="")]),
        chunk(tool_calls=[call_piece(index=0, arguments='{"a"')]),
        chunk(tool_calls=[call_piece(index=0, arguments=":1}")]),
        chunk("tool_calls"),
        DONE,
    )

    (call,) = result.answer.parts
    assert isinstance(call, ToolCallPart)
    assert (call.tool_call_id, call.tool_name, call.args) == ("call_1", "ls", '{"a":1}')


SHAPES = {
    "several in one chunk": [
        [
            call_piece(index=0, id="a", name="one", arguments='{"x":1}'),
            call_piece(index=1, id="b", name="two", arguments='{"y":2}'),
        ]
    ],
    "interleaved": [
        [call_piece(index=0, id="a", name="one", arguments='{"x"')],
        [call_piece(index=1, id="b", name="two", arguments='{"y"')],
        [call_piece(index=0, arguments=":1}")],
        [call_piece(index=1, arguments=":2}")],
    ],
    "an id without an index": [
        [call_piece(id="a", name="one", arguments='{"x":')],
        [call_piece(id="a", arguments="1}")],
        [call_piece(id="b", name="two", arguments='{"y":2}')],
    ],
    "an index without an id": [
        [call_piece(index=0, name="one", arguments='{"x":1}')],
        [call_piece(index=1, name="two", arguments='{"y":')],
        [call_piece(index=1, arguments="2}")],
    ],
    "neither": [
        [call_piece(name="one", arguments='{"x":')],
        [call_piece(arguments="1}")],
        [call_piece(name="two", arguments='{"y":2}')],
    ],
    "one index for all": [
        [call_piece(index=0, id="a", name="one", arguments='{"x":1}')],
        [call_piece(index=0, id="b", name="two", arguments='{"y":2}')],
    ],
    "one index for all, without ids": [
        [call_piece(index=0, name="one", arguments='{"x":1}')],
        [call_piece(index=0, name="two", arguments='{"y":2}')],
    ],
    "the name in pieces": [
        [call_piece(index=0, id="a", name="o")],
        [call_piece(index=0, name="ne")],
        [call_piece(index=0, arguments='{"x":1}')],
        [call_piece(index=1, id="b", name="two", arguments='{"y":2}')],
    ],
    "the id and name with every piece": [
        [call_piece(index=0, id="a", name="one", arguments='{"x"')],
        [call_piece(index=0, id="a", name="one", arguments=":1}")],
        [call_piece(index=1, id="b", name="two", arguments='{"y":2}')],
    ],
    "the name with every piece": [
        [call_piece(index=0, id="a", name="one", arguments='{"x"')],
        [call_piece(index=0, name="one", arguments=":1}")],
        [call_piece(index=1, id="b", name="two", arguments='{"y":2}')],
    ],
    "empty ids": [
        [call_piece(index=0, id="", name="one", arguments='{"x"')],
        [call_piece(index=0, id="", name="", arguments=":1}")],
        [call_piece(index=1, id="", name="two", arguments='{"y":2}')],
    ],
    "objects for arguments": [
        [call_piece(index=0, id="a", name="one", arguments={"x": 1})],
        [call_piece(index=1, id="b", name="two", arguments={"y": 2})],
    ],
    "the whole call once more": [
        [call_piece(index=0, id="a", name="one", arguments='{"x"')],
        [call_piece(index=0, arguments=":1}")],
        [call_piece(index=0, id="a", name="one", arguments='{"x":1}')],
        [call_piece(index=1, id="b", name="two", arguments='{"y":2}')],
        [call_piece(index=1, id="b", name="two", arguments='{"y":2}')],
    ],
    "an id after the index": [
        [call_piece(index=0, name="one")],
        [call_piece(index=0, id="a", arguments='{"x":1}')],
        [call_piece(index=1, id="b", name="two", arguments='{"y":2}')],
    ],
    "the same id twice": [
        [call_piece(index=0, id="a", name="one", arguments='{"x":1}')],
        [call_piece(index=1, id="a", name="two", arguments='{"y":2}')],
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_calls_are_put_together_in_whatever_shape_they_come(shape):
    chunks = [chunk(tool_calls=pieces) for pieces in SHAPES[shape]]
    result = read_chat(*chunks, chunk("tool_calls"), DONE)

    assert calls_of(result.answer.parts) == [("one", '{"x":1}'), ("two", '{"y":2}')]
    ids = [part.tool_call_id for part in result.answer.parts if isinstance(part, ToolCallPart)]
    assert len(set(ids)) == 2
    assert all(ids)


def test_pieces_that_repeat_one_another_are_no_repetition_of_a_call():
    pieces = [call_piece(index=0, id="a", name="one", arguments=text) for text in ('{"x":', '{"x":', "1}", "}")]
    (call,) = read_chat(*(chunk(tool_calls=[piece]) for piece in pieces), chunk("stop"), DONE).answer.parts

    assert isinstance(call, ToolCallPart)
    assert call.args == '{"x":{"x":1}}'


def test_a_call_without_an_id_gets_one_that_depends_on_its_completion_alone():
    def ids(completion):
        said = chunk(tool_calls=[call_piece(index=0, name="ls", arguments="{}")])
        return [
            event.tool_call_id
            for event in read_chat({**said, "id": completion}, DONE).events
            if isinstance(event, ToolCallStarted)
        ]

    (first,) = ids("chatcmpl-1")
    assert ids("chatcmpl-1") == [first]
    assert ids("chatcmpl-2") != [first]
    assert first.startswith("call_")
    assert len(first) <= 40


def test_a_call_without_arguments_is_one():
    result = read_chat(chunk(tool_calls=[call_piece(index=0, id="c", name="now")]), chunk("tool_calls"), DONE)

    assert calls_of(result.answer.parts) == [("now", "")]


def test_the_call_of_old_servers_is_read():
    result = read_chat(
        chunk(function_call={"name": "ls", "arguments": ""}),
        chunk(function_call={"arguments": "{}"}),
        chunk("function_call"),
        DONE,
    )

    assert calls_of(result.answer.parts) == [("ls", "{}")]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_ends_where_the_answer_begins_and_keeps_its_field(field):
    result = read_chat(
        chunk(content=None, **{field: "Hm"}),
        chunk(content=None, **{field: "m"}),
        chunk(content="4", **{field: None}),
        chunk("stop"),
        DONE,
    )

    reasoning, text = result.answer.parts
    assert isinstance(reasoning, ReasoningPart)
    assert reasoning.text == "Hmm"
    assert json.loads(reasoning.provider_metadata["openai-chat"]) == {"field": field}
    assert text == TextPart(text="4")


def test_signed_and_encrypted_reasoning_details_are_kept_whole():
    def detail(**fields):
        return {"type": "reasoning.text", "index": 0, "format": "anthropic", **fields}

    result = read_chat(
        chunk(reasoning="Hm", reasoning_details=[detail(text="Hm")]),
        chunk(reasoning="m", reasoning_details=[detail(text="m")]),
        chunk(reasoning_details=[detail(signature="signed")]),
        chunk(content="4"),
        chunk(reasoning_details=[{"type": "reasoning.encrypted", "data": "cipher", "index": 1}]),
        chunk(reasoning_details=[{"type": "reasoning.encrypted", "data": "more", "index": 1}]),
        chunk(content="2"),
        chunk("stop"),
        DONE,
    )

    first, text, second = result.answer.parts
    assert isinstance(first, ReasoningPart)
    assert isinstance(second, ReasoningPart)
    assert text == TextPart(text="42")
    assert json.loads(first.provider_metadata["openai-chat"])["details"] == [detail(text="Hmm", signature="signed")]
    encrypted = json.loads(second.provider_metadata["openai-chat"])["details"]
    assert [kept["data"] for kept in encrypted] == ["cipher", "more"]


def test_details_alone_are_reasoning_that_people_can_read():
    said = [{"type": "reasoning.summary", "summary": "Thought", "index": 0}]
    result = read_chat(chunk(reasoning_details=said), chunk(content="4"), chunk("stop"), DONE)

    assert [part.text for part in result.answer.parts if isinstance(part, ReasoningPart)] == ["Thought"]


def test_lists_of_content_are_read():
    pieces = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}, {"type": "text", "text": "4"}]
    result = read_chat(chunk(content=pieces), chunk("stop"), DONE)

    assert [type(part) for part in result.answer.parts] == [ReasoningPart, TextPart]


def test_text_around_calls_keeps_its_order():
    result = read_chat(
        chunk(content="before"),
        chunk(tool_calls=[call_piece(index=0, id="a", name="one", arguments="{")]),
        chunk(content="after"),
        chunk(tool_calls=[call_piece(index=0, arguments="}")]),
        chunk("tool_calls"),
        DONE,
    )

    before, call, after = result.answer.parts
    assert before == TextPart(text="before")
    assert isinstance(call, ToolCallPart)
    assert call.args == "{}"
    assert after == TextPart(text="after")


def test_a_refusal_is_read_by_people_and_told_apart():
    result = read_chat(chunk(refusal="I won't."), chunk("stop"), DONE)

    assert result.answer.parts == (TextPart(text="I won't."),)
    assert result.answer.finish is FinishReason.CONTENT_FILTER
    assert result.answer.finish_detail == "I won't."


def test_lists_of_sources_are_read_once_with_their_titles():
    """As Perplexity sends them with every chunk, and xAI in the end."""
    listed = {
        "citations": ["https://a", "https://b"],
        "search_results": [{"url": "https://a", "title": "A", "date": 1}],
    }
    result = read_chat({**chunk(content="a"), **listed}, {**chunk(content="b"), **listed}, chunk("stop"), DONE)
    odd = read_chat({**chunk(content="a"), "citations": [{"start": 1}], "search_results": None}, chunk("stop"), DONE)

    sources = [part for part in result.answer.parts if isinstance(part, SourcePart)]
    assert [(part.url, part.title) for part in sources] == [("https://a", "A"), ("https://b", "")]
    assert odd.answer.parts == (TextPart(text="a"),)


def test_citations_are_sources_once():
    citation = {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}
    result = read_chat(chunk(content="see", annotations=[citation, citation]), chunk("stop"), DONE)

    assert SourcePart(url="https://a.example", title="A") in result.answer.parts
    assert len(result.answer.parts) == 2


USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 80},
    "completion_tokens_details": {"reasoning_tokens": 5},
}
NORMAL = Usage(input_tokens=20, cache_read_tokens=80, output_tokens=20, reasoning_tokens=5, total_tokens=120)


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk("stop"), {"id": "1", "choices": [], "usage": USAGE}],
        [{**chunk("stop"), "usage": USAGE}],
        [
            {**chunk(content="b"), "usage": {"prompt_tokens": 100, "completion_tokens": 1}},
            {**chunk("stop"), "usage": USAGE},
        ],
        [{**chunk("stop"), "usage": None, "x_groq": {"usage": USAGE}}],
        [{"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}]}],
    ],
    ids=["after the finish", "with it", "in every chunk", "Groq", "Moonshot"],
)
def test_usage_is_found_where_servers_put_it(chunks):
    assert read_chat(chunk(content="a"), *chunks, DONE).answer.usage == NORMAL


def test_reasoning_that_is_counted_beside_the_output_is_added_to_it():
    usage = {**USAGE, "completion_tokens": 20, "total_tokens": 125}
    answer = read_chat({**chunk("stop"), "usage": usage}, DONE).answer

    assert answer.usage.output_tokens == 25


@pytest.mark.parametrize(
    "usage",
    [{**USAGE, "prompt_tokens": 1}, {**USAGE, "completion_tokens": 1}, {**USAGE, "prompt_tokens": -4}, "lots", 7, {}],
)
def test_a_missing_or_impossible_usage_is_no_reason_to_lose_an_answer(usage):
    answer = read_chat(chunk(content="a"), {**chunk("stop"), "usage": usage}, DONE).answer

    assert answer.finish is FinishReason.STOP
    assert answer.usage == Usage()


@pytest.mark.behaviour("ERR-1", "ERR-4")
@pytest.mark.parametrize(
    ("event", "failure"),
    [
        (
            {
                **chunk(content=""),
                "error": {"code": 502, "message": "Provider returned error", "metadata": {"raw": "x"}},
            },
            VendorError("Provider returned error: x", error_code="502", status_code=502),
        ),
        (
            {"error": {"message": "No tool", "type": "invalid", "code": "tool_use_failed", "status_code": 400}},
            VendorError("No tool", error_type="invalid", error_code="tool_use_failed", status_code=400),
        ),
        ({"error": "model runner stopped"}, VendorError("model runner stopped")),
        (
            {"object": "error", "message": "Out of memory", "type": "Internal", "code": 500},
            VendorError("Out of memory", error_type="Internal", error_code="500", status_code=500),
        ),
    ],
    ids=["OpenRouter", "Groq", "Ollama", "vLLM"],
)
def test_an_error_within_a_stream_is_no_end_of_it(event, failure):
    result = read_chat(chunk(content="half"), chunk("length"), event, chunk("stop"), DONE)

    assert result.failures == (failure,)
    assert not result.finished


@pytest.mark.behaviour("ERR-4")
@pytest.mark.parametrize("said", ["error", "abort", "insufficient_system_resource", "network_error"])
@pytest.mark.parametrize("ending", [[DONE], []])
def test_a_finish_reason_that_says_failure_is_one(said, ending):
    result = read_chat(chunk(content="half"), chunk(said), *ending)

    assert [failure.error_code for failure in result.failures] == [said]
    assert not result.finished


def test_comments_and_empty_choices_are_signs_of_life():
    data = b": OPENROUTER PROCESSING\n\n" + sse({"choices": []}, chunk(content="a"), chunk("stop"), DONE)
    result = read(OpenAIChat(), SseFraming(), [data])

    assert result.answer.parts == (TextPart(text="a"),)
    assert isinstance(result.events[0], Ping)


def test_only_the_first_choice_is_read():
    second = {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}
    result = read_chat(chunk(content="a"), second)

    assert not result.finished
    assert result.answer.parts == (TextPart(text="a"),)


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"null",
        b"7",
        b'{"choices":7}',
        b'{"choices":[{"delta":{"content":7}}]}',
        b'{"choices":[{"delta":{"tool_calls":[{"index":"a"}]}}]}',
        b'{"choices":[{"delta":{"content":"\xff"}}]}',
        b"[" * 100_000,
        b'{"choices":[{"delta":{"content":"' + b"a" * (20 * 1024 * 1024) + b'"}}]}',
    ],
    ids=lambda data: repr(data[:70]),
)
def test_what_no_vendor_should_send_is_unreadable(data):
    with pytest.raises(UnreadableStream):
        OpenAIChat().reader().read(WireEvent("", data))
