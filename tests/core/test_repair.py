"""Histories made legal for every vendor: nothing that a vendor refuses, and no loss in silence."""

import base64
import re
from collections.abc import Sequence
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.messages import NewMessage, read_content
from chatd.core.model import Capabilities, PromptMessage, ProtocolName, ToolSpec
from chatd.core.parts import (
    ContextFilePart,
    FilePart,
    FileReferencePart,
    Part,
    ReasoningPart,
    SkillPart,
    SourcePart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatd.core.prompt import prompt_of
from chatd.core.repair import Repaired, repair
from chatd.core.repair.warnings import Loss
from chatd.core.roles import Role
from chatd.core.stored_parts import CONTENT_VERSION, encode_parts
from core.prompt_legality import problems
from core.prompt_strategies import HISTORIES, MESSAGES

ANTHROPIC = ProtocolName.ANTHROPIC_MESSAGES
GOOGLE = ProtocolName.GOOGLE_GEMINI
SEES_ALL = Capabilities(images=True, pdfs=True, text_files=True)

CAPABILITIES = st.builds(
    Capabilities, images=st.booleans(), pdfs=st.booleans(), text_files=st.booleans(), tools=st.booleans()
)


def repaired(
    messages: Sequence[PromptMessage],
    protocol: ProtocolName = ANTHROPIC,
    provider: str = "one",
    capabilities: Capabilities = SEES_ALL,
) -> Repaired:
    return repair(messages, protocol=protocol, provider=provider, capabilities=capabilities)


def user(*parts: Part) -> PromptMessage:
    return PromptMessage(Role.USER, parts)


def assistant(*parts: Part, origin: str = "one") -> PromptMessage:
    return PromptMessage(Role.ASSISTANT, parts, origin)


def tool(*parts: Part) -> PromptMessage:
    return PromptMessage(Role.TOOL, parts)


def text(words: str, metadata: str = "", protocol: ProtocolName = ANTHROPIC) -> TextPart:
    return TextPart(text=words, provider_metadata={str(protocol): metadata} if metadata else {})


def call(id: str, name: str = "ls", args: str = "{}") -> ToolCallPart:
    return ToolCallPart(tool_call_id=id, tool_name=name, args=args)


def result(id: str, name: str = "ls", said: str = '"done"') -> ToolResultPart:
    return ToolResultPart(tool_call_id=id, tool_name=name, result=said)


def vendors_pair(id: str, protocol: ProtocolName = ANTHROPIC) -> tuple[ToolCallPart, ToolResultPart]:
    kept = {str(protocol): '{"type":"server_tool_use"}'}
    return (
        ToolCallPart(tool_call_id=id, tool_name="search", args="{}", provider_executed=True, provider_metadata=kept),
        ToolResultPart(
            tool_call_id=id, tool_name="search", result="{}", provider_executed=True, provider_metadata=kept
        ),
    )


@given(HISTORIES, st.sampled_from(ProtocolName), st.sampled_from(("", "one")), CAPABILITIES)
def test_any_history_becomes_one_that_every_vendor_takes(
    history: list[PromptMessage], protocol: ProtocolName, provider: str, capabilities: Capabilities
) -> None:
    once = repaired(history, protocol, provider, capabilities)
    assert problems(once.messages, protocol, provider) == []
    assert all(0 <= warning.message < len(history) for warning in once.warnings)
    again = repaired(once.messages, protocol, provider, capabilities)
    assert again.messages == once.messages
    assert again.warnings == ()


@given(HISTORIES, MESSAGES)
def test_a_growing_history_keeps_its_beginning_up_to_the_last_assistant(
    history: list[PromptMessage], last: PromptMessage
) -> None:
    """Prompt caches depend on it. What follows the last assistant may still get its results."""
    ended = [*history, assistant(text("done")), user(text("and now"))]
    before = repaired(ended).messages
    after = repaired([*ended, msgspec.structs.replace(last, parts=_not_results(last.parts))]).messages
    assert after[: len(before)] == before


def _not_results(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(part for part in parts if not isinstance(part, ToolResultPart))


@given(HISTORIES, st.sampled_from(ProtocolName), st.sampled_from(("", "one")), CAPABILITIES)
def test_what_is_said_is_repaired_alike_with_and_without_calls_after_it(
    history: list[PromptMessage], protocol: ProtocolName, provider: str, capabilities: Capabilities
) -> None:
    """Where nobody calls anything, most of the work is left out."""
    said = [msgspec.structs.replace(message, parts=_said(message.parts)) for message in history]
    said = [message for message in said if message.role is not Role.TOOL]
    after = [user(text("and now")), assistant(call("call_9")), tool(result("call_9"))]

    alone = repaired(said, protocol, provider, capabilities)
    called = repaired([*said, *after], protocol, provider, capabilities)

    assert called.messages == (*alone.messages, *repaired(after, protocol, provider, capabilities).messages)
    assert called.warnings == alone.warnings


def _said(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(part for part in parts if not isinstance(part, ToolCallPart | ToolResultPart))


@st.composite
def legal_histories(draw: st.DrawFn) -> list[PromptMessage]:
    numbers = iter(range(1000))
    history: list[PromptMessage] = [PromptMessage(Role.SYSTEM, (text("be kind"),))]
    for _ in range(draw(st.integers(0, 4))):
        history.append(user(text("hi"), *draw(st.lists(st.just(_image()), max_size=1))))
        for _ in range(draw(st.integers(0, 3))):
            parts: list[Part] = []
            if draw(st.booleans()):
                signed = {str(ANTHROPIC): '{"signature":"s"}'}
                parts.append(ReasoningPart(text=draw(st.sampled_from(("", "hm"))), provider_metadata=signed))
            for _ in range(draw(st.integers(0, 2))):
                parts += vendors_pair(f"srv_{next(numbers)}")
                parts.append(text("found", draw(st.sampled_from(("", '{"citations":[]}')))))
            calls = [call(f"call_{next(numbers)}") for _ in range(draw(st.integers(0, 3)))]
            history.append(assistant(text("so"), *parts, *calls))
            answers = [result(one.tool_call_id) for one in draw(st.permutations(calls))]
            is_one = draw(st.booleans())
            history += [tool(*answers)] if is_one and answers else [tool(answer) for answer in answers]
    return history


def _image() -> FilePart:
    return FilePart(media_type="image/png", name="a.png", data=base64.b64encode(b"png").decode())


@given(legal_histories())
def test_a_legal_history_stays_as_it_is(history: list[PromptMessage]) -> None:
    assert problems(history, ANTHROPIC, "one") == []
    assert repaired(history) == Repaired(tuple(history))


@pytest.mark.behaviour("CONTENT-8")
def test_empty_texts_and_reasoning_are_left_out_and_signed_reasoning_stays() -> None:
    signed = ReasoningPart(text="", provider_metadata={str(ANTHROPIC): '{"data":"x"}'})
    history = [user(text(" \n"), text("hi")), assistant(text(""), ReasoningPart(text=" "), signed, text("yes"))]
    assert repaired(history).messages == (user(text("hi")), assistant(signed, text("yes")))


def test_a_message_that_has_nothing_left_is_no_message() -> None:
    assert repaired([user(text("hi")), assistant(text("")), user(SourcePart(url="https://a.example"))]).messages == (
        user(text("hi")),
    )


@pytest.mark.behaviour("CONTENT-8")
@pytest.mark.parametrize("protocol", ProtocolName)
@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_blank_parts_are_left_out_whether_they_were_stored_or_are_in_flight(protocol: ProtocolName, blank: str) -> None:
    parts = (TextPart(text=blank), ReasoningPart(text=blank), TextPart(text="yes"), TextPart(text=blank))
    step = NewMessage(role=Role.ASSISTANT, parts=parts, model_config_id=UUID(int=1))
    stored = msgspec.structs.replace(step, parts=read_content(CONTENT_VERSION, step.role, encode_parts(parts)))
    assert stored.parts == parts

    for message in (step, stored):
        prompt = prompt_of([message], lambda _: "one")
        assert repaired(prompt.messages, protocol).messages == (assistant(text("yes")),)


@pytest.mark.behaviour("CONTENT-6")
def test_metadata_goes_back_to_the_protocol_and_provider_that_it_came_from_only() -> None:
    history = [user(text("hi")), assistant(text("yes", '{"citations":[]}'))]
    assert repaired(history) == Repaired(tuple(history))
    elsewhere = repaired(history, provider="two")
    assert elsewhere.messages[1].parts == (text("yes"),)
    assert [(warning.message, warning.loss) for warning in elsewhere.warnings] == [(1, Loss.METADATA)]
    other_protocol = repaired(history, GOOGLE)
    assert other_protocol.messages[1].parts == (text("yes"),)
    assert [warning.loss for warning in other_protocol.warnings] == [Loss.METADATA]


@pytest.mark.behaviour("CONTENT-6")
def test_metadata_of_calls_and_reasoning_goes_back_too_and_is_warned_of_elsewhere() -> None:
    kept = {str(GOOGLE): '{"thought_signature":"s"}'}
    thought = ReasoningPart(text="hm", provider_metadata=kept)
    asked = msgspec.structs.replace(call("a"), provider_metadata=kept)
    history = [assistant(thought, asked), tool(result("a"))]
    assert repaired(history, GOOGLE) == Repaired(tuple(history))
    elsewhere = repaired(history, GOOGLE, provider="two")
    assert elsewhere.messages[0].parts == (call("a"),)
    assert [(warning.loss, warning.detail) for warning in elsewhere.warnings] == [
        (Loss.REASONING, "of another provider"),
        (Loss.METADATA, "of a call of ls: google-gemini"),
    ]
    assert [warning.loss for warning in repaired(history, ANTHROPIC).warnings] == [Loss.METADATA, Loss.METADATA]


@pytest.mark.behaviour("CONTENT-6")
def test_metadata_of_an_empty_text_is_warned_of() -> None:
    changed = repaired([assistant(text(" ", '{"citations":[]}'), text("yes"))])
    assert changed.messages == (assistant(text("yes")),)
    assert [(warning.loss, warning.detail) for warning in changed.warnings] == [(Loss.METADATA, "of an empty text")]


def test_metadata_of_an_unknown_name_is_ignored_without_a_warning() -> None:
    history = [assistant(TextPart(text="yes", provider_metadata={"acme": "{}"}))]
    assert repaired(history) == Repaired((assistant(text("yes")),))


def test_reasoning_of_another_provider_is_left_out_with_a_warning() -> None:
    signed = ReasoningPart(text="hm", provider_metadata={str(ANTHROPIC): '{"signature":"s"}'})
    away = repaired([assistant(signed, text("yes"))], provider="two")
    assert away.messages == (assistant(text("yes")),)
    assert [warning.loss for warning in away.warnings] == [Loss.REASONING]


def test_a_reference_to_code_becomes_text_with_a_fence_longer_than_any_within() -> None:
    reference = FileReferencePart(file_name="a.md", start_line=3, end_line=5, content="````\nx\n````")
    (message,) = repaired([user(reference)]).messages
    assert message.parts == (text("[file-reference] a.md:3-5\n`````\n````\nx\n````\n`````"),)


def test_context_files_and_skills_become_text() -> None:
    context = ContextFilePart(context_file_path="AGENTS.md", context_file_content="Be brief.")
    skill = SkillPart(skill_name="review", skill_description="Reads code.")
    (message,) = repaired([user(context, ContextFilePart(context_file_path="empty"), skill)]).messages
    assert message.parts == (
        text("[context-file] AGENTS.md\n```\nBe brief.\n```"),
        text("[skill] review: Reads code."),
    )


@pytest.mark.parametrize(
    ("file", "capabilities", "why"),
    [
        (FilePart(media_type="image/png", name="a.png", data="cG5n"), Capabilities(images=False), "takes no images"),
        (FilePart(media_type="image/tiff", name="a.tif", data="cG5n"), SEES_ALL, "no images of type image/tiff"),
        (FilePart(media_type="application/pdf", name="a.pdf", data="cG5n"), Capabilities(), "takes no PDF files"),
        (FilePart(media_type="video/mp4", name="a.mp4", data="cG5n"), SEES_ALL, "no files of type video/mp4"),
        (FilePart(media_type="image/png", name="a.png"), SEES_ALL, "empty or no longer stored"),
        (FilePart(media_type="image/png", name="a.png", data="%"), SEES_ALL, "can't be read"),
        (
            FilePart(media_type="image/png", name="a.png", data="cG5nIHBuZw=="),
            Capabilities(max_image_bytes=3),
            "larger than the 3 bytes",
        ),
    ],
)
def test_a_file_that_a_model_does_not_take_is_named_in_a_text(
    file: FilePart, capabilities: Capabilities, why: str
) -> None:
    changed = repaired([user(file)], capabilities=capabilities)
    (part,) = changed.messages[0].parts
    assert isinstance(part, TextPart)
    assert file.name in part.text
    assert why in part.text
    assert [warning.loss for warning in changed.warnings] == [Loss.FILE]


@given(st.binary(min_size=1, max_size=9), st.integers(1, 9))
def test_an_image_is_measured_as_it_is_and_not_as_it_is_written(content: bytes, limit: int) -> None:
    image = FilePart(media_type="image/png", name="a.png", data=base64.b64encode(content).decode())
    (part,) = repaired([user(image)], capabilities=Capabilities(max_image_bytes=limit)).messages[0].parts
    assert isinstance(part, FilePart) == (len(content) <= limit)


@given(st.text(st.sampled_from("ab+/=%é \n"), max_size=8))
def test_only_what_is_base64_is_sent_as_a_file(data: str) -> None:
    (part,) = repaired([user(FilePart(media_type="image/png", name="a.png", data=data))]).messages[0].parts
    try:
        is_readable = bool(data) and len(data) % 4 == 0 and base64.b64decode(data, validate=True) != b""
    except ValueError:
        is_readable = False
    assert isinstance(part, FilePart) == is_readable


def media(**fields: str) -> ToolResultPart:
    return msgspec.structs.replace(result("a", said=msgspec.json.encode(fields).decode()), is_media=True)


@pytest.mark.parametrize(
    ("showed", "capabilities", "said"),
    [
        (
            media(data="cG5n", mime_type="image/png", text="a cat", attachment_name="cat.png"),
            Capabilities(images=False),
            "a cat\n[The file cat.png was left out: this model takes no images.]",
        ),
        (
            media(data="cG5n", mime_type="video/mp4"),
            SEES_ALL,
            "[The file that ls showed was left out: this model takes no files of type video/mp4.]",
        ),
        (media(data="eCA9IDE=", mime_type="text/plain", attachment_name="a.py"), Capabilities(), "[file] a.py\nx = 1"),
        (
            media(text="gone"),
            SEES_ALL,
            "gone\n[The file that ls showed was left out: it is empty or no longer stored.]",
        ),
    ],
)
def test_what_a_tool_showed_is_told_in_words_to_a_model_that_can_not_see_it(
    showed: ToolResultPart, capabilities: Capabilities, said: str
) -> None:
    changed = repaired([assistant(call("a")), tool(showed)], capabilities=capabilities)
    assert changed.messages[1] == tool(result("a", said=msgspec.json.encode({"output": said}).decode()))
    assert [warning.loss for warning in changed.warnings] == ([Loss.FILE] if "left out" in said else [])


def test_media_that_can_not_be_read_is_told_of_and_media_that_can_be_shown_stays() -> None:
    broken = msgspec.structs.replace(result("a", said="[not media"), is_media=True)
    (part,) = repaired([assistant(call("a")), tool(broken)]).messages[1].parts
    assert isinstance(part, ToolResultPart)
    assert (part.is_media, "left out" in part.result) == (False, True)
    history = [assistant(call("a")), tool(media(data="cG5n", mime_type="image/png"))]
    assert repaired(history) == Repaired(tuple(history))


def test_calls_and_results_are_told_in_words_to_a_model_that_takes_no_tools() -> None:
    failed = msgspec.structs.replace(result("b", said='{"error":"no"}'), is_error=True)
    shown = msgspec.structs.replace(media(data="cG5n", mime_type="image/png"), tool_call_id="c")
    history = [
        assistant(text("I look."), call("a", args='{"x":1}'), call("b"), call("c")),
        tool(result("a")),
        tool(failed, shown),
        user(text("so?")),
    ]
    changed = repaired(history, capabilities=Capabilities(tools=False))
    assert changed == Repaired(
        (
            assistant(text("I look."), text('[call of ls] {"x":1}'), text("[call of ls] {}"), text("[call of ls] {}")),
            user(text('[result of ls] "done"')),
            user(
                text('[result of ls (failed)] {"error":"no"}'),
                text("[result of ls] media that can't be shown here"),
            ),
            user(text("so?")),
        )
    )


def test_a_text_file_is_read_to_a_model_that_takes_no_text_files() -> None:
    file = FilePart(media_type="text/x-python; charset=utf-8", name="a.py", data=base64.b64encode(b"x = 1").decode())
    assert repaired([user(file)]).messages == (user(file),)
    read = repaired([user(file)], capabilities=Capabilities())
    assert read == Repaired((user(text("[file] a.py\nx = 1")),))


def test_a_long_pasted_text_is_text_and_says_where_it_was_cut() -> None:
    file = FilePart(
        media_type="text/plain",
        name="pasted-text-2026-01-02-03-04-05.txt",
        data=base64.b64encode(b"a" * 131_073).decode(),
    )
    (part,) = repaired([user(file)]).messages[0].parts
    assert isinstance(part, TextPart)
    assert part.text == "a" * 131_072 + "\n[The text was cut here, after 131072 of 131073 bytes.]"


def test_files_that_an_assistant_made_are_not_replayed_and_do_not_part_calls_from_results() -> None:
    history = [assistant(call("a")), assistant(_image()), tool(result("a"))]
    assert repaired(history) == Repaired((history[0], history[2]))


def test_a_call_without_a_result_gets_an_error_before_anything_else_is_said() -> None:
    changed = repaired([assistant(call("a"), call("b")), tool(result("b")), user(text("go on"))])
    assert [message.role for message in changed.messages] == [Role.ASSISTANT, Role.TOOL, Role.TOOL, Role.USER]
    (error,) = changed.messages[2].parts
    assert isinstance(error, ToolResultPart)
    assert (error.tool_call_id, error.tool_name, error.is_error) == ("a", "ls", True)
    assert [warning.loss for warning in changed.warnings] == [Loss.MISSING_RESULT]


def test_results_move_next_to_their_call() -> None:
    history = [assistant(call("a")), user(text("wait")), tool(result("a")), assistant(text("done"))]
    assert repaired(history) == Repaired((history[0], history[2], history[1], history[3]))


def test_a_result_behind_the_next_answer_still_finds_its_call() -> None:
    history = [assistant(call("a")), assistant(text("well")), tool(result("a"))]
    assert repaired(history) == Repaired((history[0], history[2], history[1]))


def test_a_result_without_a_call_becomes_text_of_the_user_or_is_left_out() -> None:
    history = [user(text("hi")), tool(result("a", said='"42"')), tool(result("b", name=""))]
    changed = repaired(history)
    assert changed.messages == (history[0], user(text('[result of ls] "42"')))
    assert [warning.loss for warning in changed.warnings] == [Loss.ORPHAN_RESULT, Loss.ORPHAN_RESULT]


def test_a_second_result_of_a_call_is_not_sent_as_one() -> None:
    changed = repaired([assistant(call("a")), tool(result("a", said="1")), tool(result("a", said="2"))])
    assert changed.messages[1:] == (tool(result("a", said="1")), user(text("[result of ls] 2")))


def test_results_in_the_message_of_the_assistant_are_taken_out_of_it() -> None:
    changed = repaired([assistant(call("a"), result("a"), text("done"))])
    assert changed.messages == (
        assistant(call("a"), text("done")),
        PromptMessage(Role.TOOL, (result("a"),), "one"),
    )


def test_ids_that_repeat_are_made_distinct_with_their_results() -> None:
    step = [assistant(call("call_0"), call("call_0")), tool(result("call_0", said="1"), result("call_0", said="2"))]
    changed = repaired([*step, *step])
    ids = [
        part.tool_call_id for message in changed.messages for part in message.parts if isinstance(part, ToolCallPart)
    ]
    said = {
        part.tool_call_id: part.result
        for message in changed.messages
        for part in message.parts
        if isinstance(part, ToolResultPart)
    }
    assert ids == ["call_0", "call_0_2", "call_0_3", "call_0_4"]
    assert said == {"call_0": "1", "call_0_2": "2", "call_0_3": "1", "call_0_4": "2"}


def test_a_result_belongs_to_the_newest_call_of_its_id() -> None:
    history = [assistant(call("call_0")), assistant(call("call_0")), tool(result("call_0", said="new"))]
    first, error, second, answer = repaired(history).messages
    assert (first, second.parts) == (history[0], (call("call_0_2"),))
    assert answer.parts == (result("call_0_2", said="new"),)
    assert [part.is_error for part in error.parts if isinstance(part, ToolResultPart)] == [True]


def test_an_id_that_a_vendor_used_twice_in_a_message_tells_no_pairs() -> None:
    searched, found = vendors_pair("s")
    for parts in ((searched, searched, found), (searched, found, found), (searched, found) * 2, (found, searched)):
        assert repaired([assistant(*parts, text("so"))]).messages == (assistant(text("so")),)


def test_what_a_vendor_calls_its_own_tools_stays_and_is_the_same_for_call_and_result() -> None:
    searched, found = vendors_pair("s")
    searched = msgspec.structs.replace(searched, tool_name="mcp:docs.search")
    changed = repaired([assistant(searched, found, text("so"))])
    assert changed.messages == (
        assistant(searched, msgspec.structs.replace(found, tool_name="mcp:docs.search"), text("so")),
    )


def test_what_a_vendor_ran_itself_stays_where_no_tools_of_ours_are_taken() -> None:
    history = [assistant(*vendors_pair("s"), text("so"))]
    assert repaired(history, capabilities=Capabilities(tools=False)) == Repaired(tuple(history))


def test_ids_are_written_in_characters_that_every_vendor_takes() -> None:
    history = [assistant(call("a.b|c"), call("a_b_c"), call("x" * 100), call("x" * 90)), tool()]
    changed = repaired(history)
    ids = [part.tool_call_id for part in changed.messages[0].parts if isinstance(part, ToolCallPart)]
    assert ids == ["a_b_c", "a_b_c_2", "x" * 64, "x" * 62 + "_2"]


def called(changed: Repaired) -> list[str]:
    """The ids of all calls, which their results have too."""
    parts = [part for message in changed.messages for part in message.parts]
    ids = [part.tool_call_id for part in parts if isinstance(part, ToolCallPart)]
    assert sorted(ids) == sorted(part.tool_call_id for part in parts if isinstance(part, ToolResultPart))
    return ids


def step(*ids: str, origin: str = "one") -> list[PromptMessage]:
    return [assistant(*map(call, ids), origin=origin), tool(*map(result, ids))]


def test_a_chat_server_gets_its_own_ids_back_as_they_were() -> None:
    """Kimi's model expects `functions.ls:0`; OpenAI takes forty characters."""
    changed = repaired(step("functions.ls:0", "x" * 40, "x" * 41, "é", ""), ProtocolName.OPENAI_CHAT)
    first, longest, *others = called(changed)
    assert (first, longest) == ("functions.ls:0", "x" * 40)
    assert [len(other) for other in others] == [9, 9, 9]


def test_ids_of_others_become_nine_letters_and_digits_for_a_chat_server() -> None:
    """Mistral takes no others."""
    foreign = ("toolu_01A09q90qw90lq917835lq9", "call-1", "call.1", "abcDEF123", "x" * 70)
    changed = repaired([*step(*foreign, origin="other"), *step("call_0")], ProtocolName.OPENAI_CHAT)
    ids = called(changed)
    assert ids[3] == "abcDEF123"
    assert ids[5] == "call_0"
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", id) for id in ids[:5])
    assert len(set(ids)) == 6
    # The same in every request, here and elsewhere: caches depend on it.
    assert ids[0] == "TbZIuM3Pe"


def test_ids_that_a_chat_server_repeats_are_made_distinct() -> None:
    ids = called(repaired([*step("call_0"), *step("call_0"), *step("call_0", "call_0")], ProtocolName.OPENAI_CHAT))
    assert ids[0] == "call_0"
    assert len(set(ids)) == 4
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", id) for id in ids[1:])


@pytest.mark.parametrize("name", ["", "a b", "fs.read", "n" * 65, "é", "ls\n"])
def test_a_tool_has_a_name_that_every_vendor_takes(name: str) -> None:
    with pytest.raises(ValueError, match="name of the tool"):
        ToolSpec(name, "", "{}")
    assert ToolSpec("n" * 64, "", "{}").name == "n" * 64


def test_a_tool_that_was_called_by_another_name_is_called_by_one_that_is_taken() -> None:
    history = [assistant(call("a", name="fs.read"), call("b", name="n" * 70)), tool(result("a"), result("b"))]
    calls = [part for part in repaired(history).messages[0].parts if isinstance(part, ToolCallPart)]
    assert [part.tool_name for part in calls] == ["fs_read", "n" * 64]


@pytest.mark.parametrize(
    ("args", "sent"),
    [
        ("", "{}"),
        ("[1]", '{"invalid_arguments":"[1]"}'),
        ('{"a":', '{"invalid_arguments":"{\\"a\\":"}'),
        ('{"b":1, "a":1e400}', '{"b":1, "a":1e400}'),
        ("\ud800", '{"invalid_arguments":"?"}'),
    ],
)
def test_arguments_become_an_object_or_stay_as_they_are(args: str, sent: str) -> None:
    changed = repaired([assistant(call("a", args=args)), tool(result("a"))])
    assert changed.messages[0].parts == (call("a", args=sent),)


@pytest.mark.behaviour("LOOP-3")
def test_a_result_of_the_vendor_stands_right_after_its_call_and_before_our_own_calls() -> None:
    searched, found = vendors_pair("s")
    changed = repaired([assistant(text("hm"), call("a"), searched, text("so"), found), tool(result("a"))])
    assert changed.messages[0].parts == (text("hm"), searched, found, call("a"), text("so"))


def test_what_a_vendor_ran_itself_is_kept_as_a_complete_pair_or_left_out() -> None:
    (searched, found), (alone, _), (_, unasked) = vendors_pair("s"), vendors_pair("t"), vendors_pair("u")
    changed = repaired([assistant(unasked, searched, found, alone, text("so")), user(text("and?"))])
    assert changed.messages == (assistant(searched, found, text("so")), user(text("and?")))
    assert [warning.loss for warning in changed.warnings] == [Loss.VENDOR_CALL, Loss.VENDOR_CALL]


def test_a_call_that_the_vendor_left_open_goes_back_until_someone_else_speaks() -> None:
    """It paused, or it waits for our tools."""
    (open_call, found), (done, result_of_done) = vendors_pair("s"), vendors_pair("d")
    paused = [user(text("hi")), assistant(text("hm"), open_call)]
    assert repaired(paused) == Repaired(tuple(paused))
    waiting = [user(text("hi")), assistant(text("hm"), call("a"), open_call), tool(result("a"))]
    changed = repaired(waiting)
    assert changed.messages[1].parts == (text("hm"), open_call, call("a"))
    assert changed.warnings == ()
    for later in (user(text("stop")), assistant(done, result_of_done)):
        left = repaired([*waiting, later])
        assert left.messages[1].parts == (text("hm"), call("a"))
        assert [warning.loss for warning in left.warnings] == [Loss.VENDOR_CALL]
    assert repaired([*waiting, tool(result("nobody's"))]).messages[1].parts == (text("hm"), call("a"))
    bare = msgspec.structs.replace(open_call, provider_metadata={})
    assert repaired([assistant(text("hm"), bare)]).messages == (assistant(text("hm")),)
    assert repaired([assistant(text("hm"), found)]).messages == (assistant(text("hm")),)


@pytest.mark.parametrize("protocol", [GOOGLE, ProtocolName.OPENAI_CHAT, ProtocolName.OPENAI_RESPONSES])
def test_other_vendors_get_no_open_call_of_their_own(protocol: ProtocolName) -> None:
    open_call, _ = vendors_pair("s", protocol)
    assert repaired([assistant(text("hm"), open_call)], protocol).messages == (assistant(text("hm")),)


def test_a_result_that_comes_when_the_vendor_goes_on_is_one_with_its_call() -> None:
    open_call, found = vendors_pair("s")
    history = [assistant(text("hm"), open_call), assistant(found, text("so")), user(text("and?"))]
    assert repaired(history) == Repaired((assistant(text("hm"), open_call, found, text("so")), user(text("and?"))))
    apart = [assistant(text("hm")), assistant(text("so")), user(text("and?"))]
    assert repaired(apart) == Repaired(tuple(apart))
    others = [assistant(open_call), assistant(found, text("so"), origin="two"), user(text("and?"))]
    assert repaired(others).messages == (assistant(text("so"), origin="two"), user(text("and?")))


def test_what_a_vendor_ran_itself_is_not_told_to_another() -> None:
    history = [assistant(*vendors_pair("s"), text("so"))]
    changed = repaired(history, provider="two")
    assert changed.messages == (assistant(text("so")),)
    assert [warning.loss for warning in changed.warnings] == [Loss.VENDOR_CALL, Loss.VENDOR_CALL]
    assert repaired(history).messages == tuple(history)
