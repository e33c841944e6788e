"""A pull request, or merge request, as it is shown beside a chat: the same for every host of repositories."""

from enum import StrEnum

import msgspec


class PullRequestState(StrEnum):
    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class PullRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`approved`: someone has, and nobody waits for changes. `reviewer_count` are those who have decided.

    Counts are None where a host does not tell them, or only that they are large.
    """

    url: str
    number: int
    title: str
    state: PullRequestState
    is_draft: bool
    head_branch: str
    base_branch: str
    author_login: str
    author_avatar_url: str
    approved: bool
    changes_requested: bool
    reviewer_count: int
    additions: int | None
    deletions: int | None
    changed_files: int | None
    commits: int | None
