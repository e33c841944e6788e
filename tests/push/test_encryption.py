"""Messages that only one browser can read, and who they come from: by the examples of the standards."""

from base64 import urlsafe_b64decode
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.secret import Secret
from chatd.push.encryption import MOST_BYTES, BrowserKeys, base64url, encrypted, from_base64url, public_key
from chatd.push.vapid import PushKey, origin
from chatd.testing.push_server import Browser

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def private(text: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(from_base64url(text), "big"), ec.SECP256R1())


def test_the_example_of_rfc_8291_comes_out_byte_by_byte():
    keys = BrowserKeys(
        from_base64url("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
        Secret("BTBZMqHH6r4Tts7J_aSIgg"),
    )
    sent = encrypted(
        b"When I grow up, I want to be a watermelon",
        keys,
        own=private("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
        salt=from_base64url("DGv6ra1nlYgDCS1FRnbzlw"),
    )

    assert base64url(sent) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
        "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
        "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


@given(st.binary(max_size=MOST_BYTES))
def test_the_browser_reads_what_was_sent_and_no_two_messages_look_alike(message: bytes):
    browser = Browser("https://push.example.com/x")
    given_keys = browser.subscription()
    keys = BrowserKeys(from_base64url(given_keys["p256dh_key"]), Secret(given_keys["auth_key"]))
    sent = encrypted(message, keys)

    assert browser.decrypt(sent) == message
    assert encrypted(message, keys) != sent
    assert len(sent) <= 4096


def test_a_message_that_no_push_server_would_take_is_refused():
    browser = Browser("https://push.example.com/x").subscription()
    keys = BrowserKeys(from_base64url(browser["p256dh_key"]), Secret(browser["auth_key"]))

    with pytest.raises(ValueError, match="too long"):
        encrypted(bytes(MOST_BYTES + 1), keys)


@pytest.mark.parametrize("point", [b"", b"\x04" * 65, b"\x04" + bytes(64), bytes(65), b"\x03" + bytes(31) + b"\x05"])
def test_what_is_no_point_of_the_curve_is_no_key(point: bytes):
    with pytest.raises(ValueError, match=r"\w"):
        public_key(point)


@pytest.mark.parametrize("text", ["a", "a b=", "++//", "é", "YQ==x"])
def test_what_is_no_base64url_is_refused(text: str):
    with pytest.raises(ValueError, match=r"\w"):
        from_base64url(text)


@given(st.binary(max_size=100))
def test_base64url_is_read_with_and_without_padding(data: bytes):
    text = base64url(data)

    assert from_base64url(text) == data
    assert from_base64url(text + "=" * (-len(text) % 4)) == data


def test_a_stored_key_pair_is_the_same_one_again():
    key = PushKey.new()
    again = PushKey.read(key.stored())

    assert again.public == key.public
    assert len(from_base64url(key.public)) == 65


def test_a_statement_names_the_push_server_and_whom_to_write_to_and_nothing_of_the_endpoint():
    header = PushKey.new().authorization(
        "https://Push.Example.com:8443/secret?x=1", contact="mailto:ada@example.com", now=NOW
    )
    claims: Any = msgspec.json.decode(_decoded(header.split(".")[1]))

    assert claims == {
        "aud": "https://push.example.com:8443",
        "exp": int(NOW.timestamp()) + 12 * 3600,
        "sub": "mailto:ada@example.com",
    }


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        ("https://push.example.com/secret?x#y", "https://push.example.com"),
        ("https://PUSH.example.com:443/secret", "https://push.example.com"),
        ("https://push.example.com:8443/secret", "https://push.example.com:8443"),
        ("https://[2a00::1]/secret", "https://[2a00::1]"),
    ],
)
def test_of_an_endpoint_only_the_origin_is_no_secret(endpoint: str, expected: str):
    assert origin(endpoint) == expected


def _decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
