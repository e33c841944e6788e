"""What the scripted Gemini refuses, as the real one does."""

from contextlib import nullcontext
from typing import Any

import pytest

from chatd.testing.vendors.gemini_check import check_gemini
from chatd.testing.vendors.gemini_encode import gemini_chunks
from chatd.testing.vendors.issued import Issued
from chatd.testing.vendors.refusal import Refusal
from chatd.testing.vendors.script import Call, Say, Think, Turn

Json = dict[str, Any]
NEW, OLD = "gemini-3-pro-preview", "gemini-2.5-pro"
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
SKIP = "skip_thought_signature_validator"


def text(words: str = "hello", **fields: Any) -> Json:
    return {"text": words, **fields}


def call(name: str = "f", **fields: Any) -> Json:
    return {"functionCall": {"name": name, "args": {}}, **fields}


def response(name: str = "f", **fields: Any) -> Json:
    return {"functionResponse": {"name": name, "response": {"ok": True}, **fields}}


def user(*parts: Json) -> Json:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Json) -> Json:
    return {"role": "model", "parts": list(parts)}


def body(*contents: Json, **fields: Any) -> Json:
    return {"contents": list(contents) or [user(text())], **fields}


def declared(parameters: Json = SCHEMA, name: str = "f", **fields: Any) -> Json:
    return {"functionDeclarations": [{"name": name, "description": "", "parameters": parameters, **fields}]}


def thinking(**config: Any) -> Json:
    return {"generationConfig": {"thinkingConfig": config}}


PICTURE = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
ACCEPTED = {
    "plain": body(systemInstruction={"parts": [text()]}),
    "calls": body(user(text()), model(call(), call("g")), user(response(), response("g"))),
    "an image": body(user(PICTURE)),
    "tools": body(tools=[declared()], toolConfig={"functionCallingConfig": {"mode": "ANY"}}),
    "settings": body(generationConfig={"temperature": 2, "thinkingConfig": {"thinkingBudget": 128}}),
    "in snake case": body(tools=[{"function_declarations": [{"name": "f", "parameters_json_schema": SCHEMA}]}]),
}
REFUSED = [
    (body(extra=1), 'Unknown name "extra"'),
    (body() | {"contents": []}, "contents is not specified"),
    (body(user()), "must not be empty"),
    (body(user(text(""))), "text parameter"),
    (body(user(text("a", inlineData={}))), "oneof field 'data'"),
    (body(user({"thought": True})), "oneof field 'data'"),
    (body(user({"words": "a"})), 'Unknown name "words"'),
    (body({"role": "assistant", "parts": [text()]}), "valid role"),
    (body(user(text()), user(text())), "alternate"),
    (body(model(text()), user(text())), "begin with a user turn"),
    (body(user(text()), model(text())), "end with a user role"),
    (body(user(call())), "not allowed in a turn of the user"),
    (body(user(text()), model(call()), user(text())), "number of function response parts"),
    (body(user(text()), model(call(), call()), user(response())), "number of function response parts"),
    (body(user(response())), "number of function response parts"),
    (body(user(text()), model(call()), user(response("g"))), "names of the function calls"),
    (
        body(user(text()), model({"functionCall": {"name": "f", "args": {}, "id": "1"}}), user(response(id="2"))),
        "ids of the calls",
    ),
    (body(user(text()), model(call()), user({"functionResponse": {"name": "f", "response": "ok"}})), "be an object"),
    (body(user({"inlineData": {"mimeType": "image/gif", "data": "aGVsbG8="}})), "Unsupported MIME type"),
    (body(user({"inlineData": {"mimeType": "image/png", "data": ""}})), "base64"),
    (body(user(text()), model(text("a", thoughtSignature="made up")), user(text())), "signature is not valid"),
    (body(systemInstruction={"parts": [text("")]}), "empty text"),
    (body(systemInstruction={"parts": []}), "must not be empty"),
    (body(generationConfig={"temperature": 3}), "temperature"),
    (body(generationConfig={"max_tokens": 3}), 'Unknown name "max_tokens"'),
    (body(**thinking(thinkingBudget=1, thinkingLevel="low")), "only one of"),
    (body(**thinking(thinkingLevel="low")), "not supported for this model"),
    (body(tools=[declared(), {"googleSearch": {}}]), "unsupported by the model"),
    (body(tools=[declared(), declared()]), "Duplicate"),
    (body(tools=[declared(name="a b")]), "should match pattern"),
    (body(tools=[declared({"type": "string"})]), "should be OBJECT"),
    (body(tools=[declared({"type": "object", "properties": {"a": {"type": "object"}}})]), "non-empty for OBJECT"),
    (body(tools=[declared(SCHEMA | {"additionalProperties": False})]), 'Unknown name "additionalProperties"'),
    (body(tools=[declared(SCHEMA | {"required": ["b"]})]), "property is not defined: b"),
    (body(tools=[declared({"type": "object", "properties": {"a": {"type": "array"}}})]), "items: missing"),
    (
        body(tools=[declared({"type": "object", "properties": {"a": {"type": "integer", "enum": [1]}}})]),
        "only allowed for STR",
    ),
    (body(toolConfig={"functionCallingConfig": {"mode": "ANY"}}), "without function_declarations"),
]


