"""Output within bounds, against a model that has the whole of it at hand."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.agent.processes import head_tail
from chatd.agent.processes.head_tail import LEAST_BYTES, LINE_BYTES, MOST_BYTES, HeadTail, Kept


def _prefix(text: str, most: int) -> str:
    """The longest beginning of at most that many bytes."""
    return text.encode()[: max(0, most)].decode(errors="ignore")


def _suffix(text: str, most: int) -> str:
    shortened = text.encode()[-most:] if most else b""
    while shortened and shortened[0] & 0xC0 == 0x80:
        shortened = shortened[1:]
    return shortened.decode()


def _model(output: bytes, most_bytes: int) -> tuple[str, int, int]:
    """The rule, word by word: lines first, then head and tail. Cuts are kept by their place in the text."""
    text = output.decode("utf-8", "replace")
    kept, cuts = "", dict[int, int]()
    for place, line in enumerate(text.split("\n")):
        kept += ("\n" if place else "") + (short := _prefix(line, LINE_BYTES))
        if short != line:
            cuts[len(kept)] = len(line.encode()) - len(short.encode())
    side = head_tail._side(most_bytes)
    head = _prefix(kept, side)
    rest = kept[len(head) :]
    tail = rest if len(rest.encode()) <= side else _suffix(rest, side)
    starts = len(kept) - len(tail)

    def marked(begin: int, end: int, cut_at_begin: bool) -> tuple[str, int]:
        parts, at, count = list[str](), begin, 0
        for cut_at in sorted(cuts):
            if (begin < cut_at or (cut_at_begin and cut_at == begin)) and cut_at <= end:
                parts += [kept[at:cut_at], f" ... [{cuts[cut_at]} bytes of this line are left out]"]
                at = cut_at
                count += cuts[cut_at]
        return "".join([*parts, kept[at:end]]), count

    total = len(text.encode())
    if starts == len(head):
        shown, cut = marked(0, len(kept), True)
        return shown, total, cut
    first, cut_first = marked(0, len(head), True)
    last, cut_last = marked(starts, len(kept), False)
    gap = total - len(head.encode()) - len(tail.encode()) - cut_first - cut_last
    return f"{first}\n\n[{gap} bytes are left out here]\n\n{last}", total, gap + cut_first + cut_last


_letters = st.sampled_from(["a", "\n", "é", "日", "🙂", "\r"])
_pieces = st.one_of(
    st.text(_letters, max_size=40).map(str.encode),
    st.builds(lambda letter, count: letter.encode() * count, _letters, st.integers(0, 30_000)),
    st.builds(lambda line, count: line.encode() * count, st.just("one line of output\n"), st.integers(0, 3000)),
    st.builds(lambda count: b"x" * count + b"\n", st.integers(LINE_BYTES - 3, LINE_BYTES + 3)),
    st.binary(max_size=64),
)


def _kept(output: bytes, cut_at: list[int]) -> Kept:
    buffer = HeadTail()
    places = sorted({place % (len(output) + 1) for place in cut_at} | {0, len(output)})
    for begin, end in pairwise(places):
        buffer.append(output[begin:end])
    buffer.close()
    return buffer.kept()


@pytest.mark.behaviour("PROC-5")
@settings(max_examples=300, deadline=None)
@given(
    pieces=st.lists(_pieces, max_size=8),
    cut_at=st.lists(st.integers(0, 2**31), max_size=12),
    most_bytes=st.one_of(st.just(MOST_BYTES), st.integers(LEAST_BYTES, MOST_BYTES)),
)
def test_what_is_kept_is_what_the_rule_says_of_the_whole(pieces: list[bytes], cut_at: list[int], most_bytes: int):
    output = b"".join(pieces)
    shown = _kept(output, cut_at).shown(most_bytes)

    assert (shown.text, shown.total, shown.omitted) == _model(output, most_bytes)
    assert len(shown.text.encode()) <= most_bytes


@pytest.mark.behaviour("PROC-5")
@given(st.text(_letters, max_size=2000), st.lists(st.integers(0, 2**31), max_size=12))
def test_nothing_is_added_where_nothing_is_lost(text: str, cut_at: list[int]):
    shown = _kept(text.encode(), cut_at).shown()

    assert shown.text == text
    assert shown.omitted == 0


@pytest.mark.behaviour("PROC-5")
def test_a_line_without_end_leaves_room_for_what_comes_after():
    buffer = HeadTail()
    buffer.append(b"before\n")
    for _ in range(1000):
        buffer.append(b"x" * 10_000)
    buffer.append(b"\nafter\n")
    shown = buffer.kept().shown()

    assert shown.text.startswith("before\nxxx")
    assert shown.text.endswith("[9997952 bytes of this line are left out]\nafter\n")
    assert shown.omitted == 9_997_952
    assert shown.total == 10_000_014


@pytest.mark.behaviour("PROC-5")
def test_half_a_character_is_shown_once_its_other_half_is_there():
    buffer = HeadTail()
    buffer.append("é".encode()[:1])
    assert buffer.kept().shown().text == ""
    buffer.append("é".encode()[1:])
    assert buffer.kept().shown().text == "é"
    buffer.append("é".encode()[:1])
    buffer.close()
    assert buffer.kept().shown().text == "é\ufffd"
