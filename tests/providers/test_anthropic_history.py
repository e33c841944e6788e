"""How a history is sent to Anthropic's Messages API."""

import json
from base64 import b64encode
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.core.model import Capabilities, ModelRequest, PromptMessage, ProtocolName
from chatd.core.parts import (
    FilePart,
    ReasoningPart,
    SourcePart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatd.core.repair import repair
from chatd.core.roles import Role
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from providers.anthropic_images import png
from providers.anthropic_prompts import (
    ANTHROPIC,
    FOUND,
    OMITTED,
    REDACTED,
    SEARCHED,
    SIGNED,
    WEB,
    assistant,
    body,
    call,
    kept,
    messages_of,
    repaired_of,
    result,
    said,
    text,
    tool,
    user,
)

PNG = b64encode(png(1, 1)).decode()


@pytest.mark.behaviour("CONTENT-8")
def test_system_messages_are_the_system_in_order() -> None:
    sent = body(said(Role.SYSTEM, "one", " "), said(Role.SYSTEM, "two"), user("Hi"), said(Role.SYSTEM, "three"))
    assert sent["system"] == [text("one"), text("two"), text("three")]
    assert [message["role"] for message in sent["messages"]] == ["user"]


def test_instructions_go_to_the_user_message_where_there_is_no_system() -> None:
    sent = body(said(Role.SYSTEM, "one"), user("Hi"), capabilities=Capabilities(system_messages=False))
    assert "system" not in sent
    assert sent["messages"] == [{"role": "user", "content": [text("one"), text("Hi")]}]


def test_neighbours_of_one_role_are_one_message_with_results_first() -> None:
    assert messages_of(
        user("a"), user("b"), assistant("c"), assistant(call()), user("look"), tool(result()), user("d")
    ) == [
        ("user", [text("a"), text("b")]),
        ("assistant", [text("c"), {"type": "tool_use", "id": "t1", "name": "execute", "input": {}}]),
        (
            "user",
            [{"type": "tool_result", "tool_use_id": "t1", "content": '{"ok":true}'}, text("look"), text("d")],
        ),
    ]


@pytest.mark.behaviour("CONTENT-8")
def test_empty_texts_and_messages_left_without_blocks_are_left_out() -> None:
    assert messages_of(user("a", "", " \n"), assistant("", ReasoningPart(text="x")), user("b")) == [
        ("user", [text("a"), text("b")])
    ]


def test_sources_and_the_assistants_files_are_for_people() -> None:
    parts = (SourcePart(url="https://a.example"), FilePart(media_type="image/png", data=PNG), TextPart(text="x"))
    assert messages_of(user("a"), assistant(*parts), user("b"))[1] == ("assistant", [text("x")])


def test_a_user_speaks_first_and_last_since_newer_models_refuse_to_go_on_from_their_own_words() -> None:
    go_on = ("user", [text("Go on.")])
    assert messages_of(assistant("so \n")) == [go_on, ("assistant", [text("so \n")]), go_on]
    assert messages_of(user(" ")) == [go_on]
    assert messages_of(user("a"), assistant(SIGNED))[-1] == go_on


def test_a_turn_that_the_vendor_paused_is_sent_back_as_it_is() -> None:
    assert messages_of(user("a"), assistant("Let me see.", *WEB))[-1] == (
        "assistant",
        [text("Let me see."), SEARCHED, FOUND],
    )
    assert messages_of(user("a"), assistant(WEB[0]))[-1] == ("assistant", [SEARCHED])


def test_arguments_are_sent_as_they_were_written() -> None:
    args = '{"b": 1.50, "a": 12345678901234567890123, "b":2}'
    request = ModelRequest(model="m", messages=(user("a"), assistant(call(args=args)), tool(result())))
    assert args.encode() in AnthropicMessages().body(request)


@pytest.mark.parametrize("args", ["{", "[1]", '"x"', "nope", '{"a":"\udc80"}', "[" * 100_000])
def test_arguments_that_are_no_object_are_sent_as_one_that_says_so(args: str) -> None:
    (block,) = messages_of(user("a"), assistant(call(args=args)), tool(result()))[1][1]
    assert block["input"] == {"_invalid_json": args.replace("\udc80", "?")}


def test_a_call_without_arguments_has_an_empty_object() -> None:
    (block,) = messages_of(user("a"), assistant(call(args="")), tool(result()))[1][1]
    assert block["input"] == {}


def test_ids_and_names_of_other_vendors_are_made_acceptable_in_pairs() -> None:
    odd = ToolCallPart(tool_call_id="call|1.2:é", tool_name="mcp.find things", args="{}")
    _, (_, (used,)), (_, (given,)) = messages_of(user("a"), assistant(odd), tool(result("call|1.2:é")))
    assert used["id"] == given["tool_use_id"] == "call_1_2__"
    assert used["name"] == "mcp_find_things"


@pytest.mark.parametrize(
    ("part", "content", "is_error"),
    [
        (result(text='{"a":1}'), '{"a":1}', None),
        (result(text='"plain"'), '"plain"', None),
        (result(text=""), "{}", None),
        (result(text="null"), "{}", None),
        (result(text='{"error":"no such file"}', is_error=True), "no such file", True),
        (result(text='{"error":{"x":1}}', is_error=True), '{"error":{"x":1}}', True),
        (result(text='"Cancelled."', is_error=True), '"Cancelled."', True),
        (result(text='{"error":" "}', is_error=True), "{}", True),
        (result(text="a\udc80b"), "a?b", None),
    ],
)
def test_results_are_text_and_errors_say_so(part: ToolResultPart, content: str, is_error: bool | None) -> None:
    _, _, (_, (sent,)) = messages_of(user("a"), assistant(call()), tool(part))
    assert (sent["content"], sent.get("is_error")) == (content, is_error)


def test_a_result_that_is_a_picture_is_shown() -> None:
    shot = result(text=json.dumps({"data": PNG, "mime_type": "image/png", "text": "shot"}), is_media=True)
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    assert repaired_of(user("a"), assistant(call()), tool(shot))[2][1][0]["content"] == [text("shot"), image]
    blind = repaired_of(user("a"), assistant(call()), tool(shot), capabilities=Capabilities(images=False))
    left_out = "[The file that execute showed was left out: this model takes no images.]"
    assert json.loads(blind[2][1][0]["content"]) == {"output": f"shot\n{left_out}"}


def file(media_type: str, content: bytes = b"abc", name: str = "n.x") -> FilePart:
    return FilePart(media_type=media_type, name=name, data=b64encode(content).decode())


ALL = Capabilities(pdfs=True, text_files=True, max_image_bytes=40)


@pytest.mark.parametrize(
    ("part", "capabilities", "block"),
    [
        (
            file("image/png", png(1, 1)),
            ALL,
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        ),
        (file("image/png"), Capabilities(images=False), "[The file n.x was left out: this model takes no images.]"),
        (file("image/png", png(1, 1) + b"x" * 40), ALL, "was left out: it is larger than the 40 bytes"),
        (file("image/png"), ALL, "[file n.x (image/png) was left out: it is no PNG, JPEG, GIF or WebP image]"),
        (file("application/pdf"), ALL, "[file n.x (application/pdf) was left out: it is no PDF file]"),
        (
            file("application/pdf", b"%PDF-1.7"),
            ALL,
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjc="},
                "title": "n.x",
            },
        ),
        (file("application/pdf"), Capabilities(), "[The file n.x was left out: this model takes no PDF files.]"),
        (
            file("text/csv; charset=utf-8"),
            ALL,
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "abc"},
                "title": "n.x",
            },
        ),
        (file("text/csv", b" \n"), ALL, "[file n.x (text/csv) was left out: it is blank]"),
        (file("text/plain"), Capabilities(), "[file] n.x\nabc"),
        (FilePart(media_type="image/png", data="*"), ALL, "[The file without a name was left out: its content"),
    ],
)
def test_files_are_blocks_by_capability_or_a_text_that_says_what_is_missing(
    part: FilePart, capabilities: Capabilities, block: Any
) -> None:
    ((_, (_, sent)),) = repaired_of(user("see", part), capabilities=capabilities)
    if isinstance(block, str):
        assert sent["type"] == "text"
        assert block in sent["text"]
    else:
        assert sent == block