@pytest.mark.parametrize("accepted", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_the_vendor_takes_is_accepted(accepted: Json):
    check_gemini(accepted, OLD, Issued())


@pytest.mark.parametrize(("refused", "why"), REFUSED)
def test_what_the_vendor_does_not_take_is_refused(refused: Json, why: str):
    with pytest.raises(Refusal, match=why):
        check_gemini(refused, OLD, Issued())


def test_a_new_model_wants_the_calls_of_this_turn_signed():
    unsigned = body(user(text()), model(call()), user(response()))
    check_gemini(unsigned, OLD, Issued())
    check_gemini(body(user(text()), model(call()), user(response()), model(text()), user(text())), NEW, Issued())
    check_gemini(body(user(text()), model(call(thoughtSignature=SKIP)), user(response())), NEW, Issued())

    with pytest.raises(Refusal, match="missing a `thought_signature`"):
        check_gemini(unsigned, NEW, Issued())


@pytest.mark.parametrize(
    ("name", "config", "taken"),
    [
        ("gemini-3.5-flash", {"thinkingLevel": "minimal"}, True),
        ("gemini-3.1-pro-preview", {"thinkingLevel": "MEDIUM"}, True),
        ("gemini-3.1-pro-preview", {"thinkingLevel": "minimal"}, False),
        ("gemini-3-pro-preview", {"thinkingLevel": "medium"}, False),
        ("gemini-2.5-pro", {"thinkingBudget": 32_768}, True),
        ("gemini-2.5-pro", {"thinkingBudget": 0}, False),
        ("gemini-2.5-pro", {"thinkingBudget": 127}, False),
        ("gemini-2.5-flash", {"thinkingBudget": 0}, True),
        ("gemini-2.5-flash", {"thinkingBudget": -1}, True),
        ("gemini-2.5-flash", {"thinkingBudget": 24_577}, False),
        ("gemini-2.5-flash-lite", {"thinkingBudget": 511}, False),
    ],
)
def test_each_model_thinks_within_its_own_bounds(name: str, config: Json, taken: bool):
    with nullcontext() if taken else pytest.raises(Refusal, match="hinking"):
        check_gemini(body(**thinking(**config)), name, Issued())


def test_functions_beside_its_own_tools_are_taken_by_new_models_that_are_told_to_tell_of_them():
    both = body(tools=[declared(), {"googleSearch": {}}])
    told = both | {"toolConfig": {"includeServerSideToolInvocations": True}}
    check_gemini(told, NEW, Issued())
    check_gemini(both, NEW, Issued(), on_vertex=True)
    with pytest.raises(Refusal, match="includeServerSideToolInvocations"):
        check_gemini(both, NEW, Issued())
    with pytest.raises(Refusal, match="Unknown name"):
        check_gemini(told, NEW, Issued(), on_vertex=True)


def answered(turn: Turn, issued: Issued) -> list[Json]:
    parts: list[Json] = []
    for frame in gemini_chunks(turn, NEW, {}, issued)[:-1]:
        assert not isinstance(frame.data, str)
        parts += frame.data["candidates"][0]["content"]["parts"]
    return parts


def test_a_signature_goes_back_on_the_part_that_it_came_with():
    issued = Issued()
    _, called = answered(Turn(Think("a"), Call("f", '{"a": 1}')), issued)
    check_gemini(body(user(text()), model(called), user(response())), NEW, issued)

    other = {**called, "functionCall": {"name": "f", "args": {"a": 2}}}
    with pytest.raises(Refusal, match="signature is not valid"):
        check_gemini(body(user(text()), model(other), user(response())), NEW, issued)
    moved = text("a", thoughtSignature=called["thoughtSignature"])
    with pytest.raises(Refusal, match="signature is not valid"):
        check_gemini(body(user(text()), model(moved, call()), user(response())), NEW, issued)


def test_a_text_is_signed_on_its_last_piece():
    issued = Issued()
    _, first, last = answered(Turn(Think("a"), Say("b", "c")), issued)

    assert "thoughtSignature" not in first
    check_gemini(body(user(text()), model({**last, "text": "bc"}), user(text())), NEW, issued)
