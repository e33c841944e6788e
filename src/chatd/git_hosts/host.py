"""What a host of repositories is asked, and how it can fail to answer."""

from datetime import datetime
from typing import Protocol

import msgspec

from chatd.core.pull_requests import PullRequest


class HostFailed(Exception):
    """The host did not answer, or not as it should. `message` is for people who can do something about it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class HostAway(HostFailed):
    """The host can't be reached, or says nothing: what else it is asked now would fail as well."""


class TokenRefused(HostFailed):
    """The host does not take the token, or shows nothing of this repository with it."""


class RateLimited(HostFailed):
    """Nothing is asked of this host with this token before `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"The host wants no more requests until {until:%H:%M:%S} UTC.")
        self.until = until


class Branch(msgspec.Struct, frozen=True):
    """`path` is that of the repository on its host, such as `team/project`, without `.git`."""

    path: str
    name: str


class GitHost(Protocol):
    async def account(self) -> str:
        """The name of the account that the token is of. Raises HostFailed."""
        ...

    async def pull_request(self, branch: Branch) -> PullRequest | None:
        """That of the branch: an open one, else the one that was changed last. Raises HostFailed."""
        ...

    async def diff(self, branch: Branch, number: int, *, most_bytes: int) -> str | None:
        """The unified diff of a pull request of the branch; None where it is larger. Raises HostFailed."""
        ...
