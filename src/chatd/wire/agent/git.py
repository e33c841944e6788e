"""The git repositories of a workspace, as its agent tells of them.

Paths are texts; bytes of names that are no UTF-8 are surrogate escapes: `\\udc80` to `\\udcff`.
"""

from enum import StrEnum
from uuid import UUID

import msgspec


class FileStatus(StrEnum):
    """`unmerged` files are in conflict; a `type_changed` one became a link, say."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    TYPE_CHANGED = "type_changed"
    UNMERGED = "unmerged"
    UNTRACKED = "untracked"


class DiffAgainst(StrEnum):
    """`head`: what is not committed. `default`: all since the branch left the default branch."""

    HEAD = "head"
    DEFAULT = "default"


class RepositoriesQuery(msgspec.Struct, frozen=True, kw_only=True):
    """`chat` says whose touched paths count; else the chat of the request."""

    chat: UUID | None = None


class WatchRepositoriesQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Answered once the version is another than `since`, and after `wait_seconds` at the latest."""

    chat: UUID | None = None
    since: str | None = None
    wait_seconds: float | None = None


class DiffQuery(msgspec.Struct, frozen=True, kw_only=True):
    root: str
    base: DiffAgainst = DiffAgainst.HEAD
    most_bytes: int | None = None


class Remote(msgspec.Struct, frozen=True, kw_only=True):
    """`url` has no password and no token in it. `host`, `owner` and `repository` are the same for SSH and HTTPS.

    They are empty for what is on no host. `owner` may have slashes in it (groups of GitLab).
    """

    name: str
    url: str
    host: str = ""
    owner: str = ""
    repository: str = ""


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """No counts: the file is binary, or too large to count. Paths are relative to the root."""

    path: str
    status: FileStatus
    additions: int | None = None
    deletions: int | None = None
    old_path: str | None = None


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """`files` has the first of `total_files` only, by path. Not `is_complete`: so much changed that not all was looked
    at, and the sums are too small."""

    files: tuple[ChangedFile, ...] = ()
    total_files: int = 0
    additions: int = 0
    deletions: int = 0
    is_complete: bool = True


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """`branch` is empty when HEAD is detached, `head` (a commit) while there is no commit. `operation` is what is under
    way: `rebase`, `merge`, `cherry-pick`, `revert`, `bisect`, `am`.

    `ahead` and `behind` count commits against `compared_to`: the upstream, else the default branch of the remote.
    `changes` are staged, unstaged and untracked ones against HEAD; `base_changes` the same against where the branch
    left `base_branch`. With an `error` it could not be looked at, and the rest says nothing.
    """

    root: str
    branch: str = ""
    head: str = ""
    is_bare: bool = False
    operation: str = ""
    remotes: tuple[Remote, ...] = ()
    upstream: str = ""
    compared_to: str = ""
    ahead: int | None = None
    behind: int | None = None
    base_branch: str = ""
    changes: Changes = Changes()
    base_changes: Changes | None = None
    error: str | None = None


class Repositories(msgspec.Struct, frozen=True, kw_only=True):
    """The one that the chat has touched last comes first; the one around the working directory last, if nothing in it
    was; where there are none, those right below it. `version` is the same for the same content. Not `is_watched`: not
    all of it could be watched, and changes are found some seconds later."""

    version: str
    repositories: tuple[Repository, ...]
    is_watched: bool = False


class RepositoryDiff(msgspec.Struct, frozen=True, kw_only=True):
    """A unified diff of text; binary files are named. Notes in brackets stand where something is left out.

    Then it is not `is_complete`. `base` is a commit, or empty when there is none to compare with.
    """

    root: str
    base: str
    diff: str
    files: int
    is_complete: bool
