"""When a history is summarised, and what is left of one that is too long even for that."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from chatd.core.compaction import (
    Compaction,
    Due,
    Fits,
    Futile,
    Window,
    check,
    context_tokens,
    has_answers,
    held_tokens,
    newer_half,
    prompt_tokens,
)
from chatd.core.interrupted import interrupted_messages
from chatd.core.messages import Message, NewMessage
from chatd.core.model import PromptMessage
from chatd.core.parts import TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role, Visibility
from chatd.core.usage import Usage

WINDOW = Window(1000, 70)
CHAT, THEN = UUID(int=1), datetime(2030, 1, 1, tzinfo=UTC)


def message(role: Role, usage: Usage | None = None, *, is_summary: bool = False) -> Message:
    return Message(
        id=1,
        chat_id=CHAT,
        created_at=THEN,
        revision=1,
        role=role,
        parts=(TextPart(text="…"),),
        visibility=Visibility.MODEL if is_summary else Visibility.BOTH,
        compressed=is_summary,
        usage=usage or Usage(),
    )


def answer(prompt: int, output: int = 0) -> Message:
    return message(Role.ASSISTANT, Usage(input_tokens=prompt, output_tokens=output))


USER, TOOL, SUMMARY = message(Role.USER), message(Role.TOOL), message(Role.USER, is_summary=True)


@pytest.mark.parametrize(
    ("window", "tokens", "is_over"),
    [
        (WINDOW, 699, False),
        (WINDOW, 700, True),
        (WINDOW, 0, False),
        (Window(1000, 100), 5000, False),  # never by itself
        (Window(1000, 99), 990, True),
        (Window(0, 70), 10**9, False),  # nobody knows how large it is
    ],
)
def test_a_window_is_over_from_its_threshold_on(window: Window, tokens: int, is_over: bool):
    assert window.is_over(tokens) is is_over


@pytest.mark.parametrize(
    ("usage", "prompt", "held"),
    [
        (Usage(input_tokens=5, output_tokens=2), 5, 7),
        (Usage(input_tokens=5, cache_read_tokens=10, cache_creation_tokens=20, output_tokens=2), 35, 37),
        (Usage(cache_read_tokens=10), 10, 10),
        (Usage(output_tokens=2, total_tokens=9), 0, 9),  # all that some providers tell
        (Usage(output_tokens=2), 0, 0),
        (Usage(), 0, 0),
    ],
)
def test_the_next_prompt_holds_the_last_one_and_its_answer_cached_or_not(usage: Usage, prompt: int, held: int):
    assert (prompt_tokens(usage), held_tokens(usage)) == (prompt, held)


@pytest.mark.parametrize(
    ("history", "verdict"),
    [
        ([USER], Fits()),
        ([USER, answer(600, 99)], Fits()),
        ([USER, answer(600, 100)], Due(700)),
        ([USER, answer(600, 100), TOOL], Due(700)),
        ([USER, answer(900), TOOL, answer(100)], Fits()),  # the last one counts
        ([USER, answer(900), TOOL, message(Role.ASSISTANT)], Due(900)),  # that says something
        ([SUMMARY, answer(100), TOOL, answer(800)], Due(800)),
        ([SUMMARY, answer(700), TOOL, answer(800)], Futile(700)),
        ([SUMMARY, answer(699, 100)], Due(799)),  # what was answered can be summarised
        ([USER, answer(900), SUMMARY], Fits()),  # what stands before a summary is not in a prompt
        ([USER, answer(900), SUMMARY, answer(100)], Fits()),
    ],
)
def test_what_is_due_after_a_step(history: list[Message], verdict: Fits | Due | Futile):
    assert check(history, WINDOW) == verdict


def test_what_a_prompt_holds_is_what_the_last_answer_since_the_summary_tells():
    assert context_tokens([USER, answer(900), SUMMARY, answer(10, 5), TOOL]) == 15
    assert context_tokens([USER, answer(900), SUMMARY]) == 0
    assert has_answers([USER, answer(1)])
    assert not has_answers([USER, SUMMARY])


def prompt(role: Role, text: str) -> PromptMessage:
    return PromptMessage(role, (TextPart(text=text),))


def test_the_older_half_is_left_out_again_and_again_until_little_is_left():
    system = prompt(Role.SYSTEM, "Be brief.")
    messages: tuple[PromptMessage, ...] | None = (system, *(prompt(Role.USER, str(place)) for place in range(16)))
    kept: list[list[str]] = []
    while messages := newer_half(messages):
        texts = [part.text for one in messages for part in one.parts if isinstance(part, TextPart)]
        assert texts[0] == "Be brief."
        assert "left out here" in texts[1]
        kept.append(texts[2:])

    assert kept == [[str(place) for place in range(first, 16)] for first in (8, 12, 14)]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_few_messages_can_not_be_halved(count: int):
    assert newer_half((prompt(Role.SYSTEM, "s"), *[prompt(Role.USER, "u")] * count)) is None


def test_a_compaction_leaves_a_summary_for_the_model_and_a_call_with_its_result_for_people():
    made = Compaction(call_id="c", summary="All of it.", is_manual=True, window=WINDOW, tokens=333)
    summary, call, result = made.messages(NewMessage(role=Role.ASSISTANT, parts=(), cost_microdollars=7), "then")

    assert [row.compressed for row in (summary, call, result)] == [True, True, True]
    assert [row.visibility for row in (summary, call, result)] == [Visibility.MODEL, Visibility.USER, Visibility.BOTH]
    assert call.cost_microdollars == 7
    (part,) = result.parts
    assert isinstance(part, ToolResultPart)
    assert part.created_at == "then"
    assert '"source":"manual"' in part.result
    assert '"usage_percent":33.3' in part.result


def test_an_interrupted_answer_is_stored_with_the_results_of_its_own_calls_in_their_order():
    one, two = [ToolCallPart(tool_call_id=name, tool_name=name, args="{}") for name in ("one", "two")]
    searched = ToolCallPart(tool_call_id="s", tool_name="web_search", args="{}", provider_executed=True)
    results = {name: ToolResultPart(tool_call_id=name, tool_name=name, result="{}") for name in ("two", "one", "s")}
    cut = NewMessage(role=Role.ASSISTANT, parts=(searched, one, two))

    assert [row.parts for row in interrupted_messages(cut, results)] == [
        cut.parts,
        (results["one"],),
        (results["two"],),
    ]
    assert interrupted_messages(NewMessage(role=Role.ASSISTANT, parts=()), results) == []
