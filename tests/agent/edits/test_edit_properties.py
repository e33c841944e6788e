"""What holds of every edit, whatever the texts are."""

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from chatd.agent.edits.edit import Edit, EditRefused, edited
from chatd.agent.edits.lines import Line, joined, lines_of
from chatd.agent.edits.matching import Pass, places

PLAIN = st.sampled_from(["a", "b", "x", "if y:", "==", "====", "", "é", "\udcff"])
WORDS = PLAIN | st.just("\r")  # which ends no line by itself
BLANKS = st.sampled_from(["", " ", "  ", "    ", "\t", "\t\t", " \t"])
ENDINGS = st.sampled_from(["\n", "\r\n"])


@st.composite
def texts(draw: st.DrawFn, ending: str | None = None) -> str:
    """With lines that all end alike, and have no other carriage return, or each as it likes."""
    words = WORDS if ending is None else PLAIN
    lines = draw(st.lists(st.builds(lambda *parts: "".join(parts), BLANKS, words, BLANKS), min_size=1, max_size=8))
    endings = [ending or draw(ENDINGS) for _ in lines]
    if draw(st.booleans()):
        endings[-1] = ""
    return "".join(line + end for line, end in zip(lines, endings, strict=True))


@st.composite
def unlike_lines(draw: st.DrawFn, ending: str) -> str:
    """No two lines are the same when blanks are forgiven, so that what is searched for is at one place."""
    words = draw(st.lists(st.tuples(BLANKS, WORDS, BLANKS), min_size=1, max_size=8))
    return "".join(f"{lead}{word}{place}{trail}{ending}" for place, (lead, word, trail) in enumerate(words))


@st.composite
def pieces(draw: st.DrawFn, content: str) -> str:
    """A part of a text, whole lines or any."""
    begin = draw(st.integers(0, len(content)))
    end = draw(st.integers(begin, len(content)))
    return content[begin:end]


@given(texts())
def test_lines_are_the_text(text: str):
    assert joined(lines_of(text)) == text


@given(texts(), st.data())
def test_an_exact_edit_touches_nothing_else(content: str, data: st.DataObject):
    search = data.draw(pieces(content))
    replacement = data.draw(texts())
    assume(is_clear(content, search))
    before, after = content.split(search)
    result = edited(content, Edit(search, replacement))

    assert result.startswith(before)
    assert result.endswith(after)
    inside = result[len(before) : len(result) - len(after)] if after else result[len(before) :]
    assert [line.body for line in lines_of(inside)] == [
        line.body for line in lines_of(replacement)
    ] or "\r" in replacement


def is_clear(content: str, text: str) -> bool:
    """Whether it is there once."""
    return text != "" and content.find(text) == content.rfind(text) >= 0


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(ENDINGS, st.data())
def test_an_edit_and_its_inverse_give_the_file_back(ending: str, data: st.DataObject):
    """Of exact edits in the file's own endings whose new text is clear in the result too."""
    content, replacement = data.draw(texts(ending)), data.draw(texts(ending))
    search = data.draw(pieces(content))
    assume(is_clear(content, search) and not search.endswith("\r") and not search.startswith("\n"))
    result = edited(content, Edit(search, replacement))
    assume(is_clear(result, replacement))

    assert edited(result, Edit(replacement, search)) == content


@given(texts(), texts(), texts(), st.booleans())
def test_what_is_refused_changes_nothing_and_what_is_done_is_repeatable(
    content: str, search: str, replacement: str, replace_all: bool
):
    edit = Edit(search, replacement, replace_all)
    try:
        once = edited(content, edit)
    except EditRefused:
        return
    assert edited(content, edit) == once
    assert once.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape") == once


@given(ENDINGS.flatmap(unlike_lines), st.data())
def test_blanks_that_a_model_got_wrong_cost_no_line_of_the_rest(content: str, data: st.DataObject):
    """An edit found by forgiving blanks keeps every line before and after it byte for byte."""
    lines = lines_of(content)
    begin = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(begin + 1, len(lines)))
    search = "".join(f"{data.draw(BLANKS)}{line.core}{data.draw(BLANKS)}\n" for line in lines[begin:end])
    replacement = data.draw(texts())
    try:
        result = edited(content, Edit(search, replacement))
    except EditRefused:
        return
    assume(content.count(search) == 0)

    assert result.startswith(joined(lines[:begin]))
    assert result.endswith(joined(lines[end:]))


@given(st.lists(st.sampled_from("ab"), max_size=30), st.lists(st.sampled_from("ab"), min_size=1, max_size=5))
def test_every_place_is_found_also_where_they_overlap(have: list[str], wanted: list[str]):
    naive = [at for at in range(len(have)) if have[at : at + len(wanted)] == wanted]
    lines, searched = ([Line(f" {word}", "\n") for word in words] for words in (have, wanted))

    assert places(lines, searched, Pass.SURROUNDING) == naive


def test_many_lines_that_are_alike_do_not_take_for_ever():
    """By the square of their number these would take hours."""
    for word in ("", "a ", "==--== "):
        try:
            edited(f"{word}\n" * 190_000, Edit(f"{word}=\n" * 90_000 + "x", "y"))
        except EditRefused:
            continue
        raise AssertionError("it is not there")
