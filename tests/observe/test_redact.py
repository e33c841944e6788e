"""Planted secrets never come out, wherever they stand."""

import dataclasses
import subprocess
import sys

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chatd.core.secret import Secret
from chatd.observe.redact import DOTS, TEXT_LIMIT, is_secret_name, redact, redact_text

WORD = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=20, max_size=40)
NAMES = st.sampled_from(
    ["password", "token", "secret", "authorization", "cookie", "api_key", "key", "session", "accessToken", "X-Api-Key"]
)
FILLER = st.text(st.characters(codec="utf-8"), max_size=200)


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "db_password",
        "token",
        "session_token",
        "Authorization",
        "set-cookie",
        "apiKey",
        "encryption_key",
        "session",
        "session_id",
        "dsn",
        "client_secret_value",
        "X-API-Key",
    ],
)
def test_a_name_like_a_secret_hides_its_value(name: str):
    assert redact({name: "plain"}) == {name: DOTS}


@pytest.mark.parametrize("name", ["token_id", "key_id", "input_tokens", "monkey_count", "path", "tokenizer", "user_id"])
def test_other_names_show_theirs(name: str):
    assert not is_secret_name(name)


@given(
    secret=WORD,
    name=NAMES,
    filler=FILLER,
    form=st.sampled_from(
        [
            "{name}={secret}",
            "{name}: {secret}",
            "'{name}': '{secret}'",
            '{{"{name}": "{secret}"}}',
            "Authorization: Bearer {secret}",
            "https://someone:{secret}@host.example/path?x=1",
            "postgresql://chatd:{secret}@/chatd?host=/run",
            "the token chatd_{secret} is wrong",
            "Incorrect API key provided: sk-{secret}",
            "Cookie: theme=dark; sid={secret}",
            "set-cookie: sid={secret}; Path=/; HttpOnly",
            'Authorization: Digest username="ada", response="{secret}"',
            "authorization: Negotiate {secret}",
            "[(b'authorization', b'Digest ada {secret}'), (b'cookie', b'a=1; sid={secret}')]",
            "{{'authorization': 'Digest ada, response={secret}'}}",
            "password: correct horse {secret}",
            "chatd serve --admin-password {secret} --port 1",
            "nats://{secret}@nats.example:4222",
            "nats://one:4222,nats://{secret}@two:4222",
            "the hash is $argon2id$v=19$m=65536,t=3,p=4${secret}$c29tZQ",
        ]
    ),
    nesting=st.sampled_from([lambda x: x, lambda x: [x], lambda x: {"a": {"b": (x,)}}, ValueError]),
)
def test_a_planted_secret_never_appears(secret, name, filler, form, nesting):
    assume(secret not in filler)
    text = f"{filler} {form.format(name=name, secret=secret)} {filler}"

    assert secret not in repr(redact(nesting(text)))


CODE = st.lists(st.text("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", min_size=4, max_size=4), min_size=4, max_size=4)


@given(code=CODE.map("-".join), form=st.sampled_from(["{}", "Use {}.", "the code {} is wrong", "/first?c={}"]))
def test_a_setup_code_never_appears(code: str, form: str):
    assert code not in redact_text(form.format(code))


@pytest.mark.parametrize(
    "text",
    [
        "the password is wrong",
        "0190B2C4-AAAA-7BBB-8CCC-DDDDEEEEFFFF was not found",
        "GET https://example.com/@ada at 5",
        "some-word-with-four",
        "costs $5",
    ],
)
def test_what_is_no_secret_stays(text: str):
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "piece", ["://:", "://x:", "@://:", "eyJaaaaaaaa-", "password", "key ", "--key-", "AAAA-", "'"]
)
def test_no_text_takes_longer_than_its_length_explains(piece: str):
    """Where time grew with the square of the length, this much text would take minutes."""
    code = (
        f"from chatd.observe.redact import redact_text; redact_text({piece!r} * (400_000 // {len(piece)}), limit=10**6)"
    )

    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@given(secret=WORD, name=NAMES, before=st.integers(TEXT_LIMIT - 60, TEXT_LIMIT + 20), keep=st.booleans())
def test_cutting_leaves_no_half_of_a_secret(secret, name, before, keep):
    text = "x" * before + f" {name}={secret} " + "y" * (before if keep else 9000)
    shown = redact_text(text, keep_lines=keep)

    assert all(secret[start : start + 8] not in shown for start in range(0, len(secret) - 8, 4))


@given(
    st.recursive(
        st.none() | st.integers() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_is_redacted_can_be_written_as_json(value):
    msgspec.json.encode(redact(value))


def test_long_text_is_cut_with_a_count():
    shown = redact_text("a b " * 10_000)

    assert len(shown) < TEXT_LIMIT + 40
    assert shown.endswith(f"({40_000 - TEXT_LIMIT} more characters)")


def test_a_traceback_keeps_its_end():
    assert redact_text("line\n" * 10_000 + "ValueError: here", limit=100, keep_lines=True).endswith("ValueError: here")


def test_a_text_can_not_start_a_new_log_line():
    assert "\n" not in redact_text("fine\n2026-01-01 [error] forged\r\n\x1b[31m")


def test_secrets_structs_and_other_objects_show_no_secret():
    class Login(msgspec.Struct):
        email: str
        password: str

    @dataclasses.dataclass
    class Other:
        api_key: str

    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    shown = repr(redact([Secret("hidden-1"), Login("a@b.c", "hidden-2"), Other("hidden-3"), Broken(), b"hidden-4"]))

    assert "hidden" not in shown
    assert "a@b.c" in shown


def test_depth_and_size_are_bounded():
    cycle: list[object] = []
    cycle.append(cycle)

    assert "…" in repr(redact(cycle))
    assert len(redact(list(range(1000)))) < 60
    assert len(redact({str(number): number for number in range(1000)})) < 60
