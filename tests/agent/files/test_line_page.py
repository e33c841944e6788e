"""Pages of lines, held against a naive reading of the whole file."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chatd.agent.files.line_page import MOST_LINE_BYTES, MOST_LINES, MOST_PAGE_BYTES, Page, PageReader

PIECES = st.sampled_from([b"", b"a", b"\n", b"\n\n", b"word\n", "é".encode(), b"\r\n", b"x" * 700, b"\xff", b"\0"])


def paged(content: bytes, first: int, most: int, *cuts: int) -> Page:
    reader = PageReader(first, most)
    places = sorted({0, len(content), *(cut % (len(content) + 1) for cut in cuts)})
    for begin, end in pairwise(places):
        reader.feed(content[begin:end])
    return reader.page()


def lines_of(content: bytes) -> list[bytes]:
    *ended, last = content.split(b"\n")
    return [*ended, last] if last else ended


@given(st.lists(PIECES, max_size=40).map(b"".join), st.integers(1, 12), st.integers(1, 12), st.lists(st.integers(0)))
def test_a_page_is_the_same_however_the_file_is_cut_in_chunks(content: bytes, first: int, most: int, cuts: list[int]):
    lines = lines_of(content)
    page = paged(content, first, most, *cuts)
    wanted = lines[first - 1 : first - 1 + most]
    after = first + len(wanted)

    assert page.lines == len(lines)
    assert page.read == len(wanted)
    assert page.next_line == (after if wanted and after <= len(lines) else None)
    for number, (shown, line) in enumerate(zip(page.content.split("\n"), wanted, strict=False), first):
        if len(line) <= MOST_LINE_BYTES:
            assert shown == f"{number}\t{line.decode(errors='replace')}".replace("\0", "\ufffd")


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=60))
def test_pages_after_each_other_have_every_line_once(sizes: list[int]):
    content = b"".join(b"%d" % place + b"x" * size + b"\n" for place, size in enumerate(sizes))
    numbers: list[int] = []
    first: int | None = 1
    while first is not None:
        page = paged(content, first, MOST_LINES)
        assert len(page.content.encode()) <= MOST_PAGE_BYTES
        numbers += [int(line.split("\t")[0]) for line in page.content.split("\n")]
        first = page.next_line

    assert numbers == list(range(1, len(sizes) + 1))


@given(st.integers(0, 4), st.sampled_from(["é", "€", "😀"]))
def test_a_long_line_is_cut_between_characters_and_says_how_much_is_missing(before: int, character: str):
    line = b"x" * before + character.encode() * 1000
    page = paged(line, 1, 1)
    text, _, said = page.content.removeprefix("1\t").partition(" [")

    assert not page.is_lossy
    assert set(text) <= {"x", character}
    assert MOST_LINE_BYTES - 3 <= len(text.encode()) <= MOST_LINE_BYTES
    assert said == f"{len(line) - len(text.encode())} more bytes of this line are not shown]"


def test_no_lines_are_no_error():
    assert paged(b"", 1, 10) == Page("", 0, 0, None, False)


def test_more_than_the_most_lines_are_never_on_a_page():
    page = paged(b"\n" * 3000, 1, 10_000)

    assert (page.read, page.next_line, page.lines) == (MOST_LINES, MOST_LINES + 1, 3000)
