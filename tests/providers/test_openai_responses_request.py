"""Requests for the Responses API: what is sent, and that the API would take a history back."""

import base64
import json
from typing import Any

import pytest

from chatd.core.errors import InvalidRequest
from chatd.core.model import Capabilities, ModelRequest, ProviderTool, ToolChoice, ToolSpec
from chatd.core.parts import (
    FilePart,
    ReasoningPart,
    SourcePart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatd.core.reasoning import ReasoningEffort
from chatd.providers.protocols.openai.responses import OpenAIResponses
from providers.openai_streams import assistant, completed, read_responses, responses_body, system, tool, user

UNSTORED = '{"store":false}'
STRICT = '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}'
LOOSE = '{"type":"object","properties":{"a":{"type":"string"}},"required":[]}'
PNG = base64.b64encode(b"\x89PNG").decode()


def done(index: int, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def said(id: str, text: str) -> dict[str, Any]:
    return {"type": "message", "id": id, "content": [{"type": "output_text", "text": text, "annotations": []}]}


def call(id: str, call_id: str) -> dict[str, Any]:
    return {"type": "function_call", "id": id, "call_id": call_id, "name": "ls", "arguments": "{}"}


def reasoning(id: str, cipher: str | None = "cipher") -> dict[str, Any]:
    return {"type": "reasoning", "id": id, "summary": [], "encrypted_content": cipher}


def search(id: str) -> dict[str, Any]:
    return {"type": "web_search_call", "id": id, "status": "completed", "action": {"type": "search", "query": "q"}}


def image(id: str) -> dict[str, Any]:
    return {"type": "image_generation_call", "id": id, "status": "completed", "result": PNG}


def consent(id: str) -> dict[str, Any]:
    return {"type": "mcp_approval_request", "id": id, "server_label": "s", "name": "n", "arguments": "{}"}


def answered(*output: dict[str, Any]):
    """The assistant's message that this output is read into."""
    read = read_responses(*(done(index, **item) for index, item in enumerate(output)), completed(*output))
    return assistant(*read.answer.parts)


def refused(items: list[dict[str, Any]], output: tuple[dict[str, Any], ...]) -> str | None:
    """Why the API would refuse these items after it has written this output; as the real one does."""
    led_by: dict[str, str] = {}
    follows: dict[str, str] = {}
    newest = ""
    for before, item in zip((None, *output), output, strict=False):
        if newest and item["type"] != "reasoning":
            led_by[item["id"]] = newest
        if before is not None and before["type"] == "reasoning":
            follows[before["id"]] = item["id"]
        if item["type"] == "reasoning":
            newest = item["id"]
    ids = [item.get("id") for item in items]
    for place, item in enumerate(items):
        id = item.get("id")
        if item["type"] == "reasoning":
            after = items[place + 1].get("id") if place + 1 < len(items) else None
            if after is None or after != follows.get(item["id"]):
                return f"Item '{id}' of type 'reasoning' was provided without its required following item."
            if "summary" not in item:
                return "missing summary"
        elif id in led_by and led_by[id] not in ids[:place]:
            return f"Item '{id}' of type '{item['type']}' was provided without its required 'reasoning' item."
    calls = {item["call_id"] for item in items if item["type"] in ("function_call", "computer_call")}
    results = [item["call_id"] for item in items if item["type"].endswith("_output")]
    return None if sorted(calls) == sorted(results) else "calls and results differ"


OUTPUTS = {
    "an answer": (reasoning("rs_1"), said("msg_1", "4")),
    "two calls": (reasoning("rs_1"), call("fc_1", "c1"), call("fc_2", "c2")),
    "a search": (reasoning("rs_1"), search("ws_1"), reasoning("rs_2"), said("msg_1", "4")),
    "a search between": (search("ws_1"), reasoning("rs_1"), search("ws_2"), said("msg_1", "4"), call("fc_1", "c1")),
    "reasoning at the end": (reasoning("rs_1"), said("msg_1", "4"), reasoning("rs_2")),
    "reasoning twice": (reasoning("rs_1"), reasoning("rs_2"), said("msg_1", "4")),
    "no ciphertext": (reasoning("rs_1", None), search("ws_1"), call("fc_1", "c1")),
    "an image": (reasoning("rs_1"), image("ig_1"), said("msg_1", "4")),
    "a question for consent": (reasoning("rs_1"), consent("mcpr_1"), call("fc_1", "c1")),
    "a blank text": (reasoning("rs_1"), said("msg_1", "  "), call("fc_1", "c1")),
}


@pytest.mark.behaviour("LOOP-10", "LOOP-3")
@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_turn_after_a_reasoning_turn_is_taken(name: str, store: bool):
    output = OUTPUTS[name]
    results = [ToolResultPart(tool_call_id=item["call_id"]) for item in output if "call_id" in item]
    body = responses_body(
        user("first"),
        answered(*output),
        *([tool(*results)] if results else []),
        user("second"),
        options=json.dumps({"store": store}),
        capabilities=Capabilities(reasoning=True),
    )

    assert refused(body["input"], output) is None
    assert body["store"] is store
    if store:
        assert not [item for item in body["input"] if item["type"] == "reasoning"]
        assert "include" not in body
    else:
        assert body["include"] == ["reasoning.encrypted_content"]


@pytest.mark.behaviour("CONTENT-6")
def test_without_store_reasoning_goes_back_encrypted_with_all_that_it_led_to():
    output = (reasoning("rs_1"), search("ws_1"), said("msg_1", "4"), call("fc_1", "c1"))
    items = responses_body(user("a"), answered(*output), options=UNSTORED)["input"]

    assert items[1] == {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "cipher"}
    assert items[2] == search("ws_1")
    assert items[3]["id"] == "msg_1"
    assert items[4]["id"] == "fc_1"


@pytest.mark.behaviour("CONTENT-6", "LOOP-3")
@pytest.mark.parametrize("options", ["{}", UNSTORED])
def test_a_search_without_reasoning_goes_back_with_what_it_was_cited_for(options: str):
    cited = {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 1}
    words = {
        "type": "message",
        "id": "msg_1",
        "content": [{"type": "output_text", "text": "4", "annotations": [cited]}],
    }
    items = responses_body(user("a"), answered(search("ws_1"), words), options=options)["input"]

    assert items[1] == search("ws_1")
    assert items[2]["content"] == [{"type": "output_text", "text": "4", "annotations": [cited]}]


def test_encrypted_reasoning_is_asked_for_of_models_that_reason():
    """Others refuse to be asked."""
    assert "include" not in responses_body(user("a"), options=UNSTORED)
    body = responses_body(user("a"), options=UNSTORED, reasoning_effort=ReasoningEffort.LOW)
    assert body["include"] == ["reasoning.encrypted_content"]


@pytest.mark.behaviour("CONTENT-6")
def test_raw_reasoning_goes_back_as_it_was():
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm"}]}
    items = responses_body(user("a"), answered(thought, said("msg_1", "4")), options=UNSTORED)["input"]

    assert items[1] == thought


@pytest.mark.behaviour("CONTENT-6")
def test_the_phase_of_a_message_goes_back_with_it():
    items = responses_body(user("a"), answered({**said("msg_1", "4"), "phase": "commentary"}))["input"]

    assert items[1] == {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "4", "annotations": []}],
        "phase": "commentary",
    }


