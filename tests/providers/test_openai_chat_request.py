"""Requests for Chat Completions: what is sent to OpenAI, and by which options to the others."""

import base64
import json

import pytest

from chatd.core.errors import InvalidRequest
from chatd.core.model import Capabilities, ModelRequest, ProviderTool, ToolChoice, ToolSpec
from chatd.core.parts import FilePart, ReasoningPart, SourcePart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.reasoning import ReasoningEffort
from chatd.providers.protocols.openai.chat import OpenAIChat
from providers.openai_streams import assistant, call_piece, chat_body, chunk, read_chat, system, tool, user

PNG = base64.b64encode(b"\x89PNG").decode()
STRICT = '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}'
CALL = ToolCallPart(tool_call_id="c", tool_name="ls", args='{"b": 1, "a": 1.0}')


def test_a_history_is_messages_with_their_roles():
    body = chat_body(
        system("Be kind."),
        user("list", "please"),
        assistant(TextPart(text="Yes."), CALL),
        tool(ToolResultPart(tool_call_id="c", tool_name="ls", result='{"output":"a"}')),
        user("thanks"),
    )

    assert body["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "list\n\nplease"},
        {
            "role": "assistant",
            "content": "Yes.",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{"b": 1, "a": 1.0}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": '{"output":"a"}'},
        {"role": "user", "content": "thanks"},
    ]
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert set(body) == {"model", "messages", "stream", "stream_options"}


def test_calls_alone_have_no_content():
    (message,) = chat_body(assistant(CALL))["messages"]

    assert message["content"] is None


@pytest.mark.behaviour("CONTENT-8")
def test_blank_texts_and_what_only_people_see_are_left_out():
    messages = chat_body(
        user(" "), user("a", "\n"), assistant(TextPart(text=" "), ReasoningPart(text="x"), SourcePart(url="https://a"))
    )["messages"]

    assert messages == [{"role": "user", "content": "a"}]


@pytest.mark.behaviour("LOOP-3")
def test_what_another_vendor_ran_itself_is_left_out():
    messages = chat_body(
        assistant(
            ToolCallPart(tool_call_id="w", tool_name="web_search", args="{}", provider_executed=True),
            ToolResultPart(tool_call_id="w", result="{}", provider_executed=True),
            TextPart(text="so"),
            origin="another",
        )
    )["messages"]

    assert messages == [{"role": "assistant", "content": "so"}]


@pytest.mark.parametrize(
    ("capabilities", "options", "role"),
    [
        (Capabilities(), "{}", "system"),
        (Capabilities(), '{"system_role":"developer"}', "developer"),
    ],
)
def test_the_system_speaks_in_the_role_that_the_model_knows(capabilities, options, role):
    body = chat_body(system("Be kind."), user("a"), capabilities=capabilities, options=options)

    assert body["messages"][0] == {"role": role, "content": "Be kind."}


def test_a_model_without_system_messages_is_told_by_the_user():
    body = chat_body(system("Be kind."), user("a"), capabilities=Capabilities(system_messages=False))

    assert body["messages"] == [{"role": "user", "content": "Be kind.\n\na"}]


def test_images_and_files_go_as_such():
    parts = (
        FilePart(media_type="image/png", name="a.png", data=PNG),
        FilePart(media_type="application/pdf", name="b.pdf", data=PNG),
    )
    (taken,) = chat_body(user("see", *parts))["messages"]

    assert taken["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "file", "file": {"filename": "b.pdf", "file_data": f"data:application/pdf;base64,{PNG}"}},
    ]


def test_what_tools_showed_follows_all_their_results():
    shot = json.dumps({"data": PNG, "mime_type": "image/png", "text": ""})
    other = ToolCallPart(tool_call_id="d", tool_name="ls", args="{}")
    messages = chat_body(
        user("a"),
        assistant(CALL, other),
        tool(ToolResultPart(tool_call_id="c", tool_name="see", result=shot, is_media=True)),
        tool(ToolResultPart(tool_call_id="d", result='{"error":"gone"}', is_error=True)),
    )["messages"]

    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert messages[3]["content"] == "gone"
    assert messages[4]["content"][1]["type"] == "image_url"


def with_reasoning(field, *, calls):
    pieces = [call_piece(index=0, id="c", name="ls", arguments="{}")]
    said = [chunk(tool_calls=pieces)] if calls else [chunk(content="4")]
    return assistant(*read_chat(chunk(**{field: "Hm"}), *said, chunk("stop"), "[DONE]").answer.parts)


@pytest.mark.behaviour("CONTENT-6")
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize(
    ("replay", "calls", "sent"),
    [
        ("auto", True, True),
        ("auto", False, False),
        ("always", False, True),
        ("never", True, False),
    ],
)
def test_reasoning_goes_back_in_the_field_that_it_came_in(field, replay, calls, sent):
    options = json.dumps({"replay_reasoning": replay})
    (message,) = chat_body(with_reasoning(field, calls=calls), options=options)["messages"]

    assert message.get(field) == ("Hm" if sent else None)


@pytest.mark.behaviour("CONTENT-6")
def test_signed_reasoning_goes_back_as_it_came():
    detail = {"type": "reasoning.text", "text": "Hm", "signature": "signed", "index": 0}
    parts = read_chat(chunk(reasoning="Hm", reasoning_details=[detail]), chunk(content="4"), chunk("stop")).answer.parts
    (own,) = chat_body(assistant(*parts))["messages"]
    (other,) = chat_body(assistant(*parts, origin="another"))["messages"]
    (calling,) = chat_body(assistant(*parts, CALL))["messages"]
    nobody = ModelRequest(model="m", messages=(assistant(*parts, origin=""),))

    assert json.loads(OpenAIChat().body(nobody))["messages"] == [{"role": "assistant", "content": "4"}]
    assert calling["reasoning_details"] == [detail]
    assert "reasoning" not in calling
    assert own == {"role": "assistant", "content": "4", "reasoning_details": [detail]}
    assert other == {"role": "assistant", "content": "4"}


def test_tools_and_how_to_choose_them():
    tools = (ToolSpec("one", "1", STRICT), ToolSpec("two", "2", "{}"))
    body = chat_body(user("a"), tools=tools, tool_choice=ToolChoice.NONE, parallel_tool_calls=True)
    strict = chat_body(user("a"), tools=tools, options='{"strict_tools":true}')

    assert body["tools"][0] == {
        "type": "function",
        "function": {"name": "one", "description": "1", "parameters": json.loads(STRICT)},
    }
    assert body["tools"][1]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert (body["tool_choice"], body["parallel_tool_calls"]) == ("none", True)
    assert [tool["function"].get("strict") for tool in strict["tools"]] == [True, None]
    assert "tools" not in chat_body(user("a"), tools=tools, capabilities=Capabilities(tools=False))


def test_tools_of_the_vendor():
    tools = (
        ProviderTool("web_search", '{"search_context_size":"low"}'),
        ProviderTool("openrouter:web_search", '{"parameters":{"max_uses":1}}'),
    )
    body = chat_body(user("a"), provider_tools=tools)

    assert body["web_search_options"] == {"search_context_size": "low"}
    assert body["tools"] == [{"type": "openrouter:web_search", "parameters": {"max_uses": 1}}]


def test_settings_are_sent_if_they_are_set():
    body = chat_body(
        user("a"),
        max_output_tokens=7,
        temperature=0.5,
        top_p=0.9,
        top_k=3,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        reasoning_effort=ReasoningEffort.LOW,
        options='{"extra_body":{"thinking":{"type":"enabled"},"stream":false,"temperature":1}}',
    )
    old = chat_body(user("a"), max_output_tokens=7, options='{"max_tokens_field":"max_tokens","include_usage":false}')

    assert body["max_completion_tokens"] == 7
    assert (body["top_p"], body["top_k"]) == (0.9, 3)
    assert (body["presence_penalty"], body["frequency_penalty"]) == (0.1, 0.2)
    assert body["reasoning_effort"] == "low"
    assert body["thinking"] == {"type": "enabled"}
    assert body["stream"] is True
    assert body["temperature"] == 1
    assert old["max_tokens"] == 7
    assert "stream_options" not in old


@pytest.mark.parametrize("options", ["{", '{"max_token_field":"max_tokens"}', '{"extra_body":7}'])
def test_options_that_cannot_be_used_say_so(options):
    with pytest.raises(InvalidRequest):
        chat_body(user("a"), options=options)


def test_texts_that_are_no_utf8_are_sent_readable():
    messages = chat_body(
        user("a\ud800"), assistant(ToolCallPart(tool_call_id="c", tool_name="ls", args='{"a":"\udcff"}'))
    )

    assert messages["messages"][0]["content"] == "a?"
    assert messages["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"a":"?"}'
