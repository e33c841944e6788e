"""Requests to Gemini: contents in turn, signatures on their parts, tools, thinking and settings."""

import base64
import json
from typing import Any

import msgspec
import pytest

from chatd.core.errors import InvalidRequest
from chatd.core.model import Capabilities, ModelRequest, PromptMessage, ProtocolName, ProviderTool, ToolChoice, ToolSpec
from chatd.core.parts import (
    FilePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatd.core.reasoning import ReasoningEffort
from chatd.core.repair import repair
from chatd.core.roles import Role
from chatd.providers.protocols.google.gemini import GoogleGemini
from providers.google_streams import answer_of, chunk

KEY = "google-gemini"
PNG = FilePart(media_type="image/png", name="a.png", data=base64.b64encode(b"png").decode())
LS = ToolSpec("ls", "Lists files.", '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}')
THINKS = Capabilities(reasoning=True)


def request(*messages: PromptMessage, **fields: Any) -> ModelRequest:
    return msgspec.structs.replace(ModelRequest(model="gemini-2.5-flash", provider="p", messages=messages), **fields)


def body(*messages: PromptMessage, **fields: Any) -> dict[str, Any]:
    return json.loads(GoogleGemini().body(request(*messages, **fields)))


def contents(*messages: PromptMessage, **fields: Any) -> list[dict[str, Any]]:
    return body(*messages, **fields)["contents"]


def user(*parts: Part | str) -> PromptMessage:
    return PromptMessage(Role.USER, tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts))


def model(*parts: Part, origin: str = "p") -> PromptMessage:
    return PromptMessage(Role.ASSISTANT, parts, origin)


def tool(*parts: Part) -> PromptMessage:
    return PromptMessage(Role.TOOL, parts)


def call(id: str, name: str = "ls", args: str = "{}", **kept: object) -> ToolCallPart:
    metadata = {KEY: json.dumps(kept)} if kept else {}
    return ToolCallPart(tool_call_id=id, tool_name=name, args=args, provider_metadata=metadata)


def result(id: str, said: str = '{"files":[]}', **fields: Any) -> ToolResultPart:
    return ToolResultPart(tool_call_id=id, tool_name="ls", result=said, **fields)


def test_a_plain_question() -> None:
    assert body(PromptMessage(Role.SYSTEM, (TextPart(text="Be kind."),)), user("hi")) == {
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    }


def test_instructions_are_the_users_where_a_model_takes_none() -> None:
    sent = body(
        PromptMessage(Role.SYSTEM, (TextPart(text="Be kind."),)),
        user("hi"),
        capabilities=Capabilities(system_messages=False),
    )
    assert sent == {"contents": [{"role": "user", "parts": [{"text": "Be kind."}, {"text": "hi"}]}]}


@pytest.mark.behaviour("CONTENT-8")
def test_neighbours_of_one_role_are_one_content_and_empty_texts_none() -> None:
    sent = contents(user("a"), user("b", " "), model(TextPart(text="c")), model(TextPart(text="d")), user("e"))
    assert [(one["role"], [part["text"] for part in one["parts"]]) for one in sent] == [
        ("user", ["a", "b"]),
        ("model", ["c", "d"]),
        ("user", ["e"]),
    ]


def test_a_user_speaks_first_even_if_the_history_begins_with_a_model() -> None:
    assert [one["role"] for one in contents(model(TextPart(text="hello")), user("hi"))] == ["user", "model", "user"]
    assert [one["role"] for one in contents()] == ["user"]


def test_a_user_speaks_last_even_if_the_history_ends_with_a_model() -> None:
    sent = contents(user("hi"), model(TextPart(text="hello")))
    assert sent[1:] == [
        {"role": "model", "parts": [{"text": "hello"}]},
        {"role": "user", "parts": [{"text": "Go on."}]},
    ]