def test_the_contents_of_one_message_stay_one_item():
    output = {
        "type": "message",
        "id": "msg_1",
        "content": [{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "b"}],
    }
    items = responses_body(user("a"), answered(output))["input"]

    assert items[1]["content"] == [
        {"type": "output_text", "text": "a", "annotations": []},
        {"type": "refusal", "refusal": "b"},
    ]


@pytest.mark.behaviour("CONTENT-6")
@pytest.mark.parametrize("origin", ["", "another"])
def test_what_another_vendor_wrote_goes_without_its_metadata(origin: str):
    message = answered(reasoning("rs_1"), search("ws_1"), said("msg_1", "4"), call("fc_1", "c1"))
    items = responses_body(user("a"), assistant(*message.parts, origin=origin), options=UNSTORED)["input"]

    assert [item["type"] for item in items[1:]] == ["message", "function_call"]
    assert not [item for item in items if "id" in item]


@pytest.mark.behaviour("LOOP-10")
def test_an_answer_that_was_cut_short_goes_back_without_the_reasoning_before_it():
    whole = answered(reasoning("rs_1"), said("msg_1", "4"))
    cut = assistant(whole.parts[0], TextPart(text="ha"))
    items = responses_body(user("a"), cut, user("b"), options=UNSTORED)["input"]

    assert refused(items, (reasoning("rs_1"), said("msg_1", "4"))) is None
    assert [item["type"] for item in items] == ["message"] * 3


def test_metadata_that_nobody_can_read_is_as_none():
    broken = {"openai-responses": '{"id":7'}
    part = TextPart(text="a", provider_metadata=broken)
    items = responses_body(user("a"), assistant(part, ReasoningPart(text="b", provider_metadata=broken)))["input"]

    assert len(items) == 2


