"""What the scripted OpenAI refuses in both of its protocols, as the real one does."""

from typing import Any

import pytest

from chatd.testing.vendors.chat_check import check_chat
from chatd.testing.vendors.chat_encode import chat_chunks
from chatd.testing.vendors.issued import Issued
from chatd.testing.vendors.refusal import Refusal, a_strict_schema
from chatd.testing.vendors.responses_check import check_responses
from chatd.testing.vendors.responses_encode import responses_events
from chatd.testing.vendors.script import Call, Say, Search, Think, Turn

Json = dict[str, Any]
PNG = "data:image/png;base64,aGVsbG8="
OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
STRICT = OPEN | {"required": ["a"], "additionalProperties": False}


def said(words: str = "hello", role: str = "user") -> Json:
    return {"role": role, "content": words}


def call(id: str = "c1", **fields: Any) -> Json:
    return {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}, **fields}


def calling(*calls: Json, **fields: Any) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **fields}


def done(id: str = "c1") -> Json:
    return {"role": "tool", "tool_call_id": id, "content": "ok"}


def chat(*messages: Json, **fields: Any) -> Json:
    return {"model": "m", "stream": True, "messages": list(messages) or [said()], **fields}


def chat_tool(parameters: Json = OPEN, name: str = "f", **fields: Any) -> Json:
    return {"type": "function", "function": {"name": name, "parameters": parameters, **fields}}


CHAT_ACCEPTED = {
    "plain": chat(),
    "calls": chat(said(), calling(call(), call("c2")), done("c2"), done(), said()),
    "an image": chat({"role": "user", "content": [{"type": "image_url", "image_url": {"url": PNG}}]}),
    "strict": chat(tools=[chat_tool(STRICT, strict=True)], tool_choice="required", parallel_tool_calls=False),
    "mistral": chat(said(), calling(call("abcDEF123")), done("abcDEF123"), model="mistral-small"),
    "deepseek, not thinking": chat(said(), calling(call()), done(), model="deepseek-chat"),
    "a silent tool": chat(said(), calling(call()), done() | {"content": ""}),
}
CHAT_REFUSED = [
    (chat(stream=False), "stream"),
    (chat(top_k=5), "Unrecognized request argument supplied: top_k"),
    (chat(model=""), "model"),
    (chat(messages=[]), "empty array"),
    (chat(max_tokens=5, max_completion_tokens=5), "same time"),
    (chat(said("")), "empty string"),
    (chat(said(role="model")), "Invalid value: 'model'"),
    (chat({"role": "user", "content": [{"type": "text", "text": " "}]}), "empty string"),
    (chat({"role": "user", "content": []}), "empty array"),
    (chat({"role": "assistant", "content": None}), "got null"),
    (chat(said(), {"role": "assistant", "content": "a", "tool_calls": []}), "empty array"),
    (
        chat({"role": "user", "content": [{"type": "image_url", "image_url": {"url": PNG.replace("png", "tiff")}}]}),
        "unsupp",
    ),
    (chat(done()), "must be a response to a preceeding message"),
    (chat(said(), calling(call())), "did not have response messages: c1"),
    (chat(said(), calling(call()), said(), done()), "did not have response messages: c1"),
    (chat(said(), calling(call(), call("c2")), done()), "did not have response messages: c2"),
    (chat(said(), calling(call()), done(), done()), "must be a response"),
    (chat(said(), calling(call(), call()), done(), done()), "Duplicate"),
    (chat(said(), calling(call(id="")), done("")), "empty string"),
    (chat(said(), calling(call(function={"name": "a.b", "arguments": "{}"})), done()), "should match pattern"),
    (chat(said(), calling(call(function={"name": "f", "arguments": {}})), done()), "should be a string"),
    (chat(said(), calling(call(), reasoning_content="made up"), done()), "not what this server said"),
    (chat(tools=[chat_tool(name="a.b")]), "should match pattern"),
    (chat(tools=[chat_tool(name="a" * 65)]), "should match pattern"),
    (chat(tools=[chat_tool(), chat_tool()]), "same name"),
    (chat(tools=[chat_tool({"type": "string"})]), "object"),
    (chat(tools=[chat_tool(OPEN | {"anyOf": []})]), "anyOf"),
    (chat(tools=[chat_tool(OPEN, strict=True)]), "additionalProperties"),
    (chat(tools=[chat_tool(STRICT | {"required": []}, strict=True)]), "Missing \\['a'\\]"),
    (
        chat(tools=[chat_tool(STRICT | {"properties": {"a": {"$ref": "#", "title": "b"}}}, strict=True)]),
        "\\$ref cannot",
    ),
    (chat(tools=[chat_tool(STRICT | {"properties": {"a": {"enum": ["b"]}}}, strict=True)]), "a 'type' key"),
    (chat(tools=[chat_tool(OPEN | {"properties": {"a": {"type": "array"}}})]), "missing items"),
    (chat(tools=[chat_tool(OPEN | {"properties": {"a": {"type": "any"}}})]), "not valid under any"),
    (chat(tools=[chat_tool(OPEN | {"properties": {"a": "object"}})]), "not of type 'object', 'boolean'"),
    (chat(tools=[chat_tool(OPEN | {"properties": {"a": {"pattern": "^(?!a)$"}}})]), "not a 'regex'"),
    (chat(tools=[chat_tool(OPEN | {"required": None})]), "not of type 'array'"),
    (chat(max_tokens=5, model="gpt-5"), "Use 'max_completion_tokens' instead"),
    (chat(temperature=0.5, model="o3"), "temperature"),
    (chat(max_completion_tokens=5, model="mistral-small"), "Extra inputs are not permitted: max_completion_tokens"),
    (chat(stream_options={}, model="mistral-small"), "Extra inputs are not permitted: stream_options"),
    (chat(said(), calling(call()), done(), model="mistral-small"), "with a length of 9"),
    (
        chat(said(), calling(call("abcDEF123")), done("abcDEF123"), said(), model="mistral-small"),
        "Unexpected role 'user' after role 'tool'",
    ),
    (chat(said(), said(role="assistant"), said(role="system"), model="mistral-small"), "Unexpected role 'system'"),
    (chat(said(), said(role="assistant"), model="mistral-small"), "Expected last role User or Tool"),
    (chat(said(), calling(call()), done(), model="gemini-3-pro"), "missing a thought_signature"),
    (chat(said(), calling(call(extra_content={})), done()), "extra_content"),
    (chat(temperature=-1), "Invalid 'temperature'"),
    (chat(tool_choice="auto"), "only allowed when 'tools'"),
    (chat(parallel_tool_calls=True), "only allowed when 'tools'"),
]