@pytest.mark.behaviour("CONTENT-8")
def test_blank_instructions_and_thoughts_are_left_out() -> None:
    sent = body(
        PromptMessage(Role.SYSTEM, (TextPart(text=" \n"),)),
        user("hi"),
        model(ReasoningPart(text=" "), TextPart(text="\t"), TextPart(text="a")),
        user("b"),
    )
    assert "systemInstruction" not in sent
    assert sent["contents"][1]["parts"] == [{"text": "a"}]


def test_calls_and_results_are_in_the_same_order_with_results_before_what_the_user_says() -> None:
    sent = contents(
        user("go"),
        model(call("a", "ls", '{"b": 1, "a": 1e400}'), call("b", "pwd")),
        tool(ToolResultPart(tool_call_id="b", result='"/"')),
        tool(result("a")),
        user("quick"),
    )
    assert sent[1]["parts"] == [
        {"functionCall": {"name": "ls", "args": {"b": 1, "a": float("inf")}}},
        {"functionCall": {"name": "pwd", "args": {}}},
    ]
    assert sent[2] == {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "ls", "response": {"files": []}}},
            {"functionResponse": {"name": "pwd", "response": {"output": "/"}}},
            {"text": "quick"},
        ],
    }


def test_ids_go_back_where_the_vendor_gave_them_only() -> None:
    sent = contents(user("go"), model(call("a", functionCallId="own"), call("b")), tool(result("a"), result("b")))
    assert [part["functionCall"].get("id") for part in sent[1]["parts"]] == ["own", None]
    assert [part["functionResponse"].get("id") for part in sent[2]["parts"]] == ["own", None]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (result("a", ""), {}),
        (result("a", "null"), {}),
        (result("a", "plain words"), {"output": "plain words"}),
        (result("a", "[1,2]"), {"output": [1, 2]}),
        (result("a", '{"x":1}'), {"x": 1}),
        (result("a", '{"error":"no such file"}', is_error=True), {"error": "no such file"}),
        (result("a", '"cancelled"', is_error=True), {"error": "cancelled"}),
        (result("a", "", is_error=True), {"error": "The tool failed without a word."}),
        (result("a", "\ud800"), {"output": "?"}),
    ],
)
def test_a_result_is_an_object(given: ToolResultPart, wanted: object) -> None:
    (_, _, answer) = contents(user("go"), model(call("a")), tool(given))
    assert answer["parts"][0]["functionResponse"]["response"] == wanted


@pytest.mark.parametrize(
    ("args", "sent"), [("", {}), ("[1]", {"invalid_arguments": "[1]"}), ("{", {"invalid_arguments": "{"})]
)
def test_arguments_are_an_object(args: str, sent: object) -> None:
    assert contents(user("go"), model(call("a", args=args)))[1]["parts"][0]["functionCall"]["args"] == sent


def test_media_of_a_result_stands_inside_of_it_or_beside_it_for_older_models() -> None:
    media = result("a", json.dumps({"data": "cG5n", "mime_type": "image/png", "text": "a screen"}), is_media=True)
    inline = {"inlineData": {"mimeType": "image/png", "data": "cG5n"}}
    history = (user("go"), model(call("a")), tool(media))
    older, newer = contents(*history)[2]["parts"], contents(*history, model="gemini-3-flash")[2]["parts"]
    assert older == [{"functionResponse": {"name": "ls", "response": {"output": "a screen"}}}, inline]
    assert newer == [{"functionResponse": {"name": "ls", "response": {"output": "a screen"}, "parts": [inline]}}]
    capabilities = Capabilities(images=False)
    left = repair(history, protocol=ProtocolName.GOOGLE_GEMINI, provider="p", capabilities=capabilities).messages
    blind = contents(*left, capabilities=capabilities)[2]["parts"]
    assert "takes no images" in blind[0]["functionResponse"]["response"]["output"]


