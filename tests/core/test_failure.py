"""Every failure of a model call is told apart by its best evidence and told to people in plain words."""

import json
from typing import Any

import msgspec
import pytest

from chatd.core.failure import Failure, FailureKind, Fault, error_payload, with_provider
from core.failing import answer, failure, verdict


@pytest.mark.behaviour("ERR-1", "ERR-2")
@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "config", False),
        (401, "auth", False),
        (402, "usage_limit", False),
        (403, "auth", False),
        (404, "config", False),
        (408, "timeout", True),
        (413, "config", False),
        (422, "config", False),
        (429, "rate_limit", True),
        (500, "unknown", True),
        (502, "timeout", True),
        (503, "timeout", True),
        (504, "timeout", True),
        (524, "timeout", True),
        (529, "overloaded", True),
        (200, "unknown", False),
        (302, "config", False),
        (418, "unknown", False),
        (None, "unknown", False),
    ],
)
def test_a_bare_status_is_enough(status: int | None, kind: str, retryable: bool):
    found = failure(status_code=status)

    assert (found.kind, found.retryable) == (kind, retryable)
    assert found.status_code == (None if status == 200 else status)


@pytest.mark.parametrize("http2_code", [0, 2, 7, 8, 11])
def test_a_passing_http2_reset_is_retried(http2_code: int):
    assert verdict(fault=Fault.HTTP2_RESET, http2_code=http2_code) == (FailureKind.TIMEOUT, True)


@pytest.mark.behaviour("ERR-2")
@pytest.mark.parametrize("http2_code", [1, 3, 13, None])
def test_any_other_http2_reset_is_not_retried_whatever_its_words(http2_code: int | None):
    found = verdict(fault=Fault.HTTP2_RESET, http2_code=http2_code, text="connection reset, timeout")

    assert found == (FailureKind.UNKNOWN, False)


@pytest.mark.behaviour("ERR-5")
@pytest.mark.parametrize(
    "gone",
    [
        Fault.GOAWAY,
        Fault.CONNECTION_RESET,
        Fault.USE_OF_CLOSED_CONNECTION,
        Fault.CONNECT_FAILED,
        Fault.DNS,
        Fault.TIMED_OUT,
    ],
)
def test_a_connection_that_is_lost_is_retried(gone: Fault):
    found = with_provider(failure(fault=gone), "anthropic")

    assert (found.kind, found.retryable) == (FailureKind.TIMEOUT, True)
    assert found.message == "Anthropic is temporarily unavailable."


@pytest.mark.behaviour("ERR-5")
@pytest.mark.parametrize(
    "text",
    [
        "http2: server sent GOAWAY and closed the connection; LastStreamID=1999, ErrCode=NO_ERROR",
        "http2: client connection force closed via ClientConn.Close",
        "read tcp 10.1.2.3:55000->10.9.9.9:443: read: connection reset by peer",
        "[Errno 104] Connection reset by peer",
        "write tcp 10.1.2.3:55000: use of closed network connection",
    ],
)
def test_a_connection_that_is_lost_is_known_by_its_words_too(text: str):
    assert verdict(text=text) == (FailureKind.TIMEOUT, True)


@pytest.mark.behaviour("ERR-4")
@pytest.mark.parametrize(
    "closed",
    [
        {"fault": Fault.STREAM_CLOSED_EARLY, "status_code": 200},
        {"fault": Fault.STREAM_CLOSED_EARLY},
        {"text": "anthropic stream ended before message_stop"},
        {"text": "openai responses stream ended before terminal event"},
    ],
)
def test_a_stream_that_closes_before_its_terminal_event_is_a_retryable_timeout_that_says_so(closed: dict[str, Any]):
    found = failure(provider="openai", **closed)

    assert (found.kind, found.retryable, found.status_code) == (FailureKind.TIMEOUT, True, None)
    assert found.message == "OpenAI closed the stream before the answer was complete."


@pytest.mark.behaviour("ERR-1", "LOOP-11")
def test_silence_and_a_slow_start_are_kinds_of_their_own_and_retried():
    assert verdict(fault=Fault.STREAM_SILENCE, status_code=200) == (FailureKind.STREAM_SILENCE_TIMEOUT, True)
    assert verdict(fault=Fault.STARTUP_TIMEOUT) == (FailureKind.STARTUP_TIMEOUT, True)


def test_a_refusal_inside_of_a_stream_is_not_retried_for_the_connection_that_ends_with_it():
    assert verdict(error_type="invalid_request_error", fault=Fault.STREAM_CLOSED_EARLY) == (FailureKind.CONFIG, False)
    assert verdict(error_type="invalid_request_error", error_code="api_error") == (FailureKind.CONFIG, False)