@pytest.mark.behaviour("CONTENT-6")
def test_thinking_goes_back_to_who_wrote_it_in_its_order() -> None:
    sent = messages_of(user("a"), assistant(SIGNED, REDACTED, OMITTED, "x"), user("b"))
    assert sent[1][1] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "s="},
        {"type": "redacted_thinking", "data": "d="},
        {"type": "thinking", "thinking": "", "signature": "o="},
        text("x"),
    ]


@pytest.mark.parametrize("how", ["another origin", "no signature", "other metadata", "bad metadata", "not wanted"])
def test_thinking_is_left_out_where_it_would_be_refused(how: str) -> None:
    part = {
        "no signature": ReasoningPart(text="Hm."),
        "other metadata": ReasoningPart(text="Hm.", provider_metadata={"openai-responses": '{"signature":"s"}'}),
        "bad metadata": ReasoningPart(text="Hm.", provider_metadata={ANTHROPIC: "{"}),
    }.get(how, SIGNED)
    origin = "someone else" if how == "another origin" else "me"
    options = {"send_reasoning": False} if how == "not wanted" else {}
    assert messages_of(user("a"), assistant(part, "x", origin=origin), user("b"), options=options)[1][1] == [text("x")]


@pytest.mark.behaviour("CONTENT-6")
def test_the_vendors_own_calls_and_results_go_back_word_for_word() -> None:
    cited = TextPart(text="So.", provider_metadata=kept(citations=[{"type": "web_search_result_location", "url": "u"}]))
    sent = messages_of(user("a"), assistant(*WEB, cited), user("b"))
    assert sent[1][1] == [
        SEARCHED,
        FOUND,
        text("So.") | {"citations": [{"type": "web_search_result_location", "url": "u"}]},
    ]


