"""What people may put into a message, and what they may set for a chat."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.chat_checks import LABEL_VALUE_LONGEST, check_client_tools, check_labels, checked_title
from chatd.core.chat_input import MOST_CONTENT_BYTES, MOST_PARTS, GivenPart, file_ids_of, input_parts
from chatd.core.errors import InvalidRequest, TooLarge
from chatd.core.parts import FilePart, FileReferencePart, TextPart

FILE = UUID(int=7)


def test_parts_are_stored_as_they_were_given_but_for_blanks_around_a_text():
    given = [
        GivenPart(type="text", text="  say \n"),
        GivenPart(type="file", file_id=FILE),
        GivenPart(type="file", file_id=FILE),
        GivenPart(type="file-reference", file_name=" a.py", start_line=2, end_line=3, content=" x\n"),
    ]

    parts = input_parts(given)

    assert parts == (
        TextPart(text="say"),
        FilePart(media_type="", file_id=FILE),
        FilePart(media_type="", file_id=FILE),
        FileReferencePart(file_name=" a.py", start_line=2, end_line=3, content=" x\n"),
    )
    assert file_ids_of(parts) == [FILE]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ([], ["content"]),
        ([GivenPart(type="text", text="x")] * (MOST_PARTS + 1), ["content"]),
        ([GivenPart(type="text", text="\t"), GivenPart(type="file")], ["content[0].text", "content[1].file_id"]),
        (
            [GivenPart(type="file-reference", start_line=2, end_line=1)],
            ["content[0].file_name", "content[0].end_line"],
        ),
    ],
)
def test_every_wrong_part_is_named(given: Any, named: list[str]):
    with pytest.raises(InvalidRequest) as refused:
        input_parts(given)

    assert [validation.field for validation in refused.value.validations] == named


def test_all_texts_together_are_bounded_in_bytes():
    half = "\u00e9" * (MOST_CONTENT_BYTES // 4)
    most = [
        GivenPart(type="text", text=half),
        GivenPart(type="file-reference", file_name="a", content=half[:-1] + "b"),
    ]

    assert input_parts(most)
    with pytest.raises(TooLarge):
        input_parts([*most, GivenPart(type="text", text="x")])


def test_a_title_is_trimmed_and_bounded():
    assert checked_title(" \n a title ") == "a title"
    for wrong in ("", "  ", "x" * 201, "a\0b", "\ud800"):
        with pytest.raises(InvalidRequest):
            checked_title(wrong)


@pytest.mark.parametrize(
    "labels",
    [
        {"": "x"},
        {"-a": "x"},
        {"a b": "x"},
        {"a\n": "x"},
        {"a" * 65: "x"},
        {"a": ""},
        {"a": "x" * (LABEL_VALUE_LONGEST + 1)},
        {"a": "\0"},
        {"a": "\ud800"},
        {str(number): "x" for number in range(51)},
    ],
)
def test_wrong_labels_are_refused(labels: dict[str, str]):
    with pytest.raises(InvalidRequest):
        check_labels(labels)


@given(st.dictionaries(st.from_regex(r"[a-z0-9][a-z._/-]{0,9}", fullmatch=True), st.text("ab\u00e9:/ ", min_size=1)))
def test_right_labels_are_taken(labels: dict[str, str]):
    if len(labels) <= 50:
        check_labels({key: value[:100] for key, value in labels.items()})


def test_tools_of_a_client_have_names_of_their_own():
    check_client_tools(["a", "b"], field="tools")
    for wrong in (["a", "a"], [" "], [str(number) for number in range(251)]):
        with pytest.raises(InvalidRequest):
            check_client_tools(wrong, field="tools")
