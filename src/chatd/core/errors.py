"""Everything that can be refused or go wrong, as one tree split by who must act.

ChatdError
  x InvalidRequest        the caller can fix it                           -> 400
    + Conflict            it clashes with what is stored (constraint)     -> 409
      + TransitionNotAllowed (transition, state) not in core.transitions' table
      + UsageLimitReached (kind, period, limit_microdollars, spent_microdollars, resets_at)
    + TooLarge            (limit)                                         -> 413
  x Unauthenticated       who are you                                     -> 401
  x Forbidden             the caller may see it but not do this           -> 403
  x NotFound              also for "not yours to see"                     -> 404
    + NotAuthorized       (action, resource) raised by AuthorizedStore; reads as missing
  x Throttled             (retry_after_seconds)                           -> 429
  x QueueFull             (limit) of messages that wait in a chat         -> 429
  x ModelFailed           a model did not do what was asked for           -> 502
  x PushFailed            no push service took a message                  -> 502
  x StoreUnavailable      the database can't be reached; try again        -> 503
  x Misdirected           the request names a host that is not ours       -> 421
  x UnreadableSecret      (key_id) no configured key opens a stored secret -> 500
  x UnknownContentVersion (version) a message of a newer chatd            -> 500
  x NoActor               a store call without anyone acting: a bug       -> 500
  x NotWritten            (method) authorization of a query not written   -> 500
  x StartRefused          the operator must change something; says what   -> exit code 1
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec


class Validation(msgspec.Struct, frozen=True):
    """One field that is wrong and what it should be."""

    field: str
    detail: str


class ChatdError(Exception):
    """Base of the tree. The message is written for the person who reads it; fields are for code."""

    def __init__(self, message: str, *, detail: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class InvalidRequest(ChatdError):
    def __init__(self, message: str, *, detail: str | None = None, validations: Sequence[Validation] = ()) -> None:
        super().__init__(message, detail=detail)
        self.validations = tuple(validations)


class Conflict(InvalidRequest):
    pass


class TransitionNotAllowed(Conflict):
    def __init__(self, *, transition: str, state: str) -> None:
        super().__init__(f"{transition} is not possible while the chat is in state {state}.")
        self.transition = transition
        self.state = state


class UsageLimitReached(Conflict):
    """What the user may spend in this period is spent. `kind` is that of a vendor's refusal for the same reason."""

    kind: Final = "usage_limit"

    def __init__(self, *, period: str, limit_microdollars: int, spent_microdollars: int, resets_at: datetime) -> None:
        super().__init__(
            f"Your usage limit of {_dollars(limit_microdollars)} per {period} is reached. "
            f"It resets on {resets_at:%Y-%m-%d} at {resets_at:%H:%M} UTC.",
            detail=f"{_dollars(spent_microdollars)} is spent. An administrator can raise the limit.",
        )
        self.period = period
        self.limit_microdollars = limit_microdollars
        self.spent_microdollars = spent_microdollars
        self.resets_at = resets_at


def _dollars(microdollars: int) -> str:
    """Exact, with cents and as many more digits as it takes."""
    whole, fraction = divmod(microdollars, 1_000_000)
    digits = f"{fraction:06}".rstrip("0").ljust(2, "0")
    return f"${whole:,}.{digits}"


class TooLarge(InvalidRequest):
    def __init__(self, message: str, *, limit: int) -> None:
        super().__init__(message)
        self.limit = limit


class Unauthenticated(ChatdError):
    pass


class Forbidden(ChatdError):
    pass


class NotFound(ChatdError):
    def __init__(self, what: str) -> None:
        super().__init__(f"{what} not found, or you may not see it.")
        self.what = what


class NotAuthorized(NotFound):
    def __init__(self, *, action: str, resource: str) -> None:
        super().__init__((resource[:1].upper() + resource[1:]).replace("_", " "))
        self.action = action
        self.resource = resource


class Throttled(ChatdError):
    def __init__(self, message: str, *, retry_after_seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class QueueFull(ChatdError):
    def __init__(self, *, limit: int) -> None:
        super().__init__(
            f"{limit} messages wait already, which is the most.", detail="Delete one, or wait until one was sent."
        )
        self.limit = limit


class ModelFailed(ChatdError):
    pass


class PushFailed(ChatdError):
    pass


class StoreUnavailable(ChatdError):
    pass


class Misdirected(ChatdError):
    pass


class UnreadableSecret(ChatdError):
    def __init__(self, key_id: str, reason: str) -> None:
        super().__init__(f"A stored secret under encryption key {key_id} can't be read: {reason}")
        self.key_id = key_id


class UnknownContentVersion(ChatdError):
    """A row of a version that this chatd can't read, most likely written by a newer one."""

    def __init__(self, version: int) -> None:
        super().__init__(f"A message is stored with content version {version}; this server is too old for it.")
        self.version = version


class NoActor(ChatdError):
    def __init__(self, method: str) -> None:
        super().__init__(f"{method} was called with nobody acting.")
        self.method = method


class NotWritten(ChatdError):
    def __init__(self, method: str) -> None:
        super().__init__(f"The authorization of {method} is not written yet.")
        self.method = method


class StartRefused(ChatdError):
    pass