@pytest.mark.behaviour("CONTENT-6")
def test_signatures_go_back_on_the_very_part_that_they_came_with() -> None:
    signed = {KEY: '{"thoughtSignature":"s1"}'}
    history = (
        user("go"),
        model(
            ReasoningPart(text="hm", provider_metadata=signed),
            ReasoningPart(text="not signed"),
            TextPart(text="so", provider_metadata={KEY: '{"thoughtSignature":"s2"}'}),
            ReasoningPart(text="", provider_metadata={KEY: '{"thoughtSignature":"s3","isText":true}'}),
            call("a", thoughtSignature="s4"),
        ),
        tool(result("a")),
    )
    assert contents(*history)[1]["parts"] == [
        {"text": "hm", "thought": True, "thoughtSignature": "s1"},
        {"text": "so", "thoughtSignature": "s2"},
        {"text": "", "thoughtSignature": "s3"},
        {"functionCall": {"name": "ls", "args": {}}, "thoughtSignature": "s4"},
    ]
    elsewhere = contents(*history, provider="other")[1]["parts"]
    assert elsewhere == [{"text": "so"}, {"functionCall": {"name": "ls", "args": {}}}]


def test_reasoning_stays_here_if_the_configuration_says_so() -> None:
    thought = ReasoningPart(text="hm", provider_metadata={KEY: '{"thoughtSignature":"s"}'})
    sent = contents(user("go"), model(thought, TextPart(text="so")), options='{"send_reasoning":false}')
    assert sent[1]["parts"] == [{"text": "so"}]


def test_calls_that_another_vendor_made_are_marked_for_models_that_want_signatures() -> None:
    """Only the first call of each step, and only since the user last spoke."""
    history = (
        user("go"),
        model(call("a"), origin="other"),
        tool(result("a")),
        user("more"),
        model(call("b"), call("c"), origin="other"),
        tool(result("b"), result("c")),
        model(call("d", thoughtSignature="s")),
        tool(result("d")),
    )
    marks = [
        part.get("thoughtSignature")
        for content in contents(*history, model="gemini-3-pro-preview")
        for part in content["parts"]
        if "functionCall" in part
    ]
    assert marks == [None, "skip_thought_signature_validator", None, "s"]
    assert "skip_thought" not in json.dumps(body(*history))


@pytest.mark.behaviour("CONTENT-6")
def test_what_the_vendor_ran_itself_goes_back_as_it_came() -> None:
    search = {"toolType": "GOOGLE_SEARCH_WEB", "id": "t", "args": {"queries": ["x"]}}
    wire: list[dict[str, Any]] = [
        {"toolCall": search, "thoughtSignature": "s1"},
        {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "t"}, "thoughtSignature": "s2"},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"inlineData": {"mimeType": "image/png", "data": "cG5n"}, "thoughtSignature": "s3"},
        {"text": "So."},
    ]
    answer = answer_of(chunk(*wire, finish="STOP", groundingMetadata={"webSearchQueries": ["x"]})).answer
    history = (user("go"), PromptMessage(Role.ASSISTANT, answer.parts, "p"), user("and"))
    assert contents(*history)[1]["parts"] == wire
    assert contents(*history, provider="other")[1]["parts"] == [{"text": "So."}]


def test_a_search_that_was_only_told_of_is_not_sent_back() -> None:
    answer = answer_of(chunk({"text": "So."}, finish="STOP", groundingMetadata={"webSearchQueries": ["x"]})).answer
    assert contents(user("go"), PromptMessage(Role.ASSISTANT, answer.parts, "p"))[1]["parts"] == [{"text": "So."}]


def test_files_are_sent_as_they_are() -> None:
    typed = msgspec.structs.replace(PNG, media_type="Image/PNG; q=1")
    assert contents(user(PNG, typed))[0]["parts"] == [{"inlineData": {"mimeType": "image/png", "data": PNG.data}}] * 2


