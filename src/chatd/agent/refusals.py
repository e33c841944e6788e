"""How each error is told to the server: a status and a `Problem`."""

import msgspec

from chatd.agent.response import Response, answer
from chatd.core.errors import (
    ChatdError,
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    Throttled,
    TooLarge,
    Unauthenticated,
)
from chatd.wire.problem import Problem


class StaleEpoch(Conflict):
    """Another replica owns the chat by now; what the old owner still sends must not act."""

    def __init__(self, *, given: int, newest: int) -> None:
        super().__init__(
            f"This chat has a newer owner: epoch {newest}, and the request was sent under {given}.",
            detail="Nothing was done. Whoever owned the chat before has to stop.",
        )
        self.given = given
        self.newest = newest


class KeyReused(Conflict):
    """One key, two different commands."""


class Refused(ChatdError):
    """For refusals whose status none of the common errors has."""

    def __init__(self, message: str, *, status: int, detail: str | None = None, kind: str | None = None) -> None:
        super().__init__(message, detail=detail)
        self.status = status
        self.kind = kind


class _Told(msgspec.Struct, frozen=True):
    status: int
    kind: str | None = None


def refusal(error: ChatdError) -> Response:
    """The answer to an error that is expected. Anything else is a bug, and the app answers 500."""
    told = _told(error)
    validations = error.validations if isinstance(error, InvalidRequest) else ()
    return answer(Problem(error.message, error.detail, validations, told.kind), status=told.status)


def _told(error: ChatdError) -> _Told:
    match error:
        case Refused():
            return _Told(error.status, error.kind)
        case StaleEpoch():
            return _Told(409, "stale_epoch")
        case KeyReused():
            return _Told(409, "key_reused")
        case Conflict():
            return _Told(409)
        case TooLarge():
            return _Told(413)
        case InvalidRequest():
            return _Told(400)
        case Unauthenticated():
            return _Told(401)
        case Forbidden():
            return _Told(403)
        case NotFound():
            return _Told(404)
        case Throttled():
            return _Told(429)
        case _:
            return _Told(500)
