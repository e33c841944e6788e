"""Texts that are too long: head and tail are kept, never too many bytes, never half a character."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.cut import cut_middle, json_bytes, utf8_bytes
from chatd.core.valid_text import holds_half_characters, valid_json_text, valid_text

# With halves of characters, and with what JSON has to escape.
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from('\ud800\udc00\x00\x01\n"\\é€😀')))
LONG = st.builds(lambda text, times: text * times, TEXTS, st.integers(1, 200))
WEIGHTS = st.sampled_from([utf8_bytes, json_bytes])


@given(LONG, st.integers(0, 5000), WEIGHTS, st.sampled_from(["", "Ask for less."]))
def test_a_cut_text_is_never_over_its_budget_and_always_valid(text: str, most: int, weigh, hint: str):
    cut = cut_middle(text, most, hint=hint, weigh=weigh)

    assert weigh(cut.text) <= most
    cut.text.encode()


@given(LONG, st.integers(0, 5000), WEIGHTS)
def test_a_text_that_fits_is_whole_and_one_that_does_not_says_so(text: str, most: int, weigh):
    cut = cut_middle(text, most, weigh=weigh)
    whole = valid_text(text)

    fits = weigh(whole) <= most
    assert (cut.text == whole) is fits or not whole
    assert (cut.removed == 0) is fits
    assert 0 <= cut.removed <= utf8_bytes(whole)


@given(LONG, st.integers(513, 5000), WEIGHTS)
def test_what_is_kept_is_the_head_and_the_tail(text: str, most: int, weigh):
    cut = cut_middle(text, most, weigh=weigh)
    whole = valid_text(text)
    if not cut.removed:
        return

    head, _, tail = cut.text.partition(f"\n\n[{cut.removed} bytes are left out here.]\n\n")
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert utf8_bytes(head) + utf8_bytes(tail) + cut.removed == utf8_bytes(whole)


@pytest.mark.parametrize(("weigh", "char"), [(utf8_bytes, "x"), (utf8_bytes, "é"), (json_bytes, "\x01")])
def test_two_thirds_are_of_the_head_and_one_of_the_tail(weigh, char: str):
    cut = cut_middle("a" + char * 100_000 + "z", 16 * 1024, weigh=weigh)

    head, tail = (weigh(piece.strip("\n")) for piece in cut.text.split(f"[{cut.removed} bytes are left out here.]"))
    room = 16 * 1024 - 256
    assert room * 2 / 3 - 8 <= head <= room * 2 / 3
    assert room / 3 - 8 <= tail <= room / 3
    assert cut.text[0] == "a"
    assert cut.text[-1] == "z"


def test_a_tiny_budget_keeps_the_head_alone():
    assert cut_middle("x" * 1000, 512).text == "x" * 512
    assert cut_middle("😀" * 1000, 10).text == "😀😀"
    assert cut_middle("text", 0).text == ""


def test_the_longest_hint_has_room():
    cut = cut_middle("x" * 10**7, 513, hint="h" * 100)

    assert len(cut.text) <= 513
    assert "h" * 100 in cut.text


@given(TEXTS)
def test_a_valid_text_is_left_alone_and_any_other_gets_replacement_characters(text: str):
    made = valid_text(text)

    made.encode()
    try:
        text.encode()
    except UnicodeEncodeError:
        assert valid_text(made) == made
    else:
        assert made is text


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a\ud83d", "a\ufffd"),
        ("\ude00a", "\ufffda"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d\ud83d\ude00", "\ufffd😀"),
        (b"caf\xe9".decode("utf-8", "surrogateescape"), "caf\ufffd"),
        ("\ufeffx", "\ufeffx"),
    ],
)
def test_halves_that_belong_together_become_a_character_and_others_a_mark(text: str, made: str):
    assert valid_text(text) == made


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (r'{"a":"\ud83d"}', r'{"a":"\ufffd"}'),
        (r'{"a":"\uDE00x"}', r'{"a":"\ufffdx"}'),
        (r'{"a":"\ud83d\ude00"}', r'{"a":"\ud83d\ude00"}'),
        (r'{"a":"\\ud83d"}', r'{"a":"\\ud83d"}'),
        (r'{"a":"\\\ud83d"}', r'{"a":"\\\ufffd"}'),
        (r'{"a":"\ud83d\ud83d\ude00"}', r'{"a":"\ufffd\ud83d\ude00"}'),
        ('{"a":"\ud83d"}', '{"a":"\ufffd"}'),
    ],
)
def test_halves_that_json_spells_out_are_found_too(text: str, made: str):
    assert valid_json_text(text) == made
    assert holds_half_characters(text) is (text != made)
    assert not holds_half_characters(made)
    msgspec.json.decode(made)
