"""The language of lists of chats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.chat_search import LONGEST, ChatSearch, read_labels, read_search, search_term
from chatd.core.errors import InvalidRequest


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("", ChatSearch()),
        ("  ", ChatSearch()),
        ("title:Plan", ChatSearch(title="Plan")),
        ('TITLE:"The big Plan" archived:TRUE', ChatSearch(title="The big Plan", archived=True)),
        ("title:a:b", ChatSearch(title="a:b")),
        ('title:"open end', ChatSearch(title="open end")),
        ("search:plan archived:true", ChatSearch(words="plan", archived=True)),
        (r'search:"\"big plan\" or \\ -small"', ChatSearch(words=r'"big plan" or \ -small')),
        (r'title:"C:\new"', ChatSearch(title=r"C:\new")),
        ("has_unread:0", ChatSearch(has_unread=False)),
        ("status:error,running", ChatSearch(statuses=("running", "error"))),
        ("pr_status:open,DRAFT", ChatSearch(pull_requests=("open", "draft"))),
        ("source:shared_with_me", ChatSearch(only_shared=True)),
        ("source:created_by_me,shared_with_me", ChatSearch()),
        ("source:created_by_me source:shared_with_me", ChatSearch()),
    ],
)
def test_terms_are_understood(text: str, asked: ChatSearch):
    assert read_search(text) == asked


@pytest.mark.parametrize(
    "text",
    [
        "plan",
        "title:",
        ":x",
        'title:""',
        "nothing:x",
        "archived:yes",
        "title:a title:b",
        "search:a title:b",
        "search:",
        "source:me",
        "status:busy",
        "pr_status:open,",
        "x" * 1001,
    ],
)
def test_what_is_not_understood_is_refused(text: str):
    with pytest.raises(InvalidRequest) as refused:
        read_search(text)

    assert [validation.field for validation in refused.value.validations] == ["q"]


@given(st.text())
def test_any_text_is_understood_or_refused(text: str):
    try:
        read_search(text)
        read_labels([text])
    except InvalidRequest:
        pass


@given(st.text(min_size=1, max_size=200))
def test_words_come_out_of_their_term_as_they_went_in(words: str):
    term = search_term(words)

    if "\0" not in words and len(term) <= LONGEST:
        assert read_search(f"archived:true {term} has_unread:true") == ChatSearch(
            words=words, archived=True, has_unread=True
        )


def test_labels_are_pairs():
    assert read_labels(["a:b", "c:d:e", "a:b"]) == {"a": "b", "c": "d:e"}
    for wrong in (["a"], [":a"], ["a:"], ["a:b", "a:c"], [f"{number}:x" for number in range(21)]):
        with pytest.raises(InvalidRequest):
            read_labels(wrong)