def test_tools_are_declared_with_a_schema_that_the_vendor_takes() -> None:
    sent = body(user("go"), tools=(LS, ToolSpec("now", "Tells the time.", '{"type":"object"}')))
    assert sent["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "ls",
                    "description": "Lists files.",
                    "parameters": {
                        "type": "OBJECT",
                        "properties": {"path": {"type": "STRING"}},
                        "required": ["path"],
                    },
                },
                {"name": "now", "description": "Tells the time."},
            ]
        }
    ]
    assert "toolConfig" not in sent


def test_a_whole_schema_is_sent_if_the_configuration_says_so() -> None:
    (declared,) = body(user("go"), tools=(LS,), options='{"tool_schemas":"json"}')["tools"][0]["functionDeclarations"]
    assert declared["parametersJsonSchema"] == json.loads(LS.input_schema)


@pytest.mark.parametrize(("choice", "mode"), [(ToolChoice.NONE, "NONE"), (ToolChoice.REQUIRED, "ANY")])
def test_calls_can_be_forbidden_and_forced(choice: ToolChoice, mode: str) -> None:
    assert body(user("go"), tools=(LS,), tool_choice=choice)["toolConfig"] == {"functionCallingConfig": {"mode": mode}}


def test_tools_of_the_vendors_own_are_named_as_it_names_them() -> None:
    own = (
        ProviderTool("web_search", '{"timeRangeFilter":{}}'),
        ProviderTool("code_execution"),
        ProviderTool("url_context"),
        ProviderTool("enterpriseWebSearch"),
    )
    assert body(user("go"), provider_tools=own)["tools"] == [
        {"googleSearch": {"timeRangeFilter": {}}},
        {"codeExecution": {}},
        {"urlContext": {}},
        {"enterpriseWebSearch": {}},
    ]
    assert body(user("go"), options='{"web_search_enabled":true}')["tools"] == [{"googleSearch": {}}]


def test_older_models_get_functions_only_and_newer_ones_both() -> None:
    both = {"tools": (LS,), "provider_tools": (ProviderTool("google_search"),)}
    assert [list(one) for one in body(user("go"), **both)["tools"]] == [["functionDeclarations"]]
    newer = body(user("go"), model="gemini-3-pro-preview", **both)
    assert [list(one) for one in newer["tools"]] == [["googleSearch"], ["functionDeclarations"]]
    assert newer["toolConfig"] == {"includeServerSideToolInvocations": True}
    off = body(user("go"), model="gemini-3-pro", options='{"include_server_side_tool_invocations":false}', **both)
    assert "toolConfig" not in off


def test_vertex_is_not_told_to_tell_of_its_own_tools_unless_someone_insists() -> None:
    both = request(user("go"), model="gemini-3-pro", tools=(LS,), provider_tools=(ProviderTool("google_search"),))
    sent = json.loads(GoogleGemini(on_vertex=True).body(both))
    assert len(sent["tools"]) == 2
    assert "toolConfig" not in sent
    insisted = msgspec.structs.replace(both, options='{"include_server_side_tool_invocations":true}')
    assert "toolConfig" in json.loads(GoogleGemini(on_vertex=True).body(insisted))


def test_a_model_without_tools_gets_none() -> None:
    sent = body(
        user("go"), tools=(LS,), provider_tools=(ProviderTool("google_search"),), capabilities=Capabilities(tools=False)
    )
    assert "tools" not in sent


def test_settings_are_written_where_they_are_given() -> None:
    options = {
        "safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        "stop_sequences": ["END"],
        "seed": 7,
        "cached_content": "cachedContents/1",
        "anthropic_only": True,
        "extra_body": {"serviceTier": "flex"},
    }
    sent = body(
        user("go"),
        max_output_tokens=100,
        temperature=0.5,
        top_p=0.9,
        top_k=3,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        options=json.dumps(options),
    )
    assert sent["generationConfig"] == {
        "maxOutputTokens": 100,
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 3,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "stopSequences": ["END"],
        "seed": 7,
    }
    assert sent["safetySettings"] == [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]
    assert (sent["cachedContent"], sent["serviceTier"]) == ("cachedContents/1", "flex")
    assert "generationConfig" not in body(user("go"), temperature=0.5, capabilities=Capabilities(temperature=False))