@pytest.mark.parametrize("accepted", CHAT_ACCEPTED.values(), ids=CHAT_ACCEPTED.keys())
def test_what_chat_completions_takes_is_accepted(accepted: Json):
    check_chat(accepted, Issued())


@pytest.mark.parametrize(("refused", "why"), CHAT_REFUSED)
def test_what_chat_completions_does_not_take_is_refused(refused: Json, why: str):
    with pytest.raises(Refusal, match=why):
        check_chat(refused, Issued())


def test_reasoning_that_the_server_said_may_come_back():
    issued = Issued()
    chat_chunks(Turn(Think("Let me ", "look."), Call("f", "{}", id="c1")), "m", {}, issued)

    check_chat(chat(said(), calling(call(), reasoning_content="Let me look."), done()), issued)


def test_while_it_thinks_deepseek_wants_its_reasoning_back():
    issued = Issued()
    chat_chunks(Turn(Think("Hm."), Call("f", "{}", id="c1")), "deepseek-v4", {}, issued)

    check_chat(chat(said(), calling(call(), reasoning_content="Hm."), done(), model="deepseek-v4"), issued)
    check_chat(chat(said(), calling(call(), reasoning_content=""), done(), model="deepseek-v4"), issued)
    with pytest.raises(Refusal, match="must be passed back"):
        check_chat(chat(said(), calling(call()), done(), model="deepseek-v4"), issued)


def asked(*items: Json, **fields: Any) -> Json:
    return {"model": "m", "stream": True, "input": list(items) or [said()], **fields}


def function_call(call_id: str = "c1", **fields: Any) -> Json:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}", **fields}


def output(call_id: str = "c1") -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": "ok"}


def message(*contents: Json, role: str = "user", **fields: Any) -> Json:
    return {"type": "message", "role": role, "content": list(contents), **fields}


def function(parameters: Json = OPEN, **fields: Any) -> Json:
    return {"type": "function", "name": "f", "parameters": parameters, **fields}


