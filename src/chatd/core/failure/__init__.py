"""What went wrong with a model call: one classifier for every vendor, and what people and clients are told.

`classify` weighs the signals by the table in `chatd.core.failure.rules` and always comes to an answer. Whether to try
again, and when, is `chatd.core.retry`'s to say.
"""

from datetime import datetime
from typing import Final

import msgspec

from chatd.core.errors import InvalidRequest
from chatd.core.failure.detail import last_line_of_traceback, one_clean_line
from chatd.core.failure.evidence import Evidence, gather
from chatd.core.failure.rules import Rule, first_match
from chatd.core.failure.signals import FailureKind, FailureSignals, Fault
from chatd.core.failure.texts import Wording, guess_provider, provider_name, sentence
from chatd.core.retry_after import retry_after_seconds

__all__ = [
    "ErrorPayload",
    "Failure",
    "FailureKind",
    "FailureSignals",
    "Fault",
    "Wording",
    "classify",
    "error_payload",
    "not_configured",
    "with_provider",
]

_FIRST_SHOWN_STATUS: Final = 300  # a stream that broke after "200 OK" did not fail with 200


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A classified failure. `message` is for people; `detail` is the vendor's words, cleaned, or empty.

    A failure that is made by hand, with a message of its own, has no `wording`; then the message is kept when the
    provider is named. `rule` names the rule that decided, for logs.
    """

    kind: FailureKind
    provider: str  # empty if nobody knows
    status_code: int | None
    retryable: bool
    message: str
    detail: str = ""
    retry_after_seconds: float | None = None  # a floor for the wait, never a reason to retry
    wording: Wording | None = None
    rule: str = ""


class ErrorPayload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What clients see of a failure that ended a turn: the error event, and the chat's `last_error`."""

    message: str
    kind: str
    provider: str
    retryable: bool
    detail: str | None = None
    status_code: int | None = None


def classify(signals: FailureSignals, now: datetime) -> Failure:
    """Any signals give a failure; nothing raises. `now`, with a time zone, is for a hint that is a date."""
    evidence = gather(signals)
    rule = first_match(evidence)
    provider = provider_name(signals.provider) or guess_provider(evidence.words)
    hint = retry_after_seconds(signals.headers, now)
    return Failure(
        kind=rule.kind,
        provider=provider,
        status_code=evidence.status if evidence.status >= _FIRST_SHOWN_STATUS else None,
        retryable=rule.is_retryable,
        message=sentence(rule.wording, provider),
        detail=_detail(signals, evidence, rule),
        retry_after_seconds=evidence.delay_seconds if hint is None else hint,
        wording=rule.wording,
        rule=rule.name,
    )


def with_provider(failure: Failure, provider: str) -> Failure:
    """The same failure of a provider that is known by name: only the name and the sentence change."""
    name = provider_name(provider)
    if not name:
        return failure
    message = failure.message if failure.wording is None else sentence(failure.wording, name)
    return msgspec.structs.replace(failure, provider=name, message=message)


def not_configured(error: InvalidRequest, *, provider: str) -> Failure:
    """What a host or a protocol says of its configuration is said to people as it is."""
    return Failure(
        kind=FailureKind.CONFIG,
        provider=provider,
        status_code=None,
        retryable=False,
        message=error.message,
        detail=error.detail or "",
    )


def error_payload(failure: Failure) -> ErrorPayload:
    return ErrorPayload(
        message=failure.message,
        kind=failure.kind.value,
        provider=failure.provider,
        retryable=failure.retryable,
        detail=failure.detail or None,
        status_code=failure.status_code,
    )


def _detail(signals: FailureSignals, evidence: Evidence, rule: Rule) -> str:
    if rule.detail:
        return rule.detail
    if evidence.message:
        return one_clean_line(evidence.message)
    if rule.kind is FailureKind.AUTH:
        return ""  # a raw text about credentials may quote them in a form that no pattern knows
    return one_clean_line(last_line_of_traceback(signals.text))
