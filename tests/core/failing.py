"""Failures as tests make them: from signals, and from what a vendor answered."""

import json
from datetime import UTC, datetime
from typing import Any

from chatd.core.failure import Failure, FailureKind, FailureSignals, classify

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def failure(**signals: Any) -> Failure:
    return classify(FailureSignals(**signals), NOW)


def verdict(**signals: Any) -> tuple[FailureKind, bool]:
    found = failure(**signals)
    return found.kind, found.retryable


def answer(status: int, error: object, **more: Any) -> Failure:
    return failure(status_code=status, body=json.dumps(error), content_type="application/json", **more)
