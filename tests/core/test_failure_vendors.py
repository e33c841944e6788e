"""The errors of each vendor, as documented or recorded, are told apart."""

import json
from pathlib import Path

import pytest

from chatd.core.failure import FailureKind, Wording
from core.failing import answer, failure, verdict

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings"


@pytest.mark.behaviour("ERR-2")
def test_the_vendors_code_tells_an_empty_account_from_a_busy_minute():
    busy = {
        "error": {"type": "requests", "code": "rate_limit_exceeded", "message": "Slow down; see your billing page."}
    }
    empty = {"error": {"type": "insufficient_quota", "code": "insufficient_quota", "message": "Check your plan."}}

    assert answer(429, busy).kind is FailureKind.RATE_LIMIT
    assert answer(429, empty).kind is FailureKind.USAGE_LIMIT


@pytest.mark.behaviour("ERR-1")
@pytest.mark.parametrize(
    ("status", "error", "kind", "retryable"),
    [
        # Anthropic
        (
            404,
            {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-none"}},
            "config",
            False,
        ),
        (
            400,
            {"type": "error", "error": {"type": "invalid_request_error", "message": "This model has no effort 'x'."}},
            "config",
            False,
        ),
        (
            400,
            {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low."}},
            "usage_limit",
            False,
        ),
        (403, {"type": "error", "error": {"type": "permission_error", "message": "no access"}}, "auth", False),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded", True),
        (200, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded", True),
        (200, {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}, "unknown", True),
        # OpenAI and what is compatible with it
        (
            404,
            {"error": {"code": "model_not_found", "type": "invalid_request_error", "message": "No such model."}},
            "config",
            False,
        ),
        (
            400,
            {"error": {"code": "unsupported_value", "param": "messages[0].role", "message": "no 'system' here"}},
            "config",
            False,
        ),
        (
            400,
            {"error": {"code": None, "param": "web_search_options", "message": "not supported with this model"}},
            "config",
            False,
        ),
        (
            400,
            {"error": {"code": "decimal_below_min_value", "param": "temperature", "message": "expected >= 0"}},
            "config",
            False,
        ),
        (400, {"error": {"code": None, "message": "Invalid value for 'timeout': must be a number"}}, "config", False),
        (
            400,
            {"error": {"code": "tool_use_failed", "failed_generation": "{}", "message": "did not match schema"}},
            "unknown",
            True,
        ),
        (
            200,
            {"error": {"code": "tool_use_failed", "status_code": 400, "message": "no tool was called"}},
            "unknown",
            True,
        ),
        (200, {"error": {"type": "invalid_request_error", "message": "timeout is not a number"}}, "config", False),
        (
            413,
            {"error": {"code": "rate_limit_exceeded", "type": "tokens", "message": "Request too large"}},
            "config",
            False,
        ),
        (
            200,
            {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "Sorry"}}},
            "unknown",
            True,
        ),
        (503, {"error": {"code": "slow_down", "type": "service_unavailable_error"}}, "overloaded", True),
        (
            429,
            {"error": {"code": 429, "message": "Provider returned error", "metadata": {"raw": "m is rate-limited"}}},
            "rate_limit",
            True,
        ),
        (200, {"error": {"code": 502, "message": "Provider returned error"}}, "timeout", True),
        (200, {"error": {"code": "429", "message": "later"}}, "rate_limit", True),
        (
            400,
            {"error": {"code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
            "content_filter",
            False,
        ),
        (404, {"error": "no model named 'x', pull it first"}, "config", False),
        (422, {"detail": [{"loc": ["body"], "msg": "field required", "type": "missing"}]}, "config", False),
        # Google
        (
            400,
            {"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}},
            "auth",
            False,
        ),
        (
            429,
            [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota"}}],
            "rate_limit",
            True,
        ),
        (
            403,
            {"error": {"status": "PERMISSION_DENIED", "details": [{"reason": "BILLING_DISABLED"}]}},
            "usage_limit",
            False,
        ),
        (
            200,
            {"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}},
            "timeout",
            True,
        ),
        # Bedrock
        (400, {"__type": "com.amazon.coral#ThrottlingException", "message": "Too many tokens"}, "rate_limit", True),
        (
            400,
            {"__type": "ValidationException:http://x/", "Message": "Input is too long for requested model."},
            "config",
            False,
        ),
    ],
)
def test_the_errors_of_each_vendor_are_told_apart(status: int, error: object, kind: str, retryable: bool):
    found = answer(status, error)

    assert (found.kind, found.retryable) == (kind, retryable), found


@pytest.mark.parametrize(
    ("status", "error", "kind", "retryable"),
    [
        (429, {"error": {"type": "exceeded_current_quota_error", "message": "suspended"}}, "usage_limit", False),
        (429, {"type": "service_tier_capacity_exceeded", "code": "3505", "message": "full"}, "overloaded", True),
        (498, {"error": {"message": "Flex tier capacity exceeded"}}, "overloaded", True),
        (
            499,
            {"error": {"code": 499, "status": "CANCELLED", "message": "The operation was cancelled."}},
            "timeout",
            True,
        ),
        (407, None, "config", False),
        (425, None, "timeout", True),
        (409, None, "unknown", True),
        (
            429,
            {"error": {"type": "rate_limit_error", "message": "You have reached your specified API usage limits."}},
            "usage_limit",
            False,
        ),
        (429, {"message": "You have reached your specified API usage limits."}, "usage_limit", False),
        (429, {"detail": "upstream said insufficient_quota"}, "usage_limit", False),
        (
            400,
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "You have reached your specified API usage limits. You will regain access in March.",
                },
            },
            "usage_limit",
            False,
        ),
        (403, {"__type": "SignatureDoesNotMatch", "message": "does not match"}, "auth", False),
    ],
)
def test_the_odder_errors_are_told_apart_too(status: int, error: object, kind: str, retryable: bool):
    found = answer(status, error)

    assert (found.kind, found.retryable) == (kind, retryable), found


@pytest.mark.parametrize(
    ("name", "status", "kind", "retryable"),
    [
        ("throttlingException", 429, "rate_limit", True),
        ("modelStreamErrorException", 424, "unknown", True),
        ("internalServerException", 500, "unknown", True),
        ("modelTimeoutException", 408, "timeout", True),
        ("serviceUnavailableException", 503, "timeout", True),
        ("validationException", 400, "config", False),
        ("ModelNotReadyException", 429, "overloaded", True),
        ("AccessDeniedException", 403, "auth", False),
    ],
)
def test_bedrocks_exceptions_are_known_in_a_stream_and_in_a_header(name: str, status: int, kind: str, retryable: bool):
    header = {"x-amzn-ErrorType": f"{name}:http://internal.amazon.com/x"}

    assert verdict(error_code=name) == (kind, retryable)
    assert verdict(status_code=status, headers=header) == (kind, retryable)


def test_the_json_that_a_gateway_puts_in_place_of_a_message_is_read():
    inner = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    error = {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": json.dumps(inner)}}}

    found = answer(400, error)

    assert found.kind is FailureKind.OVERLOADED
    assert found.detail == "Provider returned error; Overloaded"


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "the request exceeds the available context size, try increasing it",
        "Please reduce the length of the messages or completion.",
        "Your request exceeded model token limit: 262144",
    ],
)
def test_a_chat_that_is_too_long_is_told_apart_for_compatible_servers_too(said: str):
    assert answer(400, {"error": {"message": said}}).wording is Wording.CONTEXT_TOO_LONG


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Please try again in 20s. Visit the page.", 20.0),
        ("Please try again in 1m2.5s.", 62.5),
        ("Please try again in 1h12m0s.", 4320.0),
        ("Please try again in 6ms.", 0.006),
        ("Please retry after 22 seconds.", 22.0),
        ("Try again in 3 minutes", 180.0),
        ("Please retry your request after 5 seconds.", 5.0),
        ("Please try again in a moment.", None),
        ("Please try again in 5 steps.", None),
        ("Please try again in 2026.", None),
        ("Please try again later.", None),
    ],
)
@pytest.mark.behaviour("ERR-3")
def test_a_wait_that_is_asked_for_in_words_counts_if_nothing_better_does(said: str, seconds: float | None):
    error = {"error": {"code": "rate_limit_exceeded", "message": said}}

    assert answer(429, error).retry_after_seconds == (pytest.approx(seconds) if seconds else None)
    assert failure(text=said, error_code="rate_limit_exceeded").retry_after_seconds == (
        pytest.approx(seconds) if seconds else None
    )
    assert answer(429, error, headers={"retry-after": "2"}).retry_after_seconds == 2.0


def test_a_code_in_amazons_headers_counts():
    assert verdict(status_code=400, headers={"X-Amzn-ErrorType": "ThrottlingException:http://a/"}) == (
        "rate_limit",
        True,
    )


def test_a_history_that_the_vendor_rejects_is_not_retried_and_shows_no_ids():
    found = answer(
        400,
        {"error": {"message": "Item 'rs_123' of type 'reasoning' was provided without its required following item."}},
    )

    assert (found.kind, found.retryable, found.wording) == (FailureKind.UNKNOWN, False, Wording.HISTORY)
    assert "rs_123" not in found.detail


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}},
        {"error": {"code": "context_length_exceeded", "message": "too much"}},
        {"__type": "ValidationException", "message": "Input is too long for requested model."},
    ],
)
def test_a_chat_that_is_too_long_for_the_model_is_told_apart(error: object):
    assert answer(400, error).wording is Wording.CONTEXT_TOO_LONG


