"""What a call can end in, by what its caller can do about it. Messages are the server's own where it has answered.

ChatdError
  x RequestRefused   (status, kind, validations) the server understood and said no
    + BadRequest     400 and others: the request is wrong
    + SignInNeeded   401
    + NotAllowed     403
    + Missing        404: it does not exist, or one may not see it
    + WrongState     409: it clashes with what is stored
    + TooLong        413
    + TooMany        429 (retry_after_seconds)
  x ServerFailed     (status) 5xx: the server, or what stands before it, could not
  x Unreachable      no connection, or it broke: whether a request was done is not known, unless it had a key
  x Unexpected       what answers is no chatd
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from chatd.core.errors import ChatdError, InvalidRequest, Validation
from chatd.wire.problem import Problem

_SAID_LONGEST: Final = 200  # characters of an answer that is no Problem, as of a proxy
_PROBLEM: Final = msgspec.json.Decoder(Problem)


class RequestRefused(InvalidRequest):
    def __init__(
        self,
        message: str,
        *,
        status: int,
        detail: str | None = None,
        validations: tuple[Validation, ...] = (),
        kind: str | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message, detail=detail, validations=validations)
        self.status = status
        self.kind = kind
        self.retry_after_seconds = retry_after_seconds


class BadRequest(RequestRefused):
    pass


class SignInNeeded(RequestRefused):
    pass


class NotAllowed(RequestRefused):
    pass


class Missing(RequestRefused):
    pass


class WrongState(RequestRefused):
    pass


class TooLong(RequestRefused):
    pass


class TooMany(RequestRefused):
    pass


class ServerFailed(ChatdError):
    def __init__(
        self, message: str, *, status: int, detail: str | None = None, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(message, detail=detail)
        self.status = status
        self.retry_after_seconds = retry_after_seconds


class Unreachable(ChatdError):
    pass


class Unexpected(ChatdError):
    pass


_BY_STATUS: Final[Mapping[int, type[RequestRefused]]] = {
    401: SignInNeeded,
    403: NotAllowed,
    404: Missing,
    409: WrongState,
    413: TooLong,
    429: TooMany,
}


def refusal(status: int, body: bytes, headers: Mapping[str, str]) -> ChatdError:
    """Of an answer that is not 2xx."""
    if 300 <= status < 400:
        return Unexpected(
            "The server sends us elsewhere.", detail=f"Use the address {headers.get('Location', 'it names')} instead."
        )
    try:
        problem = _PROBLEM.decode(body)
    except (msgspec.DecodeError, ValueError):
        said = " ".join(body[:_SAID_LONGEST].decode(errors="replace").split())
        problem = Problem(f"The server answered {status}.", detail=said or None)
    wait = _seconds(headers.get("Retry-After", ""))
    if status >= 500:
        return ServerFailed(problem.message, status=status, detail=problem.detail, retry_after_seconds=wait)
    return _BY_STATUS.get(status, BadRequest)(
        problem.message,
        status=status,
        detail=problem.detail,
        validations=problem.validations,
        kind=problem.kind,
        retry_after_seconds=wait,
    )


def _seconds(text: str) -> float | None:
    """A date, which the header may have too, is not read."""
    return float(text) if text.isascii() and text.isdigit() and len(text) < 7 else None