RESPONSES_ACCEPTED = {
    "a text": asked() | {"input": "hello"},
    "calls": asked(said(), function_call(), function_call("c2"), output("c2"), output()),
    "an image": asked(message({"type": "input_image", "image_url": PNG, "detail": "auto"})),
    "an answer": asked(said(), message({"type": "output_text", "text": "a", "annotations": []}, role="assistant")),
    "tools": asked(tools=[function(STRICT, strict=True), {"type": "web_search"}], tool_choice="auto"),
    "an image of a tool": asked(
        function_call(), output() | {"output": [{"type": "input_image", "image_url": PNG, "detail": "auto"}]}
    ),
}
RESPONSES_REFUSED = [
    (asked(stream=False), "stream"),
    (asked(messages=[]), "Unknown parameter: 'messages'"),
    (asked() | {"input": []}, "Missing required parameter: 'input'"),
    (asked() | {"input": ""}, "Missing required parameter: 'input'"),
    (asked(max_output_tokens=15), "max_output_tokens"),
    (asked(message({"type": "input_text", "text": ""})), "empty string"),
    (asked(message()), "empty array"),
    (asked(message({"type": "output_text", "text": "a"})), "Invalid value: 'output_text'"),
    (asked(message({"type": "input_text", "text": "a"}, role="assistant")), "Invalid value: 'input_text'"),
    (asked(message({"type": "input_image", "image_url": "nothing"})), "valid URL"),
    (asked({"type": "thought"}), "Invalid value: 'thought'"),
    (asked(said() | {"extra": 1}), "Unknown parameter: 'input\\[0\\].extra'"),
    (asked(function_call()), "No tool output found for function call c1"),
    (asked(output()), "No tool call found for function call output with call_id c1"),
    (asked(output(), function_call()), "No tool call found"),
    (asked(function_call(id="abc"), output()), "begins with 'fc'"),
    (asked(function_call("c" * 65), output("c" * 65)), "call_id"),
    (asked(function_call(id="fc_1"), output(), function_call("c2", id="fc_1"), output("c2")), "Duplicate item found"),
    (asked({"type": "reasoning", "id": "rs_1", "summary": []}), "Item with id 'rs_1' not found"),
    (asked({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}), "could not be verified"),
    (asked({"type": "reasoning", "summary": []}), "Missing required parameter"),
    (asked(tools=[function(strict=True)]), "additionalProperties"),
    (asked(tools=[function(name="a b")]), "should match pattern"),
    (asked(tools=[{"type": "computer", "display_width": 1}]), "display_width"),
    (asked(tools=[{"type": "computer_use_preview"}]), "display_width"),
    (asked(tool_choice="auto"), "only allowed when 'tools'"),
]


@pytest.mark.parametrize("accepted", RESPONSES_ACCEPTED.values(), ids=RESPONSES_ACCEPTED.keys())
def test_what_the_responses_api_takes_is_accepted(accepted: Json):
    check_responses(accepted, Issued())


@pytest.mark.parametrize(("refused", "why"), RESPONSES_REFUSED)
def test_what_the_responses_api_does_not_take_is_refused(refused: Json, why: str):
    with pytest.raises(Refusal, match=why):
        check_responses(refused, Issued())


def answered(turn: Turn, issued: Issued, **fields: Any) -> list[Json]:
    """The items of an answer."""
    last = responses_events(turn, "m", asked(**fields), issued)[-1]
    assert not isinstance(last.data, str)
    items: list[Json] = last.data["response"]["output"]
    return items


@pytest.mark.parametrize("store", [True, False])
def test_reasoning_and_what_followed_it_go_together_or_not_at_all(store: bool):
    issued = Issued()
    items = answered(
        Turn(Think("a"), Say("I look."), Call("f", "{}", id="c1")),
        issued,
        store=store,
        include=["reasoning.encrypted_content"],
    )
    thought, words, called = items
    check_responses(asked(said(), *items, output()), issued)

    with pytest.raises(Refusal, match="was provided without its required following item"):
        check_responses(asked(said(), thought), issued)
    with pytest.raises(Refusal, match="was provided without its required following item"):
        check_responses(asked(said(), thought, called, output()), issued)
    with pytest.raises(Refusal, match="'message' was provided without its required 'reasoning' item"):
        check_responses(asked(said(), words), issued)
    with pytest.raises(Refusal, match="'function_call' was provided without its required 'reasoning' item"):
        check_responses(asked(said(), called, output()), issued)
    new = {name: value for name, value in called.items() if name != "id"}
    check_responses(asked(said(), new, output()), issued)


def test_reasoning_that_was_not_stored_needs_its_encrypted_content():
    issued = Issued()
    thought, words = answered(Turn(Think("a"), Say("b")), issued, store=False)

    with pytest.raises(Refusal, match="Items are not persisted when `store` is set to false"):
        check_responses(asked(said(), thought, words), issued)


def test_a_search_depends_on_the_reasoning_before_it():
    issued = Issued()
    thought, search, words = answered(Turn(Think("a"), Search("cats"), Say("b")), issued)
    check_responses(asked(said(), thought, search, words, said()), issued)

    with pytest.raises(Refusal, match="'web_search_call' was provided without its required 'reasoning' item"):
        check_responses(asked(said(), search, said()), issued)


@pytest.mark.parametrize(
    ("inner", "why"),
    [({"$ref": "#", "title": "b"}, "\\$ref cannot"), ({"enum": ["b"]}, "a 'type' key"), ({}, "a 'type' key")],
)
def test_a_schema_that_is_enforced_says_the_type_of_everything(inner: dict[str, Any], why: str):
    closed = {"type": "object", "additionalProperties": False, "required": ["a"]}
    for a in (inner, {"type": "array", "items": inner}, {"anyOf": [inner]}):
        with pytest.raises(Refusal, match=why):
            a_strict_schema(closed | {"properties": {"a": a}}, "at")
    with pytest.raises(Refusal, match=why):
        a_strict_schema(closed | {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": inner}}, "at")
    a_strict_schema(closed | {"properties": {"a": {"$ref": "#"}}}, "at")
