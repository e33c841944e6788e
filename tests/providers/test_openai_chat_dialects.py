"""Servers that are compatible with Chat Completions and yet refuse what others demand."""

import json
import re
from typing import Any

import msgspec
import pytest

from chatd.core.model import Capabilities
from chatd.core.parts import FilePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.providers.protocols.openai.chat import OpenAIChat
from chatd.testing.vendors.script import Call, Say, Think, Turn
from providers.openai_streams import asked, assistant, chunk, read_chat, system, tool, user
from providers.round_trip_chat import CHAT, CLAUDE, Chat, play

DEEPSEEK = msgspec.structs.replace(CHAT, model="deepseek-v4-pro")
MISTRAL = msgspec.structs.replace(CHAT, model="mistral-large-latest")
GEMINI = msgspec.structs.replace(CHAT, model="gemini-3-pro-preview")
O3 = msgspec.structs.replace(CHAT, model="o3")
CALL = ToolCallPart(tool_call_id="call_0123456789", tool_name="ls", args="{}")
RESULT = ToolResultPart(tool_call_id="call_0123456789", tool_name="ls", result="{}")
PNG = "iVBORw0KGgo="


def body_for(model: str, *messages: Any, **fields: Any) -> dict[str, Any]:
    return json.loads(OpenAIChat().body(msgspec.structs.replace(asked(*messages, **fields), model=model)))


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ("gpt-5.5", "max_completion_tokens"),
        ("o4-mini", "max_completion_tokens"),
        ("openai/gpt-5", "max_completion_tokens"),
        ("ft:o4-mini:mine", "max_completion_tokens"),
        ("chatgpt-4o-latest", "max_completion_tokens"),
        ("gpt-oss-20b", "max_tokens"),
        ("openai/gpt-oss-120b", "max_tokens"),
        ("llama3.2", "max_tokens"),
        ("olmo-2", "max_tokens"),
        ("mistral-large-latest", "max_tokens"),
        ("deepseek-v4-pro", "max_tokens"),
        ("Qwen/Qwen3-8B", "max_tokens"),
    ],
)
def test_the_limit_is_called_what_the_server_calls_it(model: str, field: str):
    body = body_for(model, user("a"), max_output_tokens=7)

    assert {name: value for name, value in body.items() if name.startswith("max_")} == {field: 7}
    said = body_for(model, user("a"), max_output_tokens=7, options='{"max_tokens_field":"max_tokens"}')
    assert (said["max_tokens"], "max_completion_tokens" in said) == (7, False)


@pytest.mark.parametrize(
    ("model", "field"), [("ours", "max_completion_tokens"), ("mistral-large", "max_tokens"), ("kimi-k3", "max_tokens")]
)
def test_a_host_says_what_the_limit_is_called_where_the_name_says_nothing(model: str, field: str):
    request = msgspec.structs.replace(asked(user("a"), max_output_tokens=7), model=model)

    assert json.loads(OpenAIChat("max_completion_tokens").body(request))[field] == 7


def test_a_deployment_that_takes_no_temperature_is_asked_as_openai_is():
    capabilities = Capabilities(temperature=False)

    assert body_for("ours", user("a"), max_output_tokens=7, capabilities=capabilities)["max_completion_tokens"] == 7
    assert body_for("kimi-k3", user("a"), max_output_tokens=7, capabilities=capabilities)["max_tokens"] == 7


@pytest.mark.parametrize(
    ("model", "counts"),
    [
        ("mistral-large-latest", False),
        ("labs-devstral-small-2512", False),
        ("open-mistral-nemo", False),
        ("codestral-2508", False),
        ("mistral:7b", True),
        ("mistralai/Mistral-7B-Instruct-v0.3", True),
        ("mistralai/mistral-large", True),
        ("gpt-5", True),
    ],
)
def test_usage_is_asked_for_where_that_is_no_offence(model: str, counts: bool):
    assert ("stream_options" in body_for(model, user("a"))) is counts
    assert "stream_options" in body_for(model, user("a"), options='{"include_usage":true}')
    assert "stream_options" not in body_for(model, user("a"), options='{"include_usage":false}')


