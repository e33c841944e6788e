"""What tools answer with: always a JSON object, never more than fits, whatever they had to say."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.parts import FilePart
from chatd.engine.tools.live_output import MOST_BYTES, MOST_CALLS, LiveOutput
from chatd.engine.tools.results import capped, result_budget
from chatd.engine.tools.tool import ToolOutput, answered, failed, said, shown
from engine.deployment import new_id

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from('\ud800\udc00\x00\x01\n"\\é€😀{}[]:,')))
LONG = st.builds(lambda text, times: text * times, TEXTS, st.integers(1, 300))
OUTPUTS = st.one_of(
    st.builds(said, LONG),
    st.builds(failed, LONG),
    st.builds(lambda text, is_error: ToolOutput(result=text, is_error=is_error), LONG, st.booleans()),
    st.builds(lambda text: answered({"a": text, "b": [text]}), st.text(st.characters(exclude_categories=["Cs"]))),
)


@given(OUTPUTS, st.integers(100, 5000))
def test_a_result_is_a_json_object_within_its_budget(output: ToolOutput, budget: int):
    short = capped(output, budget).output

    assert len(short.result.encode()) <= budget
    assert isinstance(json.loads(short.result), dict)
    assert short.is_error is output.is_error
    assert capped(short, budget).output == short


def test_a_result_of_nothing_but_escapes_keeps_as_much_as_fits():
    short = capped(said("\x01" * 100_000), 16 * 1024)

    assert 16 * 1024 - 300 <= len(short.output.result) <= 16 * 1024
    assert short.removed > 0
    assert "Ask for less" in json.loads(short.output.result)["output"]


def test_a_result_with_fields_that_is_too_long_is_told_as_text():
    short = capped(answered({"rows": ["x" * 100] * 1000}), 16 * 1024).output

    assert json.loads(short.result)["output"].startswith('{"rows":["xxx')


def test_numbers_that_nobody_can_hold_are_told_as_they_are():
    short = capped(said('{"output": 1e999, "rest": "' + "x" * 100_000 + '"}'), 16 * 1024).output

    assert json.loads(short.result)["output"].startswith('{"output": 1e999,')


def test_an_error_that_is_too_long_stays_an_error():
    short = capped(failed("e" * 100_000), 16 * 1024).output

    assert short.is_error
    assert json.loads(short.result)["error"].startswith("eee")


def test_media_is_never_cut_but_its_caption_is_made_whole():
    output = shown(b"\x89PNG" * 50_000, "image/png", text="a \ud83d screen")
    short = capped(output, 16 * 1024)

    assert short.removed == 0
    assert json.loads(short.output.result)["text"] == "a \ufffd screen"
    assert len(short.output.result) > 200_000


@pytest.mark.parametrize(
    ("context_limit", "budget"),
    [(0, 65_536), (-1, 65_536), (1000, 16_384), (16_385, 16_384), (200_000, 199_998), (1_000_001, 999_999)],
)
def test_the_budget_is_a_third_of_the_window_and_never_too_small(context_limit: int, budget: int):
    assert result_budget(context_limit) == budget


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("plain", '{"output":"plain"}'),
        ('{"b": 1,  "a": 1e2, "b": 2}', '{"b": 1,  "a": 1e2, "b": 2}'),
        ("[1, 2]", '{"output":"[1, 2]"}'),
        ("12", '{"output":"12"}'),
        ('{"a": NaN}', '{"output":"{\\"a\\": NaN}"}'),
        ('{"a": 1} and more', '{"output":"{\\"a\\": 1} and more"}'),
        ('{"a": "\\ud800"}', '{"output":"{\\"a\\": \\"\\\\ud800\\"}"}'),
        ("half \ud800", '{"output":"half \ufffd"}'),
        ("", '{"output":""}'),
    ],
)
def test_words_that_are_a_json_object_stay_as_they_are_and_others_are_wrapped(text: str, result: str):
    assert said(text).result == result


def test_a_failure_is_told_as_an_error():
    output = failed("No such file: \ud800")

    assert output.is_error
    assert output.result == '{"error":"No such file: \ufffd"}'


class _Found(msgspec.Struct):
    path: str
    size: int


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (_Found("a", 1), '{"path":"a","size":1}'),
        ({"error": "quota", "left": 0}, '{"error":"quota","left":0}'),
        ([1], '{"output":"[1]"}'),
        ({"a": object()}, "{}"),
        ({"a": "\ud800"}, "{}"),
    ],
)
def test_fields_become_an_object_and_what_is_no_json_an_empty_one(value: Any, result: str):
    output = answered(value)

    assert output.result == result
    assert not output.is_error


def test_media_tells_where_it_is_stored():
    file = FilePart(media_type="image/png", name="screen.png", file_id=new_id())
    output = shown(b"png", "image/png", file=file)

    assert output.is_media
    assert output.files == (file,)
    assert json.loads(output.result) == {
        "data": "cG5n",
        "mime_type": "image/png",
        "text": "",
        "attachment_file_id": str(file.file_id),
        "attachment_name": "screen.png",
    }


@pytest.mark.parametrize("file", [FilePart(media_type="image/png"), FilePart(media_type="", file_id=new_id())])
def test_a_file_that_is_not_stored_is_no_attachment(file: FilePart):
    with pytest.raises(ValueError, match="no file id or no media type"):
        answered({}, files=(file,))


# Live output


def test_the_last_word_of_each_call_is_kept_for_readers_that_come_late():
    woken: list[int] = []
    live = LiveOutput(lambda: woken.append(1))
    first, second = live.of("1"), live.of("2")
    first("a")
    second("b")
    first("ab")

    assert [(said.tool_call_id, said.text) for said in live.after(0)] == [("2", "b"), ("1", "ab")]
    assert [said.text for said in live.after(2)] == ["ab"]
    assert live.after(3) == []
    assert len(woken) == 3


def test_a_call_that_has_its_result_says_no_more():
    live = LiveOutput(lambda: None)
    live.of("1")("a")
    live.end("1")
    live.of("1")("b")

    assert live.after(0) == []


def test_the_same_word_again_wakes_nobody():
    woken: list[int] = []
    live = LiveOutput(lambda: woken.append(1))
    live.of("1")("a")
    live.of("1")("a")

    assert len(woken) == 1


def test_live_output_is_bounded_and_whole():
    live = LiveOutput(lambda: None)
    for number in range(MOST_CALLS + 10):
        live.of(str(number))("\ud800é" * 100_000)

    kept = live.after(0)
    assert len(kept) == MOST_CALLS
    assert all(len(said.text.encode()) <= MOST_BYTES for said in kept)


def test_words_that_spell_out_half_a_character_are_no_json_object():
    text = '{"a": "\\ud800"}'

    assert msgspec.json.decode(said(text).result) == {"output": text}