def test_what_we_ended_ourselves_is_not_retried():
    assert verdict(fault=Fault.OUR_DEADLINE) == (FailureKind.TIMEOUT, False)
    assert verdict(fault=Fault.CANCELLED, status_code=503) == (FailureKind.UNKNOWN, False)


def test_a_filtered_answer_is_not_retried_and_says_why():
    found = failure(fault=Fault.CONTENT_FILTER, provider="anthropic", text="category: weapons")

    assert (found.kind, found.retryable, found.detail) == (FailureKind.CONTENT_FILTER, False, "category: weapons")
    assert found.message == "The answer was blocked by the content policy of Anthropic."


def test_an_untrusted_certificate_and_missing_credentials_are_for_the_operator():
    assert verdict(fault=Fault.TLS) == (FailureKind.CONFIG, False)
    assert verdict(fault=Fault.CREDENTIALS) == (FailureKind.CONFIG, False)
    assert verdict(fault=Fault.ADDRESS) == (FailureKind.CONFIG, False)
    assert failure(fault=Fault.PROXY, provider="openai").message == (
        "The outbound proxy did not let the request to OpenAI through. Check the proxy's settings."
    )


@pytest.mark.parametrize("content_type", ["Text/HTML; charset=utf-8", "application/json"])
def test_a_stream_that_cannot_be_read_is_retried_unless_it_is_none(content_type: str):
    assert verdict(fault=Fault.PROTOCOL, content_type="text/event-stream") == (FailureKind.UNKNOWN, True)
    assert verdict(fault=Fault.PROTOCOL, status_code=200, content_type=content_type) == (FailureKind.CONFIG, False)


@pytest.mark.behaviour("ERR-3")
def test_the_hint_of_the_headers_is_kept_when_the_provider_is_named():
    found = failure(status_code=429, headers={"RETRY-AFTER": "17"})
    named = with_provider(found, "openrouter")

    assert (found.retry_after_seconds, named.retry_after_seconds) == (17.0, 17.0)
    assert found.message == "The AI provider is rate limiting requests."
    assert named.message == "OpenRouter is rate limiting requests."
    assert named == msgspec.structs.replace(found, provider="openrouter", message=named.message)


@pytest.mark.behaviour("ERR-3")
def test_a_hint_does_not_make_a_failure_retryable():
    found = failure(status_code=401, headers={"retry-after": "5"})

    assert (found.retryable, found.retry_after_seconds) == (False, 5.0)


@pytest.mark.parametrize(
    ("provider", "kept", "shown"),
    [
        ("anthropic", "anthropic", "Anthropic"),
        ("Azure OpenAI", "azure", "Azure OpenAI"),
        ("openai_compat", "openai-compat", "The OpenAI-compatible provider"),
        ("bedrock", "bedrock", "AWS Bedrock"),
        ("vertex", "vertex", "Google Vertex AI"),
        ("Demo", "Demo", "Demo"),
        ("our {own} proxy\n", "our {own} proxy", "Our {own} proxy"),
        ("", "", "The AI provider"),
    ],
)
def test_a_provider_is_called_by_its_name(provider: str, kept: str, shown: str):
    found = failure(status_code=503, provider=provider)

    assert (found.provider, found.message) == (kept, f"{shown} is temporarily unavailable.")


def test_a_provider_is_guessed_from_words_until_it_is_named():
    guessed = failure(text="claude: overloaded")

    assert guessed.message == "Anthropic is temporarily overloaded."
    assert with_provider(guessed, "bedrock").message == "AWS Bedrock is temporarily overloaded."
    assert with_provider(guessed, "") == guessed


def test_a_message_made_by_hand_is_kept_when_the_provider_is_named():
    made = Failure(
        kind=FailureKind.CONFIG, provider="", status_code=None, retryable=False, message="The image is too large."
    )

    assert with_provider(made, "google").message == "The image is too large."


@pytest.mark.behaviour("ERR-1")
def test_the_error_event_says_everything_that_a_client_shows():
    found = answer(429, {"error": {"code": "insufficient_quota", "message": "Out of credit."}}, provider="openai")

    assert json.loads(msgspec.json.encode(error_payload(found))) == {
        "message": "The AI usage limit is reached. Ask an administrator to check the budget and the billing.",
        "detail": "Out of credit.",
        "kind": "usage_limit",
        "provider": "openai",
        "retryable": False,
        "status_code": 429,
    }


def test_the_error_event_leaves_out_what_is_not_known():
    payload = json.loads(msgspec.json.encode(error_payload(failure(fault=Fault.DNS, provider="google"))))

    assert payload == {
        "message": "Google is temporarily unavailable.",
        "kind": "timeout",
        "provider": "google",
        "retryable": True,
    }
