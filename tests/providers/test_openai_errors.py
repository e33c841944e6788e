"""Error responses of OpenAI and of compatible servers: the status of HTTP counts, and the words are kept."""

import pytest

from chatd.core.model import VendorError
from chatd.providers.protocols.openai.errors import MOST_ERROR_CHARACTERS, failed_response, vendor_error

UNSAID = "The vendor reported a failure and did not say which."


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        (
            b'{"error":{"message":"No such model","type":"invalid_request_error","code":"model_not_found"}}',
            VendorError("No such model", "invalid_request_error", "model_not_found", 404),
        ),
        (b'{"error":{"code":429,"message":"Slow down"}}', VendorError("Slow down", error_code="429", status_code=404)),
        (b'{"error":"model not found"}', VendorError("model not found", status_code=404)),
        (b'{"message":"Not here","code":404}', VendorError("Not here", error_code="404", status_code=404)),
        (b"<html>Not Found</html>", VendorError("<html>Not Found</html>", status_code=404)),
        (b'{"error":{"message":{"deep":1}}}', VendorError('{"message":{"deep":1}}', status_code=404)),
        (b"\xff\xfe", VendorError("\ufffd\ufffd", status_code=404)),
        (b"", VendorError(UNSAID, status_code=404)),
        (b"{}", VendorError(UNSAID, status_code=404)),
        (b"[" * 100_000, VendorError("[" * MOST_ERROR_CHARACTERS, status_code=404)),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_a_response_keeps_its_status_whatever_its_body_says(body: bytes, failure: VendorError):
    """ERR-1, ERR-2"""
    assert failed_response(404, body) == failure


@pytest.mark.parametrize(
    ("code", "status"), [("503", 503), ("529", 529), ("200", None), ("rate_limit", None), ("0503", None)]
)
def test_a_code_is_a_status_if_it_looks_like_one(code: str, status: int | None):
    assert vendor_error(f'{{"code":"{code}"}}'.encode()).status_code == status
