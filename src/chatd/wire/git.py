"""The repositories of a chat's workspace, as the stream of them tells."""

from datetime import datetime
from typing import Literal

import msgspec

from chatd.wire.agent.git import Repository


class LiveRepository(Repository, frozen=True, kw_only=True):
    """`diff` is what is not committed, as a unified diff. Not `is_diff_complete`: there is more of it."""

    diff: str = ""
    is_diff_complete: bool = True


class GitEvent(msgspec.Struct, frozen=True, kw_only=True):
    """The first has all repositories, and each that follows those that have changed. `removed` are roots."""

    type: Literal["changes"] = "changes"
    scanned_at: datetime
    repositories: list[LiveRepository]
    removed: list[str]
