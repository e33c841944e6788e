"""What is shown of a vendor's own words: short, on one line, without secrets; and the status that words may hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.failure import (
    FailureKind,
    Fault,
)
from chatd.core.failure.detail import DETAIL_LIMIT, one_clean_line
from core.failing import answer, failure


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET https://ada:pw@api.test/v1/models?key=abc#top failed", "GET https://api.test/v1/models failed"),
        ("see https://api.test:8443/path#part.", "see https://api.test:8443/path"),
        ("at wss://me:p/w?d@api.test/x", "at wss://api.test/x"),
        ("Incorrect API key provided: sk-proj-abc***wxyz.", "Incorrect API key provided: •••"),
        ("bad token AIzaSyA1234567890abcdefg here", "bad token ••• here"),
        ("header Authorization: Bearer abc.def was refused", "header Authorization: ••• was refused"),
        ('{"password": "correct horse, battery"}', '{"password": •••}'),
        ('{"api_key": "hunter2hunter2"}', '{"api_key": •••}'),
        ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln today", "got ••• today"),
        ("key 0123456789abcdef0123456789abcdef rejected", "key ••• rejected"),
        ("id Zq3" + "xYz4" * 10 + " seen", "id ••• seen"),
        (
            "path accounts/fireworks/models/llama-v3-405b-instruct",
            "path accounts/fireworks/models/llama-v3-405b-instruct",
        ),
        ("max_tokens: 70000 > 64000, the most", "max_tokens: 70000 > 64000, the most"),
        ("model claude-sonnet-4-5-20250929 is gone", "model claude-sonnet-4-5-20250929 is gone"),
        ("Bad gateway: <!DOCTYPE html><html><body>cf</body></html>", "Bad gateway:"),
        ("x <HTML lang=en>", "x"),
        ("use <html5> or <bodyguard>", "use <html5> or <bodyguard>"),
        ("key ABSKQmVkcm9jay1hcGk= is over", "key •••= is over"),
        ("key nvapi-abcdef_ghij is over", "key ••• is over"),
        ("x-amz-security-token:IQoJb3JpZ2luX2Vj signed", "x-amz-security-token:••• signed"),
        ("two\nlines\tand\x00controls\u2028here\ud800", "two lines and controls here"),
    ],
)
def test_a_detail_is_one_line_without_secrets(text: str, shown: str):
    assert one_clean_line(text) == shown


def test_a_detail_is_cut_to_five_hundred_characters_and_never_in_a_secret():
    cleaned = one_clean_line("x " * 246 + "sk-" + "a1B" * 500)

    assert len(cleaned) <= DETAIL_LIMIT
    assert "sk-" not in cleaned
    assert len(one_clean_line("word " * 1000)) == DETAIL_LIMIT
    assert one_clean_line("word " * 1000).endswith("…")


@given(st.text())
def test_a_clean_line_is_always_one_short_storable_line(text: str):
    cleaned = one_clean_line(text)

    assert len(cleaned) <= DETAIL_LIMIT
    assert cleaned == cleaned.strip()
    assert len(cleaned.splitlines()) <= 1
    assert "\0" not in cleaned
    assert cleaned.encode().decode() == cleaned


KEYS = ["sk-ant-api03-" + "Zx9_" * 20, "AIza" + "Sy4k" * 9, "AKIA" + "Q7" * 8, "gsk_" + "aB3" * 17, "0a1b2c3d" * 4]


@given(
    st.sampled_from(KEYS),
    st.text(max_size=600),
    st.sampled_from([" ", "\n", ": ", "=", '"', "(", "https://", "/"]),
    st.text(),
)
def test_a_key_is_never_shown_wherever_it_stands(key: str, before: str, sign: str, after: str):
    text = f"{before}{sign}{key} {after}"
    shown = [failure(text=text, provider=text), answer(400, {"error": {"message": text}}), answer(401, {"error": text})]

    assert not [found for found in shown if key[5:] in found.detail + found.message + found.provider]


def test_a_stack_trace_is_never_shown():
    trace = 'Traceback (most recent call last):\n  File "/srv/x.py", line 1, in f\n    g()\nOSError: broken pipe\n'

    found = failure(text=trace)

    assert (found.rule, found.detail) == ("words_unavailable", "OSError: broken pipe")


def test_the_body_gives_the_detail_before_the_raw_text():
    assert answer(500, {"error": {"message": "from the body"}}, text="raw").detail == "from the body"
    assert failure(status_code=500, text="raw").detail == "raw"
    assert failure(status_code=502, body="first\nsecond", content_type="text/plain").detail == "first"
    assert failure(status_code=502, body="<html>nginx</html>", content_type="text/html").detail == ""


def test_the_raw_text_of_an_auth_failure_is_not_shown():
    assert failure(status_code=401, text="secretly odd: hunter2").detail == ""
    assert answer(401, {"error": {"message": "invalid key"}}).detail == "invalid key"


def test_the_error_that_a_gateway_quotes_is_read():
    inner = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    quoted = f'POST "https://api.test/v1/messages": 529 {json.dumps(inner)}'

    found = answer(500, {"message": quoted})

    assert (found.kind, found.detail) == (FailureKind.OVERLOADED, "Overloaded")
    assert answer(500, {"message": 'GET "x": 500 {"a": 1}'}).detail == 'GET "x": 500 {"a": 1}'


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("unexpected status code: 503", 503),
        ("HTTP 429", 429),
        ("HTTP/1.1 502 Bad Gateway", 502),
        ("Error code: 529 - {'type': 'error'}", 529),
        ('POST "https://gateway.test/v1/messages": 401 Unauthorized', 401),
        ("upstream said 503 Service Unavailable", 503),
        ("failed with 500", 500),
    ],
)
def test_a_status_is_found_in_words_when_there_is_none(text: str, status: int):
    assert failure(text=text).status_code == status


@pytest.mark.parametrize(
    "text",
    [
        "dial tcp 10.0.0.1:503: refused",
        "stream error: stream ID 429; PROTOCOL_ERROR",
        "at most 500 characters are allowed",
        "model-500 is gone",
        "took 4290 ms",
        "costs $500",
    ],
)
def test_a_port_a_stream_and_a_count_are_no_status(text: str):
    assert failure(text=text).status_code is None


def test_a_status_in_words_does_not_count_beside_better_evidence():
    assert failure(text="status 500", status_code=404).status_code == 404
    assert failure(text="status 500", fault=Fault.TLS).status_code is None
    assert failure(text="status 500", error_code="invalid_request_error").kind is FailureKind.CONFIG
