"""The last bytes of a terminal, for readers of any speed."""

from hypothesis import given
from hypothesis import strategies as st

from chatd.agent.terminals.scrollback import KEPT_BYTES, Scrollback

_PATTERN = bytes(range(251))


@given(st.lists(st.tuples(st.integers(0, 100_000), st.booleans()), max_size=30))
def test_a_reader_gets_every_byte_in_order_or_is_told_how_many_are_lost(steps: list[tuple[int, bool]]):
    scrollback = Scrollback()
    written = bytearray()
    number = scrollback.beginning()
    for size, reads in steps:
        chunk = (_PATTERN * (size // 251 + 2))[len(written) % 251 :][:size]
        scrollback.append(chunk)
        written += chunk
        assert scrollback.total - scrollback.first <= 2 * KEPT_BYTES
        while reads and number < scrollback.total:
            lost, got = scrollback.after(number)
            assert got == written[number + lost : number + lost + len(got)]
            assert got
            assert not lost or number + lost == scrollback.first
            number += lost + len(got)


def test_a_new_reader_begins_with_a_whole_line_where_some_was_dropped():
    scrollback = Scrollback()
    scrollback.append(b"0123456789\n" * 60_000)
    _, chunk = scrollback.after(scrollback.beginning())

    assert chunk.startswith(b"0123456789\n")
    assert scrollback.beginning() - scrollback.first < 11