@pytest.mark.parametrize(
    ("name", "effort", "wanted"),
    [
        ("gemini-2.5-flash", None, {"includeThoughts": True}),
        ("gemini-2.5-flash", ReasoningEffort.NONE, {"includeThoughts": False, "thinkingBudget": 0}),
        ("gemini-2.5-flash", ReasoningEffort.LOW, {"includeThoughts": True, "thinkingBudget": 1024}),
        ("gemini-2.5-flash", ReasoningEffort.MAX, {"includeThoughts": True, "thinkingBudget": 24_576}),
        ("gemini-2.5-pro", ReasoningEffort.NONE, {"includeThoughts": False, "thinkingBudget": 128}),
        ("gemini-2.5-pro", ReasoningEffort.MAX, {"includeThoughts": True, "thinkingBudget": 32_768}),
        ("gemini-3-flash-preview", ReasoningEffort.MINIMAL, {"includeThoughts": True, "thinkingLevel": "minimal"}),
        ("gemini-3-flash-preview", ReasoningEffort.MEDIUM, {"includeThoughts": True, "thinkingLevel": "medium"}),
        ("gemini-3-pro-preview", ReasoningEffort.MINIMAL, {"includeThoughts": True, "thinkingLevel": "low"}),
        ("gemini-3-pro-preview", ReasoningEffort.MEDIUM, {"includeThoughts": True, "thinkingLevel": "high"}),
        ("gemini-3.1-pro-preview", ReasoningEffort.MEDIUM, {"includeThoughts": True, "thinkingLevel": "medium"}),
        ("gemini-flash-latest", ReasoningEffort.MAX, {"includeThoughts": True, "thinkingLevel": "high"}),
    ],
)
def test_a_model_thinks_as_its_version_knows_it(name: str, effort: ReasoningEffort | None, wanted: object) -> None:
    sent = body(user("go"), model=name, reasoning_effort=effort, capabilities=THINKS)
    assert sent["generationConfig"]["thinkingConfig"] == wanted


def test_a_model_that_does_not_reason_is_not_asked_to() -> None:
    assert "generationConfig" not in body(user("go"), reasoning_effort=ReasoningEffort.HIGH)


def test_the_configuration_wins_over_the_effort() -> None:
    options = '{"thinking_config":{"thinking_budget":-1,"include_thoughts":false}}'
    sent = body(user("go"), reasoning_effort=ReasoningEffort.HIGH, capabilities=THINKS, options=options)
    assert sent["generationConfig"]["thinkingConfig"] == {"includeThoughts": False, "thinkingBudget": -1}


@pytest.mark.parametrize(
    "options",
    [
        "[]",
        "{",
        '{"thinking_config":7}',
        '{"safety_settings":[{}]}',
        '{"thinking_config":{"thinking_budget":1,"thinking_level":"low"}}',
    ],
)
def test_options_that_can_not_be_read_are_named(options: str) -> None:
    with pytest.raises(InvalidRequest):
        body(user("go"), options=options)


def test_options_of_a_tool_that_can_not_be_read_are_named() -> None:
    with pytest.raises(InvalidRequest, match="google_search"):
        body(user("go"), provider_tools=(ProviderTool("google_search", "[]"),))


def test_names_of_tools_are_written_in_characters_that_the_vendor_takes() -> None:
    sent = contents(user("go"), model(call("a", "1 tool/é")), tool(result("a")))
    assert sent[1]["parts"][0]["functionCall"]["name"] == "_1_tool__"
    assert sent[2]["parts"][0]["functionResponse"]["name"] == "_1_tool__"
