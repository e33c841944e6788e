"""Diffs within bounds."""

from hypothesis import given
from hypothesis import strategies as st

from chatd.agent.git.diff_cut import cut, files_of


def _file(name: str, lines: int) -> bytes:
    return f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n".encode() + b"+line\n" * lines


def test_a_diff_is_taken_apart_at_its_headers_and_not_at_its_content():
    text = _file("a", 2) + _file("b", 1).replace(b"+line", b"+diff --git x y")

    assert files_of(text) == [_file("a", 2), _file("b", 1).replace(b"+line", b"+diff --git x y")]
    assert files_of(b"") == []


def test_short_files_stay_whole_and_long_ones_share_what_is_left():
    files = [_file("short", 3), _file("long", 10_000), _file("other", 10_000)]
    shown = cut(files, 4096)

    assert not shown.is_complete
    assert shown.text.startswith(files[0])
    assert shown.text.count(b"more bytes of this file's diff are left out") == 2
    assert all(f"+++ b/{name}".encode() in shown.text for name in ("short", "long", "other"))
    assert len(shown.text) <= 4096


def test_files_that_do_not_fit_are_counted():
    shown = cut([_file(str(number), 100) for number in range(100)], 2048)

    assert shown.files == 100
    assert b"more files are left out" in shown.text


@given(st.lists(st.integers(0, 400), max_size=60), st.integers(1024, 20_000))
def test_no_cut_is_longer_than_asked_for_and_all_that_fits_is_whole(sizes: list[int], most: int):
    files = [_file(str(place), lines) for place, lines in enumerate(sizes)]
    shown = cut(files, most)

    assert len(shown.text) <= most
    assert shown.is_complete == (sum(map(len, files)) <= most)
    assert not shown.is_complete or shown.text == b"".join(files)
