"""Any text can be stored in Postgres and read back."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.stored_text import escape, unescape
from core.part_strategies import TEXTS

pytestmark = pytest.mark.behaviour("CONTENT-7")

ALL_CHARACTERS = "".join(map(chr, range(sys.maxunicode + 1)))


@given(TEXTS)
def test_every_text_comes_back(text: str):
    assert unescape(escape(text)) == text


@given(TEXTS)
def test_the_stored_form_is_utf_8_without_nul(text: str):
    assert b"\0" not in escape(text).encode("utf-8", "strict")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ue000")))
def test_ordinary_text_is_stored_as_it_is(text: str):
    assert escape(text) == text
    assert unescape(text) == text


def test_every_character_comes_back():
    assert unescape(escape(ALL_CHARACTERS)) == ALL_CHARACTERS


@given(TEXTS)
def test_any_stored_text_can_be_read(stored: str):
    unescape(stored)


@given(st.binary())
def test_bytes_come_back_through_surrogateescape(raw: bytes):
    text = raw.decode("utf-8", "surrogateescape")

    assert unescape(escape(text)).encode("utf-8", "surrogateescape") == raw


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("a\0b", "a\ue000\ue001b"),
        ("\ue000", "\ue000\ue000"),
        ("\ue000\ue001", "\ue000\ue000\ue001"),
        ("\ud800\udfff", "\ue000\ue800\ue000\uefff"),
    ],
)
def test_the_escapes_are_these_for_ever(text: str, stored: str):
    """Rows are written with them."""
    assert escape(text) == stored
    assert unescape(stored) == text


def test_an_escape_that_nobody_wrote_stays():
    assert unescape("a\ue000b\ue000") == "a\ue000b\ue000"
