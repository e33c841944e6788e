"""What a user, a password and a token may look like."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core import people, throttle
from chatd.core.errors import InvalidRequest
from chatd.core.tokens import hash_setup_code, looks_like_token
from chatd.minting import new_setup_code, new_token, uuid7
from store.world import NOW


def wrong_fields(call: object) -> list[str]:
    assert callable(call)
    with pytest.raises(InvalidRequest) as caught:
        call()
    return [validation.field for validation in caught.value.validations]


def test_a_usual_profile_is_fine():
    people.check_profile(email="ada@example.com", username="ada.l-1", display_name="Ada Lovelace 🦉")


@pytest.mark.parametrize("email", ["", "a", "a@", "@b", "a b@c", "a@b@c", "x" * 251 + "@b.c", "a\0@b.c", "a@b\ud800"])
def test_a_bad_email_is_named(email: str):
    assert wrong_fields(lambda: people.check_profile(email=email, username="ada", display_name="")) == ["email"]


@pytest.mark.parametrize("username", ["", "-a", "a-", "a b", "a@b", "x" * 33, "me", "First", "ünal", "a\n"])
def test_a_bad_username_is_named(username: str):
    assert wrong_fields(lambda: people.check_profile(email="a@b", username=username, display_name="")) == ["username"]


def test_all_wrong_fields_are_named_at_once():
    asked = wrong_fields(lambda: people.check_profile(email="", username="", display_name="\0"))

    assert asked == ["email", "username", "display_name"]


@pytest.mark.parametrize("password", ["", "short", "x" * 1025, "Password1", "ok-but-broken-\ud800"])
def test_a_bad_password_is_refused(password: str):
    assert wrong_fields(lambda: people.check_password(password)) == ["password"]


def test_a_long_plain_password_is_fine():
    people.check_password("correct horse battery staple")


@pytest.mark.parametrize(("name", "scopes"), [("", ["*:*"]), ("x" * 65, ["*:*"]), ("t", []), ("t", ["chat:fly"])])
def test_a_bad_token_request_is_refused(name: str, scopes: list[str]):
    with pytest.raises(InvalidRequest):
        people.check_token(name=name, scopes=scopes)


def test_tokens_and_codes_look_like_themselves():
    assert looks_like_token(new_token().reveal())
    assert not looks_like_token("Bearer x")
    assert len(new_setup_code().reveal()) == 19


def test_a_setup_code_can_be_typed_sloppily():
    assert hash_setup_code("abcd efgh-JKLM npqr") == hash_setup_code("ABCD-EFGH-JKLM-NPQR")


def test_ids_sort_in_the_order_they_were_minted_in():
    minted = [uuid7(NOW) for _ in range(1000)]

    assert minted == sorted(minted)
    assert len(set(minted)) == len(minted)
    assert {id.version for id in minted} == {7}


@given(st.text(min_size=4, max_size=50))
def test_the_throttle_does_not_keep_what_was_typed(login: str):
    assert all(login.lower() not in subject.name for subject in throttle.by_login(login, "192.0.2.1")[2:])


def test_a_good_login_clears_the_account_but_not_the_address_that_others_share():
    cleared = {subject.name.partition(":")[0]: subject.is_cleared for subject in throttle.by_login("ada", "192.0.2.1")}

    assert cleared == {"pair": True, "address": False, "account": True}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("", "unix", False),
    ],
)
def test_one_subscriber_counts_as_one(one: str, other: str, same: bool):
    assert (throttle.subscriber(one) == throttle.subscriber(other)) is same


@pytest.mark.parametrize("username", ["0" * 32, "01a1dd058a6a7bf08154ac0d27da116f"])
def test_a_username_that_reads_as_an_id_is_refused(username: str):
    assert wrong_fields(lambda: people.check_profile(email="a@b", username=username, display_name="")) == ["username"]


def test_the_web_app_says_the_same_of_names():
    said = (Path(__file__).parents[2] / "web/src/words/en/setup.ts").read_text()
    assert f'"{people.NAME_RULE}."' in said