def test_googles_wait_in_the_body_counts_if_the_headers_ask_for_none():
    error = {"error": {"code": 429, "details": [{"@type": "x/google.rpc.RetryInfo", "retryDelay": "34.5s"}]}}

    assert answer(429, error).retry_after_seconds == 34.5
    assert answer(429, error, headers={"retry-after": "2"}).retry_after_seconds == 2.0


def test_every_recorded_error_response_is_classified_with_its_status():
    if not RECORDINGS.is_dir():
        pytest.skip("the vendor recordings are not beside the repository (../shared/recordings)")
    seen = 0
    for path in sorted(RECORDINGS.glob("*/*.json")):
        response = json.loads(path.read_text("utf-8"))["response"]
        if response["status"] < 400:
            continue
        seen += 1
        found = failure(
            status_code=response["status"],
            headers=response.get("headers") or {},
            body=response["body"],
            content_type=response["content_type"],
        )
        assert found.status_code == response["status"], path.name
        assert found.rule != "anything_else", path.name
        assert found.detail, path.name
        assert found.retryable == (response["status"] == 429 or "tool_use_failed" in response["body"]), path.name
    assert seen > 0


@pytest.mark.behaviour("ERR-1")
@pytest.mark.parametrize(
    "code",
    [
        "bio_policy",  # OpenAI
        "misalignment_policy_violation",
        "image_content_policy_violation",
        "RECITATION",  # Gemini
        "BLOCKLIST",
        "SPII",
        "MODEL_ARMOR",
        "JAILBREAK",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    ],
)
def test_what_a_policy_forbids_is_not_asked_again(code: str):
    refused = answer(400, {"error": {"code": code, "message": "We can't help with this."}})

    assert (refused.kind, refused.retryable) == (FailureKind.CONTENT_FILTER, False)
    assert verdict(error_code=code) == (FailureKind.CONTENT_FILTER, False)


