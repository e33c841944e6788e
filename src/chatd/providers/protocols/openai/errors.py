"""Failures that OpenAI and everything compatible report within a stream."""

from typing import Final

import msgspec

from chatd.core.model import VendorError

# A page of words is enough for the person who reads it and for the rules that look for phrases in it.
MOST_ERROR_CHARACTERS: Final = 2000
_UNSAID: Final = "The vendor reported a failure and did not say which."


class _Upstream(msgspec.Struct, frozen=True):
    """What OpenRouter adds: the words of the vendor behind it."""

    raw: msgspec.Raw = msgspec.Raw(b"null")


class _Failure(msgspec.Struct, frozen=True):
    message: str | None = None
    type: str | None = None
    code: str | int | None = None
    status_code: int | None = None
    status: int | str | None = None
    metadata: _Upstream | None = None


_FAILURE: Final = msgspec.json.Decoder(_Failure)
_TEXT: Final = msgspec.json.Decoder(str)


def vendor_error(raw: bytes | msgspec.Raw) -> VendorError:
    """`raw` is the JSON of the error: an object, or with some servers a mere text. Never raises."""
    try:
        failure = _FAILURE.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        said = _text(raw) or bytes(raw).decode("utf-8", "replace")
        return VendorError(text=said[:MOST_ERROR_CHARACTERS].strip() or _UNSAID)
    text = failure.message or ""
    upstream = _text(failure.metadata.raw) if failure.metadata is not None else ""
    if upstream and upstream not in text:
        text = f"{text}: {upstream}" if text else upstream
    return VendorError(
        text=text[:MOST_ERROR_CHARACTERS].strip() or _UNSAID,
        error_type=failure.type or "",
        error_code="" if failure.code is None else str(failure.code),
        status_code=_status(failure),
    )


def _status(failure: _Failure) -> int | None:
    """OpenRouter says the status as `code`, Groq as `status_code`."""
    for said in (failure.status_code, failure.status, failure.code):
        number = int(said) if isinstance(said, str) and len(said) == 3 and said.isdecimal() else said
        if isinstance(number, int) and 400 <= number <= 599:
            return number
    return None


def _text(raw: bytes | msgspec.Raw) -> str:
    try:
        return _TEXT.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ""
