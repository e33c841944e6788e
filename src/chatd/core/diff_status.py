"""What is known of a chat's branch and pull request: how it is put together, and when a host is asked again."""

from datetime import datetime, timedelta
from typing import Final, Protocol

import msgspec

from chatd.core.pull_requests import PullRequest, PullRequestState
from chatd.core.valid_text import valid_text

# A pull request is often opened within seconds of a push, by the same hand; then it is looked for often.
SOON: Final = timedelta(seconds=15)
JUST_CHANGED: Final = timedelta(minutes=2)
# Where nothing changes for long, it is asked at longer and longer intervals: a tenth of the time that it has been so.
LEAST_OPEN: Final = timedelta(seconds=120)
LEAST_WITHOUT: Final = timedelta(minutes=5)
LONGEST: Final = timedelta(hours=1)
# One that is merged stays so; a closed one may be opened again.
OVER_LEAST: Final = timedelta(hours=1)
OVER_LONGEST: Final = timedelta(days=1)
AFTER_FAILURE: Final = timedelta(seconds=120)
AFTER_REFUSAL: Final = timedelta(minutes=10)  # of the token: someone has to do something about it
LEASE: Final = timedelta(minutes=5)  # for who asks; longer than asking for a whole batch may take
_SHARE: Final = 10

_LONGEST_TEXT: Final = 1000  # characters of a title, a branch; hosts allow some hundred
_LONGEST_URL: Final = 2000
_MOST: Final = 2**31 - 1  # what the columns hold


class LocalRefs(msgspec.Struct, frozen=True, kw_only=True):
    """What a workspace says of the repository that a chat works on. `head` is a commit; `host` and `path` say where
    its remote is, and are empty for what is on no host."""

    root: str
    branch: str = ""
    head: str = ""
    upstream: str = ""
    origin: str = ""
    host: str = ""
    path: str = ""
    ahead: int | None = None
    behind: int | None = None
    additions: int = 0
    deletions: int = 0
    changed_files: int = 0


class Place(msgspec.Struct, frozen=True):
    """What a pull request belongs to."""

    host: str
    path: str
    branch: str


class Counts(msgspec.Struct, frozen=True):
    additions: int
    deletions: int
    changed_files: int


class StoredCounts(Protocol):
    """A stored status, as far as counts are concerned."""

    @property
    def additions(self) -> int: ...
    @property
    def deletions(self) -> int: ...
    @property
    def changed_files(self) -> int: ...
    @property
    def pull_request_state(self) -> str: ...
    @property
    def pull_request_additions(self) -> int | None: ...
    @property
    def pull_request_deletions(self) -> int | None: ...
    @property
    def pull_request_files(self) -> int | None: ...


def after_look(known: LocalRefs | None, seen: LocalRefs) -> LocalRefs:
    """What is known after a look. During a rebase no branch is checked out: it is still the one that it was."""
    if known is not None and not seen.branch and known.root == seen.root:
        return msgspec.structs.replace(seen, branch=known.branch)
    return seen


def shown_counts(status: StoredCounts) -> Counts:
    """Those of the workspace, which has what is not pushed yet. What was merged is no difference any more, so that a
    pull request that is over tells its own."""
    own = Counts(status.additions, status.deletions, status.changed_files)
    is_over = status.pull_request_state in (PullRequestState.MERGED, PullRequestState.CLOSED)
    if not is_over or own.changed_files:
        return own
    return Counts(
        status.pull_request_additions or 0, status.pull_request_deletions or 0, status.pull_request_files or 0
    )


def ask_again_after(state: PullRequestState | None, unchanged_for: timedelta) -> timedelta:
    """How long what a host said is good for. None: there is no pull request. `unchanged_for` is since when nothing
    of it has changed, here or there."""
    share = max(unchanged_for, timedelta()) / _SHARE
    match state:
        case None if unchanged_for < JUST_CHANGED:
            return SOON
        case None:
            return min(max(share, LEAST_WITHOUT), LONGEST)
        case PullRequestState.OPEN:
            return min(max(share, LEAST_OPEN), LONGEST)
        case PullRequestState.MERGED | PullRequestState.CLOSED:
            return min(max(share, OVER_LEAST), OVER_LONGEST)


def unchanged_for(now: datetime, updated_at: datetime) -> timedelta:
    return max(now - updated_at, timedelta())


def storable(pull: PullRequest) -> PullRequest:
    """What others wrote, in the bounds of what is kept."""
    return msgspec.structs.replace(
        pull,
        url=text(pull.url, _LONGEST_URL),
        number=count(pull.number) or 0,
        title=text(pull.title),
        head_branch=text(pull.head_branch),
        base_branch=text(pull.base_branch),
        author_login=text(pull.author_login),
        author_avatar_url=text(pull.author_avatar_url, _LONGEST_URL),
        reviewer_count=count(pull.reviewer_count) or 0,
        additions=count(pull.additions),
        deletions=count(pull.deletions),
        changed_files=count(pull.changed_files),
        commits=count(pull.commits),
    )


def text(said: str, longest: int = _LONGEST_TEXT) -> str:
    """Without what the database refuses."""
    return valid_text(said[:longest]).replace("\0", "\ufffd")


def count(said: int | None) -> int | None:
    return None if said is None else min(max(said, 0), _MOST)
