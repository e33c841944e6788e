"""The one shape of every error that a client sees."""

from datetime import datetime

import msgspec

from chatd.core.errors import Validation


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """`message` and `detail` are for people, `validations` name wrong fields; code reads the status, and `kind` where
    refusals of one status differ in what a client should do."""

    message: str
    detail: str | None = None
    validations: tuple[Validation, ...] = ()
    kind: str | None = None


class UsageLimitProblem(Problem, frozen=True, omit_defaults=True, kw_only=True):
    """With the kind `usage_limit`: what may be spent in this period is spent. In millionths of a dollar."""

    period: str
    limit_micros: int
    spent_micros: int
    resets_at: datetime