@pytest.mark.behaviour("CONTENT-8")
def test_blank_texts_and_what_only_people_see_are_left_out():
    items = responses_body(
        user("  ", "\n"),
        user("a", " "),
        assistant(TextPart(text=" "), ReasoningPart(text=""), SourcePart(url="https://a.example"), TextPart(text="b")),
    )["input"]

    assert [item["content"] for item in items] == [
        [{"type": "input_text", "text": "a"}],
        [{"type": "output_text", "text": "b", "annotations": []}],
    ]


def test_what_the_system_says_first_are_the_instructions():
    body = responses_body(system("Be kind."), system("Be brief."), user("a"), system("Now sing."))

    assert body["instructions"] == "Be kind.\n\nBe brief."
    assert [item["role"] for item in body["input"]] == ["user", "system"]


def test_a_model_without_system_messages_is_told_by_the_user():
    body = responses_body(system("Be kind."), user("a"), capabilities=Capabilities(system_messages=False))

    assert "instructions" not in body
    (message,) = body["input"]
    assert [piece["text"] for piece in message["content"]] == ["Be kind.", "a"]


def test_images_and_files_go_as_such_where_the_model_takes_them():
    parts = (
        FilePart(media_type="image/png", name="a.png", data=PNG),
        FilePart(media_type="application/pdf", name="b.pdf", data=PNG),
        FilePart(media_type="text/plain", name="c.txt", data=base64.b64encode(b"words").decode()),
    )
    content = responses_body(user(*parts))["input"][0]["content"]

    assert content[0] == {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}
    assert content[1] == {
        "type": "input_file",
        "filename": "b.pdf",
        "file_data": f"data:application/pdf;base64,{PNG}",
    }
    assert content[2]["type"] == "input_file"


@pytest.mark.parametrize(
    ("result", "output"),
    [
        (ToolResultPart(tool_call_id="c", result='{"b":1,"a":1.50}'), '{"b":1,"a":1.50}'),
        (ToolResultPart(tool_call_id="c", result='{"error":"no such file"}', is_error=True), "no such file"),
        (ToolResultPart(tool_call_id="c", result='"cancelled"', is_error=True), '"cancelled"'),
        (ToolResultPart(tool_call_id="c", result="null"), "{}"),
        (ToolResultPart(tool_call_id="c"), "{}"),
        (ToolResultPart(tool_call_id="c", result='{"a":"\ud800"}'), '{"a":"?"}'),
        (
            ToolResultPart(
                tool_call_id="c",
                result=json.dumps({"data": PNG, "mime_type": "image/png", "text": "a shot"}),
                is_media=True,
            ),
            [
                {"type": "input_text", "text": "a shot"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
            ],
        ),
        (
            ToolResultPart(tool_call_id="c", result='{"data":"?","mime_type":"image/png"}', is_media=True),
            "[The tool returned media that can't be read.]",
        ),
    ],
)
def test_results_of_tools(result: ToolResultPart, output: object):
    parts = (ToolCallPart(tool_call_id="c", tool_name="ls", args="{}"),)
    items = responses_body(user("a"), assistant(*parts), tool(result))["input"]

    assert items[2] == {"type": "function_call_output", "call_id": "c", "output": output}


@pytest.mark.parametrize(
    ("args", "sent"),
    [
        ('{"b": 1, "a": 1.0}', '{"b": 1, "a": 1.0}'),
        ("", "{}"),
        ('{"cut', '{"invalid_arguments":"{\\"cut"}'),
        ("[1]", '{"invalid_arguments":"[1]"}'),
    ],
)
def test_arguments_go_as_they_came_or_say_that_they_are_none(args: str, sent: str):
    items = responses_body(user("a"), assistant(ToolCallPart(tool_call_id="c", tool_name="ls", args=args)))["input"]

    assert items[1]["arguments"] == sent


def test_tools_are_strict_where_their_schema_allows_it():
    tools = (ToolSpec("one", "1", STRICT), ToolSpec("two", "2", LOOSE))
    body = responses_body(
        user("a"), tools=tools, tool_choice=ToolChoice.REQUIRED, parallel_tool_calls=False, options="{}"
    )

    assert [(item["name"], item["strict"]) for item in body["tools"]] == [("one", True), ("two", False)]
    assert body["tools"][0]["parameters"] == json.loads(STRICT)
    assert body["tool_choice"] == "required"
    assert body["parallel_tool_calls"] is False
    assert "tools" not in responses_body(user("a"), tools=tools, capabilities=Capabilities(tools=False))
    plain = responses_body(user("a"), tools=tools, options='{"strict_tools":false}')
    assert not any(item["strict"] for item in plain["tools"])


def test_tools_of_the_vendor_have_their_options():
    tools = (
        ProviderTool("web_search", '{"search_context_size":"low"}'),
        ProviderTool("code_interpreter"),
        ProviderTool("file_search", '{"vector_store_ids":["vs"]}'),
        ProviderTool("computer", '{"display_width":1024}'),
    )
    body = responses_body(user("a"), provider_tools=tools)

    assert body["tools"] == [
        {"type": "web_search", "search_context_size": "low"},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "file_search", "vector_store_ids": ["vs"]},
        {"type": "computer"},
    ]
    assert "truncation" not in body


