"""How much of anything one chat may have."""

from typing import Final

MOST_QUEUED: Final = 20  # messages in a chat's queue, held ones included
MOST_FILES: Final = 50  # tied to one chat