def test_the_vendors_own_calls_do_not_go_to_another_provider() -> None:
    cited = TextPart(text="So.", provider_metadata=kept(citations=[{"url": "u"}]))
    assert messages_of(user("a"), assistant(*WEB, cited, origin="other"), user("b"))[1][1] == [text("So.")]


def test_the_vendors_own_calls_without_their_block_are_left_out() -> None:
    bare = ToolCallPart(tool_call_id="s", tool_name="web_search", provider_executed=True)
    wrong = ToolResultPart(tool_call_id="s", provider_executed=True, provider_metadata=kept(type="text", text="x"))
    assert messages_of(user("a"), assistant(bare, wrong, "x"), user("b"))[1][1] == [text("x")]


def test_citations_go_back_without_the_field_that_the_vendor_does_not_take() -> None:
    cited = {"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": None}
    part = TextPart(text="So.", provider_metadata=kept(citations=[cited | {"file_id": None}]))
    assert messages_of(user("a"), assistant(part), user("b"))[1][1] == [text("So.") | {"citations": [cited]}]
    for bad in ([], 7, ["x"]):
        part = TextPart(text="So.", provider_metadata=kept(citations=bad))
        assert messages_of(user("a"), assistant(part), user("b"))[1][1] == [text("So.")]


def test_a_toolset_is_named_by_its_call_and_by_the_result() -> None:
    part = call("t1", provider_metadata=kept(toolset_name="computer"))
    _, (_, (used, other)), (_, results) = messages_of(
        user("a"), assistant(part, call("t2")), tool(result("t1"), result("t2"))
    )
    assert used["toolset_name"] == "computer"
    assert "toolset_name" not in other
    assert [block.get("toolset_name") for block in results] == ["computer", None]


@pytest.mark.behaviour("CONTENT-6")
def test_who_called_a_tool_goes_back() -> None:
    caller = {"type": "code_execution_20260120", "tool_id": "srv"}
    part = call(provider_metadata=kept(caller=caller, id="not this"))
    (block,) = messages_of(user("a"), assistant(part), tool(result()))[1][1]
    assert block == {"type": "tool_use", "id": "t1", "name": "execute", "input": {}, "caller": caller}


texts = st.text(st.characters(), max_size=8)
parts = st.one_of(
    st.builds(lambda words: TextPart(text=words), texts),
    st.builds(lambda words: ReasoningPart(text=words, provider_metadata={ANTHROPIC: words}), texts),
    st.builds(lambda i, n, a: ToolCallPart(tool_call_id=i, tool_name=n, args=a), texts, texts, texts),
    st.builds(lambda i, r, e: ToolResultPart(tool_call_id=i, result=r, is_error=e), texts, texts, st.booleans()),
    st.builds(lambda m, n, d: FilePart(media_type=m, name=n, data=d), texts, texts, texts),
    st.sampled_from([SIGNED, REDACTED, *WEB]),
)
histories = st.lists(
    st.builds(
        PromptMessage, st.sampled_from(Role), st.lists(parts, max_size=3).map(tuple), st.sampled_from(["me", "x"])
    ),
    max_size=5,
)


@pytest.mark.behaviour("CONTENT-8")
@settings(deadline=None)
@given(histories, st.booleans())
def test_any_history_makes_json_of_alternating_messages_without_empty_blocks(
    messages: list[PromptMessage], cache: bool
) -> None:
    left = repair(
        messages, protocol=ProtocolName.ANTHROPIC_MESSAGES, provider="me", capabilities=Capabilities()
    ).messages
    request = ModelRequest(model="claude-opus-5", provider="me", messages=left, cache_prompt=cache)
    sent = json.loads(AnthropicMessages().body(request))
    roles = [message["role"] for message in sent["messages"]]
    assert all(one != other for one, other in pairwise(roles))
    for message in sent["messages"]:
        assert message["content"]
        kinds = [block["type"] for block in message["content"]]
        assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result") or message["role"] == "assistant"
        for block in message["content"]:
            assert block.get("text", "x").strip()
