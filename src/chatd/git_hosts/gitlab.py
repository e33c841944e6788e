"""GitLab's REST API, version 4."""

from typing import Final
from urllib.parse import quote

import msgspec

from chatd.core.git_host_kind import HostKind
from chatd.core.pull_requests import PullRequest, PullRequestState
from chatd.core.secret import Secret
from chatd.git_hosts.asking import Asking, Session
from chatd.git_hosts.host import Branch, TokenRefused

_STATES: Final = {"opened": PullRequestState.OPEN, "locked": PullRequestState.OPEN, "merged": PullRequestState.MERGED}
_PAGE: Final = 100  # what GitLab gives at most
_MOST_COUNTED_PAGES: Final = 5  # of files whose lines are counted; more are told as not known


class _User(msgspec.Struct):
    username: str = ""
    avatar_url: str | None = None


class _Merge(msgspec.Struct):
    iid: int
    project_id: int
    source_project_id: int | None
    state: str
    title: str
    web_url: str
    source_branch: str
    target_branch: str
    draft: bool = False
    author: _User | None = None
    changes_count: str | None = None


class _Diff(msgspec.Struct):
    diff: str = ""
    too_large: bool = False
    collapsed: bool = False


class _Approvals(msgspec.Struct):
    approved_by: list[object] = []


class _Reviewer(msgspec.Struct):
    state: str = ""


class _Parent(msgspec.Struct):
    id: int


class _Project(msgspec.Struct):
    id: int
    forked_from_project: _Parent | None = None


class _Commit(msgspec.Struct):
    id: str


class GitLab:
    def __init__(self, session: Session, api_url: str, token: Secret) -> None:
        self._asking = Asking(session, HostKind.GITLAB, api_url, {"PRIVATE-TOKEN": token.reveal()})

    async def account(self) -> str:
        return (await self._asking.get("/user", _User)).username

    async def pull_request(self, branch: Branch) -> PullRequest | None:
        """Also one to the project that this one is a fork of."""
        found = await self._newest(branch)
        if found is None:
            return None
        at = f"/projects/{found.project_id}/merge_requests/{found.iid}"
        merge = await self._asking.get(at, _Merge)
        additions, deletions = await self._lines(at)
        commits = await self._asking.get(f"{at}/commits", list[_Commit], {"per_page": str(_PAGE)})
        approvals = await self._asking.get(f"{at}/approvals", _Approvals)
        return _shown(
            merge,
            approvals=len(approvals.approved_by),
            refusals=await self._refusals(at),
            additions=additions,
            deletions=deletions,
            commits=len(commits) if len(commits) < _PAGE else None,
        )

    async def diff(self, branch: Branch, number: int, *, most_bytes: int) -> str | None:
        found = next((merge for merge in await self._merges(branch) if merge.iid == number), None)
        if found is None:
            return None
        return await self._asking.text(
            f"/projects/{found.project_id}/merge_requests/{number}/raw_diffs",
            accept="text/plain",
            most_bytes=most_bytes,
        )

    async def _newest(self, branch: Branch) -> _Merge | None:
        found = await self._merges(branch)
        return next((merge for merge in found if merge.state == "opened"), found[0] if found else None)

    async def _merges(self, branch: Branch) -> list[_Merge]:
        """Newest first: to the branch's own project, else to the one that it is a fork of. Forks of this one may have
        branches of the same name, which are others."""
        query = {
            "source_branch": branch.name,
            "state": "all",
            "order_by": "updated_at",
            "sort": "desc",
            "per_page": str(_PAGE),
        }
        at = f"/projects/{quote(branch.path, safe='')}"
        found = await self._asking.get(f"{at}/merge_requests", list[_Merge], query)
        if own := [merge for merge in found if merge.source_project_id == merge.project_id]:
            return own
        project = await self._asking.get(at, _Project)
        if project.forked_from_project is None:
            return []
        upstream = f"/projects/{project.forked_from_project.id}/merge_requests"
        found = await self._asking.get(upstream, list[_Merge], query)
        return [merge for merge in found if merge.source_project_id == project.id]

    async def _lines(self, at: str) -> tuple[int | None, int | None]:
        """Added and removed. GitLab counts none, so that the diffs themselves are looked at, up to a bound."""
        added = removed = 0
        for page in range(1, _MOST_COUNTED_PAGES + 1):
            files = await self._asking.get(f"{at}/diffs", list[_Diff], {"page": str(page), "per_page": str(_PAGE)})
            if any(file.too_large or file.collapsed for file in files):
                return None, None
            for file in files:
                lines = file.diff.splitlines()
                added += sum(line.startswith("+") for line in lines)
                removed += sum(line.startswith("-") for line in lines)
            if len(files) < _PAGE:
                return added, removed
        return None, None

    async def _refusals(self, at: str) -> int:
        """How many want changes."""
        try:
            reviewers = await self._asking.get(f"{at}/reviewers", list[_Reviewer])
        except TokenRefused:  # a server from before there were reviewers
            return 0
        return sum(reviewer.state == "requested_changes" for reviewer in reviewers)


def _shown(
    merge: _Merge,
    *,
    approvals: int,
    refusals: int,
    additions: int | None,
    deletions: int | None,
    commits: int | None,
) -> PullRequest:
    author = merge.author or _User()
    return PullRequest(
        url=merge.web_url,
        number=merge.iid,
        title=merge.title,
        state=_STATES.get(merge.state, PullRequestState.CLOSED),
        is_draft=merge.draft,
        head_branch=merge.source_branch,
        base_branch=merge.target_branch,
        author_login=author.username,
        author_avatar_url=author.avatar_url or "",
        approved=approvals > 0 and not refusals,
        changes_requested=refusals > 0,
        reviewer_count=approvals + refusals,
        additions=additions,
        deletions=deletions,
        changed_files=_count(merge.changes_count),
        commits=commits,
    )


def _count(said: str | None) -> int | None:
    """`1000+` is how GitLab says that it stopped counting."""
    return int(said) if said and said.isascii() and said.isdigit() else None