def test_the_first_model_with_a_computer_is_told_of_its_screen():
    """It takes no other truncation."""
    screen = ProviderTool("computer", '{"display_width":1024,"display_height":768,"environment":"linux"}')
    request = ModelRequest(model="computer-use-preview-2025-03-11", messages=(user("a"),), provider_tools=(screen,))
    body = json.loads(OpenAIResponses().body(request))

    assert body["tools"] == [
        {"type": "computer_use_preview", "display_width": 1024, "display_height": 768, "environment": "linux"}
    ]
    assert body["truncation"] == "auto"


def test_the_system_alone_is_input_and_no_instructions():
    body = responses_body(system("Be kind."))

    assert "instructions" not in body
    assert body["input"] == [
        {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be kind."}]}
    ]


def test_settings_are_sent_if_they_are_set():
    options = {
        "reasoning_summary": "auto",
        "text_verbosity": "low",
        "service_tier": "flex",
        "prompt_cache_key": "k",
        "include": ["web_search_call.action.sources"],
        "extra_body": {"metadata": {"a": "b"}, "stream": False},
    }
    body = responses_body(
        user("a"),
        max_output_tokens=70,
        temperature=0.5,
        reasoning_effort=ReasoningEffort.HIGH,
        options=json.dumps(options),
    )

    assert body["reasoning"] == {"effort": "high", "summary": "auto"}
    assert body["text"] == {"verbosity": "low"}
    assert (body["service_tier"], body["prompt_cache_key"], body["max_output_tokens"]) == ("flex", "k", 70)
    assert body["include"] == ["web_search_call.action.sources"]
    assert body["metadata"] == {"a": "b"}
    assert body["stream"] is True
    assert body["temperature"] == 0.5
    assert set(responses_body(user("a"))) == {"model", "stream", "store", "input"}
    assert responses_body(user("a"), max_output_tokens=7)["max_output_tokens"] == 16
    cold = responses_body(user("a"), temperature=0.5, capabilities=Capabilities(temperature=False))
    assert "temperature" not in cold


@pytest.mark.parametrize("options", ["{", "[]", '{"stroe":true}', '{"text_verbosity":"loud"}'])
def test_options_that_cannot_be_used_say_so(options: str):
    with pytest.raises(InvalidRequest):
        responses_body(user("a"), options=options)


def test_a_computer_call_goes_back_with_its_screenshot():
    checks = [{"id": "s1", "code": "malicious", "message": "Careful"}]
    item = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "c1",
        "action": {"type": "screenshot"},
        "pending_safety_checks": checks,
        "status": "completed",
    }
    output = (reasoning("rs_1"), item)
    shot = json.dumps({"data": PNG, "mime_type": "image/png", "text": ""})
    result = tool(ToolResultPart(tool_call_id="c1", result=shot, is_media=True))

    kept = responses_body(user("a"), answered(*output), result, options=UNSTORED)["input"]
    assert kept[2] == item
    assert kept[3] == {
        "type": "computer_call_output",
        "call_id": "c1",
        "output": {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"},
        "acknowledged_safety_checks": checks,
    }
    assert refused(kept, output) is None
    blind = tool(ToolResultPart(tool_call_id="c1", result='{"error":"no screen"}', is_error=True))
    unseen = responses_body(user("a"), answered(*output), blind, options=UNSTORED)["input"]
    assert refused(unseen, output) is None
    assert [item["type"] for item in unseen] == ["message"] * 3
    told = responses_body(user("a"), answered(*output), result)["input"]
    assert refused(told, output) is None
    assert [piece["type"] for piece in told[2]["content"]] == ["input_text", "input_image"]
