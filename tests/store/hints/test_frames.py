"""Frames carry any hints in order, and what is missing or damaged is noticed and bounded."""

import random

from hypothesis import example, given
from hypothesis import strategies as st

from chatd.store.hints import frames as hint_frames
from chatd.store.hints.frames import PARTIAL_LIMIT, PARTIAL_SECONDS, Cutter, Joiner, Missing, Piece
from chatd.store.hints.subscribers import Hint

LIMIT = 512  # a small frame, so that small payloads are cut too
LARGE = Hint("chat:large", bytes(range(256)) * 10)

hints = st.builds(
    Hint, st.text(min_size=1, max_size=200).filter(lambda t: len(t.encode()) <= 200), st.binary(max_size=3000)
)


def joined(frames: list[bytes], joiner: Joiner | None = None, now: float = 0) -> list[Hint | Missing]:
    joiner = joiner or Joiner()
    return [arrived for frame in frames for arrived in joiner.feed(frame, now)]


@given(st.lists(hints), st.integers(300, 6000))
def test_hints_of_any_size_come_out_as_they_went_in(sent: list[Hint], limit: int):
    frames = Cutter(b"me").cut(sent, dropped=False, limit=limit)
    assert all(len(frame) <= limit for frame in frames)
    assert joined(frames) == sent


@given(st.lists(st.tuples(st.integers(0, 2), hints), max_size=20), st.randoms(use_true_random=False))
def test_frames_of_several_senders_may_arrive_interleaved(sent: list[tuple[int, Hint]], rng: random.Random):
    queues = [
        Cutter(bytes([n])).cut([hint for who, hint in sent if who == n], dropped=False, limit=LIMIT) for n in range(3)
    ]
    frames: list[bytes] = []
    while any(queues):
        frames.append(rng.choice([queue for queue in queues if queue]).pop(0))
    arrived = joined(frames)
    assert sorted(map(repr, arrived)) == sorted(repr(hint) for _, hint in sent)


@given(st.lists(st.binary(max_size=600)))
@example([b"\x91\xa4\x00\x00\x00\x80"])  # text that is no UTF-8
def test_bytes_that_are_no_frame_count_as_something_missed(noise: list[bytes]):
    assert all(isinstance(arrived, Hint | Missing) for arrived in joined(noise))
    assert joined([b"not a frame"]) == [Missing(None)]


def test_small_hints_share_a_frame():
    assert len(Cutter(b"me").cut([Hint(f"chat:{n}") for n in range(10)], dropped=False, limit=LIMIT)) == 1


def test_a_sender_that_dropped_hints_says_so_first():
    frames = Cutter(b"me").cut([Hint("a")], dropped=True, limit=LIMIT)
    assert joined(frames) == [Missing(None), Hint("a")]


def test_a_lost_piece_is_reported_once_for_its_topic_whichever_it_is():
    cutter = Cutter(b"me")
    count = len(cutter.cut([LARGE], dropped=False, limit=LIMIT))
    for lost in range(count):
        joiner = Joiner()
        frames = cutter.cut([LARGE], dropped=False, limit=LIMIT)
        del frames[lost]
        frames += cutter.cut([LARGE], dropped=False, limit=LIMIT)
        assert joined(frames, joiner) == [Missing(LARGE.topic), LARGE]


def test_a_last_piece_that_never_comes_is_reported_when_the_rest_is_old():
    joiner = Joiner()
    frames = Cutter(b"me").cut([LARGE], dropped=False, limit=LIMIT)[:-1]
    assert joined(frames, joiner, now=100) == []
    assert joiner.expire(100 + PARTIAL_SECONDS) == []
    assert joiner.expire(101 + PARTIAL_SECONDS) == [Missing(LARGE.topic)]
    assert joiner.expire(102 + PARTIAL_SECONDS) == []


def test_only_so_many_hints_may_be_incomplete_and_the_oldest_goes_first():
    joiner = Joiner()
    starts = [
        Cutter(b"%d" % n).cut([Hint(f"chat:{n}", bytes(1000))], dropped=False, limit=LIMIT)[0]
        for n in range(PARTIAL_LIMIT + 1)
    ]
    assert joined(starts, joiner) == [Missing("chat:0")]


def test_pieces_beyond_the_largest_payload_are_not_kept():
    joiner = Joiner()
    part = bytes(hint_frames.PAYLOAD_LIMIT // 2)
    frames = [hint_frames._encoder.encode(Piece(b"me", 1, index, 1_000_000, "chat:1", part)) for index in range(5)]
    assert joined(frames, joiner) == [Missing("chat:1")]