@pytest.mark.behaviour("CONTENT-6")
@pytest.mark.parametrize("vendor", [DEEPSEEK, MISTRAL, GEMINI, O3], ids=lambda vendor: vendor.model)
async def test_a_chat_that_began_elsewhere_goes_on_with_each_of_them(vendor):
    """Calls of Claude, then of the vendor itself, an interrupted turn, an image of a tool, and a plain answer."""
    shot = json.dumps({"data": PNG, "mime_type": "image/png", "text": ""})
    script = [
        Turn(Think("Let me ", "look."), Call("read_file", '{"path":"a"}')),
        Turn(Think("Now ", "I."), Say("I look."), Call("read_file", '{"path":"b"}'), Call("now")),
        Turn(Say("Done.")),
        Turn(Call("now")),
        Turn(Say("Bye.")),
    ]
    if vendor is GEMINI:  # it takes no calls of others, since it has not signed them
        del script[0]

    async def scene(chat: Chat) -> None:
        if vendor is not GEMINI:
            answer = await chat.ask(CLAUDE, "hello")
            chat.said(Role.TOOL, *(_result(part, '{"ok":true}') for part in answer.parts if is_call(part)))
        answer = await chat.ask(vendor, "go on")
        await chat.run(vendor, answer, shot, is_media=True)
        answer = await chat.ask(vendor, "and now?")
        chat.said(Role.TOOL, *(_result(part, '{"ok":true}') for part in answer.parts if is_call(part)))
        await chat.ask(vendor, "never mind")

    await play(script, scene)


def is_call(part: Any) -> bool:
    return isinstance(part, ToolCallPart)


def _result(call: Any, result: str) -> ToolResultPart:
    return ToolResultPart(tool_call_id=call.tool_call_id, tool_name=call.tool_name, result=result)


def test_mistral_gets_ids_of_nine_letters_that_stay_the_same():
    first, second = (
        body_for("devstral-small", user("a"), assistant(CALL), tool(RESULT))["messages"],
        body_for("devstral-small", user("a"), assistant(CALL), tool(RESULT), user("b"))["messages"],
    )
    id = first[1]["tool_calls"][0]["id"]

    assert re.fullmatch("[a-zA-Z0-9]{9}", id)
    assert first[2]["tool_call_id"] == id
    assert second[:3] == first
    own = msgspec.structs.replace(CALL, tool_call_id="AbC123xyZ")
    assert body_for("devstral-small", assistant(own))["messages"][0]["tool_calls"][0]["id"] == "AbC123xyZ"


def test_mistral_hears_the_assistant_between_a_tool_and_anyone_else():
    calls = (system("s"), user("a"), assistant(CALL), tool(RESULT))
    messages = body_for("mistral-large-latest", *calls, user("b"), assistant(TextPart(text="c")), system("d"))[
        "messages"
    ]

    roles = [message["role"] for message in messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "assistant", "user"]
    assert (messages[5]["content"], messages[7]["content"]) == ("b", "d")


@pytest.mark.behaviour("CONTENT-6")
def test_reasoning_is_always_there_for_those_who_demand_it():
    thought = read_chat(chunk(reasoning="Hm"), chunk(content="4"), chunk("stop")).answer.parts
    other = assistant(ReasoningPart(text="of another"), TextPart(text="5"), origin="another")

    def replayed(model: str, **fields: Any) -> list[Any]:
        messages = body_for(model, user("a"), assistant(*thought), assistant(CALL), other, **fields)["messages"]
        return [message.get("reasoning_content") for message in messages[1:]]

    assert replayed("deepseek/deepseek-v4-pro") == ["Hm", "", ""]
    assert replayed("kimi-k3") == ["Hm", "", ""]
    assert replayed("deepseek-r1-distill-llama-70b") == [None, None, None]
    assert replayed("deepseek-v4-pro", options='{"replay_reasoning":"never"}') == [None, None, None]


@pytest.mark.behaviour("CONTENT-6")
def test_what_google_puts_beside_a_call_goes_back_with_it():
    signed = {"google": {"thought_signature": "signed"}}
    piece = {"id": "c", "function": {"name": "ls", "arguments": "{}"}, "extra_content": signed}
    parts = read_chat(chunk(tool_calls=[piece]), chunk("stop"), "[DONE]").answer.parts

    (own,) = body_for("gemini-3-pro", assistant(*parts))["messages"]
    (other,) = body_for("gemini-3-pro", assistant(*parts, origin="another"))["messages"]
    assert own["tool_calls"][0]["extra_content"] == signed
    assert "extra_content" not in other["tool_calls"][0]


def test_what_a_user_says_in_one_go_is_one_message():
    image = FilePart(media_type="image/png", name="a.png", data=PNG)
    messages = body_for("gemma", user("a"), assistant(TextPart(text=" ")), user("b", image), user("c"))["messages"]

    (message,) = messages
    assert [piece["type"] for piece in message["content"]] == ["text", "text", "image_url", "text"]
    assert body_for("gemma", user("a"), user("b"))["messages"] == [{"role": "user", "content": "a\n\nb"}]


def test_a_file_of_text_is_told_since_chat_takes_pdf_files_only():
    part = FilePart(media_type="text/plain", name="a.txt", data="d29yZHM=")
    (message,) = body_for("gpt-5", user(part), capabilities=Capabilities(text_files=True))["messages"]

    assert message["content"] == "File a.txt:\nwords"
