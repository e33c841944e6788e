"""Snippets: what the database marked, as text and places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.snippets import BEGIN, END, LESS, Snippet, read_snippet


@pytest.mark.parametrize(
    ("marked", "snippet"),
    [
        ("", Snippet("", ())),
        ("no hit", Snippet("no hit", ())),
        (f"{BEGIN}owl{END}", Snippet("owl", ((0, 3),))),
        (f"an {BEGIN}owl{END}'s\n\n {BEGIN}nest{END}. ", Snippet("an owl's nest.", ((3, 6), (9, 13)))),
        (f"{BEGIN}a{END}{BEGIN}b{END}", Snippet("ab", ((0, 1), (1, 2)))),
        (f"{LESS}b>{BEGIN}owl{END}", Snippet("<b>owl", ((3, 6),))),
        (f"\N{OWL} {BEGIN}\N{OWL}\N{OWL}{END}", Snippet("\N{OWL} \N{OWL}\N{OWL}", ((2, 4),))),
        (f"a{BEGIN}never ends", Snippet("anever ends", ())),
        (f"a{END}b", Snippet("ab", ())),
        ("a\ue000\ue001b", Snippet("a\0b", ())),
    ],
)
def test_marks_become_places(marked: str, snippet: Snippet):
    assert read_snippet(marked) == snippet


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=5))
def test_marks_are_in_order_and_within_the_text(pieces: list[tuple[str, str]]):
    marked = "".join(f"{before}{BEGIN}{word}{END}" for before, word in pieces)

    snippet = read_snippet(marked)

    places = [place for mark in snippet.marks for place in mark]
    assert places == sorted(places)
    assert all(0 <= start < end <= len(snippet.text) for start, end in snippet.marks)
    assert "\n" not in snippet.text
