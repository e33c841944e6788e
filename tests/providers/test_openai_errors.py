"""Errors of OpenAI and of compatible servers: the status of HTTP counts, and the words are kept."""

import pytest

from chatd.core.failure import FailureKind
from chatd.core.model import VendorError
from chatd.providers.protocols.openai.errors import MOST_ERROR_CHARACTERS, vendor_error
from core.failing import failure

UNSAID = "The vendor reported a failure and did not say which."


@pytest.mark.behaviour("ERR-1", "ERR-2")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            b'{"error":{"message":"No such model","type":"invalid_request_error","code":"model_not_found"}}',
            "No such model",
        ),
        (b'{"error":{"code":429,"message":"Slow down"}}', "Slow down"),
        (b'{"error":"model not found"}', "model not found"),
        (b'{"message":"Not here","code":404}', "Not here"),
        (b"<html>Not Found</html>", ""),
        (b'{"error":{"message":{"deep":1}}}', ""),
        (b"\xff\xfe", ""),
        (b"", ""),
        (b"{}", ""),
        (b"[" * 100_000, ""),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_a_response_keeps_its_status_whatever_its_body_says(body: bytes, words: str):
    found = failure(status_code=404, body=body, content_type="application/json")

    assert (found.kind, found.status_code, found.retryable) == (FailureKind.CONFIG, 404, False)
    assert found.detail == words


@pytest.mark.parametrize(
    ("raw", "failure"),
    [
        (
            b'{"message":"Busy","type":"server_error","code":"slow_down"}',
            VendorError("Busy", "server_error", "slow_down"),
        ),
        (b'{"code":429,"message":"Slow down"}', VendorError("Slow down", error_code="429", status_code=429)),
        (b'"model not found"', VendorError("model not found")),
        (b'{"message":{"deep":1}}', VendorError('{"message":{"deep":1}}')),
        (b"\xff\xfe", VendorError("\ufffd\ufffd")),
        (b"", VendorError(UNSAID)),
        (b"{}", VendorError(UNSAID)),
        (b"[" * 100_000, VendorError("[" * MOST_ERROR_CHARACTERS)),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_an_error_within_a_stream_is_read_whatever_its_form(raw: bytes, failure: VendorError):
    assert vendor_error(raw) == failure


@pytest.mark.parametrize(
    ("code", "status"), [("503", 503), ("529", 529), ("200", None), ("rate_limit", None), ("0503", None)]
)
def test_a_code_is_a_status_if_it_looks_like_one(code: str, status: int | None):
    assert vendor_error(f'{{"code":"{code}"}}'.encode()).status_code == status
