"""What is told about builds, so that nobody has to ask again and again."""

from typing import Final
from uuid import UUID

BUILDS_TOPIC: Final = "builds"  # one waits for someone to carry it out
CANCEL: Final = b"cancel"  # who carries it out is to stop


def build_topic(build_id: UUID) -> str:
    """It has said something, or has ended."""
    return f"build:{build_id}"
