"""Ids that follow from what a client calls its requests."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.errors import InvalidRequest
from chatd.core.request_keys import LONGEST, chat_id_of, check_key, fingerprint_of, send_id_of

IDS = st.uuids()
KEYS = st.text(min_size=1, max_size=20)


@given(IDS, IDS, KEYS, KEYS)
def test_a_chat_is_one_users_and_one_keys(one: UUID, other: UUID, key: str, another: str):
    assert chat_id_of(one, key) == chat_id_of(one, key)
    assert (chat_id_of(one, key) == chat_id_of(other, another)) == ((one, key) == (other, another))


@given(KEYS)
def test_an_id_is_one_for_its_purpose_and_says_that_it_was_hashed(key: str):
    ids = {chat_id_of(UUID(int=0), key), send_id_of(key), fingerprint_of(key.encode())}
    assert len(ids) == 3
    assert {(id.version, id.variant) for id in ids} == {(8, "specified in RFC 4122")}


def test_a_key_is_short_and_printable():
    for right in ("k", "a key", "x" * LONGEST):
        check_key(right)
    for wrong in ("", "x" * (LONGEST + 1), "a\n", "\u00e9", "\0"):
        with pytest.raises(InvalidRequest):
            check_key(wrong)
