"""GitHub's REST API, and that of its Enterprise Server."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

import msgspec

from chatd.core.git_host_kind import HostKind
from chatd.core.pull_requests import PullRequest, PullRequestState
from chatd.core.secret import Secret
from chatd.git_hosts.asking import Asking, Session
from chatd.git_hosts.host import Branch

_VERSION: Final = "2022-11-28"
_DECISIVE: Final = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})


class _User(msgspec.Struct):
    login: str = ""
    avatar_url: str = ""


class _Ref(msgspec.Struct):
    ref: str


class _Listed(msgspec.Struct):
    number: int
    state: str


class _Pull(msgspec.Struct):
    html_url: str
    number: int
    title: str
    state: str
    merged: bool
    head: _Ref
    base: _Ref
    draft: bool = False
    user: _User | None = None
    additions: int | None = None
    deletions: int | None = None
    changed_files: int | None = None
    commits: int | None = None


class _Review(msgspec.Struct):
    state: str
    user: _User | None = None


class _Parent(msgspec.Struct):
    full_name: str


class _Repository(msgspec.Struct):
    parent: _Parent | None = None


class GitHub:
    def __init__(self, session: Session, api_url: str, token: Secret) -> None:
        headers = {
            "Authorization": f"Bearer {token.reveal()}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": _VERSION,
        }
        self._asking = Asking(session, HostKind.GITHUB, api_url, headers)

    async def account(self) -> str:
        return (await self._asking.get("/user", _User)).login

    async def pull_request(self, branch: Branch) -> PullRequest | None:
        """Also one to the repository that this one is a fork of."""
        found = await self._newest(branch.path, branch)
        path = branch.path
        if found is None and (parent := await self._parent(branch.path)):
            path, found = parent, await self._newest(parent, branch)
        if found is None:
            return None
        pull = await self._asking.get(_repo(path, f"/pulls/{found.number}"), _Pull)
        reviews = await self._asking.get(
            _repo(path, f"/pulls/{found.number}/reviews"), list[_Review], {"per_page": "100"}
        )
        return _shown(pull, reviews)

    async def diff(self, branch: Branch, number: int, *, most_bytes: int) -> str | None:
        path = branch.path
        if not await self._has(path, number, branch) and (parent := await self._parent(path)):
            path = parent
        return await self._asking.text(
            _repo(path, f"/pulls/{number}"), accept="application/vnd.github.diff", most_bytes=most_bytes
        )

    async def _newest(self, path: str, branch: Branch) -> _Listed | None:
        found = await self._listed(path, branch)
        return next((pull for pull in found if pull.state == "open"), found[0] if found else None)

    async def _has(self, path: str, number: int, branch: Branch) -> bool:
        return any(pull.number == number for pull in await self._listed(path, branch))

    async def _listed(self, path: str, branch: Branch) -> list[_Listed]:
        """Newest first."""
        owner = branch.path.partition("/")[0]
        query = {
            "head": f"{owner}:{branch.name}",
            "state": "all",
            "sort": "updated",
            "direction": "desc",
            "per_page": "20",
        }
        return await self._asking.get(_repo(path, "/pulls"), list[_Listed], query)

    async def _parent(self, path: str) -> str | None:
        parent = (await self._asking.get(_repo(path, ""), _Repository)).parent
        return parent.full_name if parent else None


def _repo(path: str, rest: str) -> str:
    return f"/repos/{quote(path)}{rest}"


def _shown(pull: _Pull, reviews: Sequence[_Review]) -> PullRequest:
    decided = {review.user.login: review.state for review in reviews if review.user and review.state in _DECISIVE}
    standing = [state for state in decided.values() if state != "DISMISSED"]
    wanted = "CHANGES_REQUESTED" in standing
    user = pull.user or _User()
    state = PullRequestState.MERGED if pull.merged else PullRequestState.CLOSED
    return PullRequest(
        url=pull.html_url,
        number=pull.number,
        title=pull.title,
        state=PullRequestState.OPEN if pull.state == "open" else state,
        is_draft=pull.draft,
        head_branch=pull.head.ref,
        base_branch=pull.base.ref,
        author_login=user.login,
        author_avatar_url=user.avatar_url,
        approved="APPROVED" in standing and not wanted,
        changes_requested=wanted,
        reviewer_count=len(standing),
        additions=pull.additions,
        deletions=pull.deletions,
        changed_files=pull.changed_files,
        commits=pull.commits,
    )