@pytest.mark.behaviour("ERR-1")
@pytest.mark.parametrize("status", [404, 405])
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("", ""),
        ("text/plain; charset=utf-8", "404 page not found"),
        ("text/html", "<html><head><title>404 Not Found</title></head></html>"),
        ("application/json", '{"detail":"Not Found"}'),
        ("application/json", '{"message":"no Route matched with those values"}'),
        ("application/json", '{"status":404,"error":"Not Found","path":"/chat/completions"}'),
        (
            "application/json",
            '{"error":{"message":"Invalid URL (POST /v1/v1/responses)","type":"invalid_request_error","code":null}}',
        ),
    ],
    ids=["nothing", "Go", "a page", "FastAPI", "Kong", "Spring", "OpenAI"],
)
def test_a_path_that_nobody_serves_is_a_wrong_base_url(status: int, content_type: str, body: str):
    found = failure(status_code=status, content_type=content_type, body=body)

    assert (found.kind, found.wording, found.retryable) == (FailureKind.CONFIG, Wording.NOT_AN_API, False)


@pytest.mark.behaviour("ERR-1")
@pytest.mark.parametrize(
    "error",
    [
        {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-none"}},
        {"error": {"code": "model_not_found", "message": "No such model."}},
        {"error": "model 'x' not found, try pulling it first"},
        {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404},
        {"error": {"code": 404, "message": "models/x is not found for API version v1beta", "status": "NOT_FOUND"}},
    ],
    ids=["Anthropic", "OpenAI", "Ollama", "vLLM", "Google"],
)
def test_a_model_that_is_not_there_is_no_wrong_base_url(error: object):
    assert answer(404, error).wording is Wording.CONFIG
