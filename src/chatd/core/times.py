"""Times as texts: ISO 8601 in UTC, as parts hold them."""

from datetime import datetime


def iso(at: datetime) -> str:
    """With microseconds and a Z: texts of one clock sort as their times do."""
    return at.isoformat(timespec="microseconds")[:26] + "Z"
