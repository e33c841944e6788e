"""The outbox keeps order, keeps each hint once, and never grows beyond its bounds."""

from hypothesis import given
from hypothesis import strategies as st

from chatd.store.hints.outbox import BYTE_LIMIT, HINT_LIMIT, TAKE_BYTES, Outbox
from chatd.store.hints.subscribers import Hint


def drained(outbox: Outbox) -> list[Hint]:
    hints: list[Hint] = []
    while outbox:
        hints += outbox.take()[1]
    return hints


@given(st.lists(st.builds(Hint, st.sampled_from("abc"), st.sampled_from([b"", b"1"]))))
def test_each_waiting_hint_leaves_once_in_the_order_of_its_first_publication(published: list[Hint]):
    outbox = Outbox()
    for hint in published:
        outbox.add(hint)
    assert drained(outbox) == list(dict.fromkeys(published))


def test_what_could_not_be_sent_leaves_first_next_time():
    outbox = Outbox()
    outbox.add(Hint("a"))
    dropped, taken = outbox.take()
    outbox.add(Hint("b"))
    outbox.add(Hint("a"))
    outbox.put_back(dropped, taken)
    assert drained(outbox) == [Hint("a"), Hint("b")]


def test_too_many_hints_are_thrown_away_and_that_is_remembered():
    outbox = Outbox()
    for number in range(HINT_LIMIT + 1):
        outbox.add(Hint(str(number)))
    outbox.add(Hint("after"))
    assert outbox.take() == (True, [Hint("after")])
    assert not outbox


def test_too_many_bytes_are_thrown_away_also_when_they_come_back_from_a_failed_send():
    outbox = Outbox()
    large = [Hint(str(number), bytes(1_000_000)) for number in range(BYTE_LIMIT // 1_000_000)]
    outbox.put_back(False, large)
    assert outbox.dropped


def test_no_more_is_taken_at_once_than_one_answer_is_worth_waiting_for():
    outbox = Outbox()
    for number in range(5):
        outbox.add(Hint(str(number), bytes(TAKE_BYTES // 2 - 1)))
    assert [len(outbox.take()[1]) for _ in range(3)] == [2, 2, 1]
    assert not outbox
