"""The errors of Gemini inside of a stream: error objects, and finish reasons that are failures."""

import re
from typing import Final

import msgspec

from chatd.core.model import VendorError
from chatd.providers.protocols.google.events import READ_ERRORS, ErrorBody

# The model wrote a call that can't be read, or of a tool that nobody offered. The same request may well work again.
BAD_CALLS: Final = frozenset(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"))
_BAD_CALL_CODE: Final = "tool_use_failed"  # core/failure/codes.py knows such failures by this code
_DELAY: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")


class _Detail(msgspec.Struct, frozen=True, rename="camel"):
    """RetryInfo has a delay, ErrorInfo a reason."""

    retry_delay: str = ""
    reason: str = ""


_DETAILS: Final = msgspec.json.Decoder(tuple[_Detail, ...])


def vendor_error(error: ErrorBody) -> VendorError:
    details = _details(error.details)
    delays = [float(found[1]) for detail in details if (found := _DELAY.fullmatch(detail.retry_delay))]
    return VendorError(
        text=error.message or error.status or "Google reported an error without words.",
        error_type=error.status or "",
        error_code=next((detail.reason for detail in details if detail.reason), ""),
        status_code=error.code,
        retry_after_seconds=max(delays, default=None),
    )


def bad_call(reason: str, message: str) -> VendorError:
    return VendorError(text=message or f"The model stopped: {reason}.", error_type=reason, error_code=_BAD_CALL_CODE)


def _details(raw: msgspec.Raw) -> tuple[_Detail, ...]:
    try:
        return _DETAILS.decode(raw)
    except READ_ERRORS:
        return ()
