"""What an agent tells of repositories, as what is kept of the one that a chat works on."""

from collections.abc import Sequence

from chatd.core.diff_status import LocalRefs, count, text
from chatd.store.queries import ChatDiffStatus
from chatd.wire.agent.git import Remote, Repositories, Repository


def refs_of(seen: Repositories) -> LocalRefs | None:
    """Of the repository that the chat has touched last, else of the one around the working directory: the agent tells
    it first. A branch and its pull request are in one repository, so that nothing is summed over several. None where
    there is none, or it can't be looked at."""
    repository = next((each for each in seen.repositories if not each.is_bare), None)
    if repository is None or repository.error is not None:
        return None
    remote = remote_of(repository)
    changes = repository.base_changes or repository.changes
    path = path_of(remote) if remote else ""
    return LocalRefs(
        root=text(repository.root),
        branch=text(repository.branch),
        head=text(repository.head),
        upstream=text(repository.upstream),
        origin=text(remote.url) if remote else "",
        host=text(remote.host).lower() if remote and path else "",
        path=text(path),
        ahead=count(repository.ahead),
        behind=count(repository.behind),
        additions=count(changes.additions) or 0,
        deletions=count(changes.deletions) or 0,
        changed_files=count(changes.total_files) or 0,
    )


def path_of(remote: Remote) -> str:
    """Of the repository on its host; empty for what is none: with `..` in it, it would be another address of the
    host's API, and be asked for with the administrator's token."""
    path = "/".join(filter(None, (remote.owner, remote.repository)))
    return "" if any(part in ("", ".", "..") for part in path.split("/")) else path


def remote_of(repository: Repository) -> Remote | None:
    """Where the branch is pushed to: the remote of its upstream, else `origin`, else the first."""
    remotes: Sequence[Remote] = repository.remotes
    tracked = next((each for each in remotes if repository.upstream.startswith(f"{each.name}/")), None)
    origin = next((each for each in remotes if each.name == "origin"), None)
    return tracked or origin or next(iter(remotes), None)


def stored_refs(row: ChatDiffStatus) -> LocalRefs:
    return LocalRefs(
        root=row.git_root,
        branch=row.git_branch,
        head=row.git_head,
        upstream=row.git_upstream,
        origin=row.git_remote_origin,
        host=row.git_host,
        path=row.git_path,
        ahead=row.ahead,
        behind=row.behind,
        additions=row.additions,
        deletions=row.deletions,
        changed_files=row.changed_files,
    )
