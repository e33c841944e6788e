"""What git prints about changes, as values. Pure; what was cut off at its end counts as far as it is whole."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from chatd.wire.agent.git import ChangedFile, Changes, FileStatus

MOST_FILES: Final = 1000  # named in an answer; the sums are over all
_STATUS: Final[Mapping[str, FileStatus]] = {
    "A": FileStatus.ADDED,
    "M": FileStatus.MODIFIED,
    "D": FileStatus.DELETED,
    "R": FileStatus.RENAMED,
    "C": FileStatus.COPIED,
    "T": FileStatus.TYPE_CHANGED,
    "U": FileStatus.UNMERGED,
}


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """Of `git status --porcelain=v2 --branch -z`. `ahead` and `behind` are against the upstream."""

    branch: str = ""
    head: str = ""
    upstream: str = ""
    ahead: int | None = None
    behind: int | None = None
    untracked: tuple[bytes, ...] = ()
    unmerged: frozenset[bytes] = frozenset()


def status_of(printed: bytes) -> Status:
    headers: dict[str, str] = {}
    untracked: list[bytes] = []
    unmerged: list[bytes] = []
    records = iter(_records(printed))
    for record in records:
        if record.startswith(b"# "):
            name, _, value = record[2:].partition(b" ")
            headers[name.decode()] = value.decode("utf-8", "surrogateescape")
        elif record.startswith(b"? "):
            untracked.append(record[2:])
        elif record.startswith(b"u "):
            unmerged.append(record.split(b" ", 10)[-1])
        elif record.startswith(b"2 "):
            next(records, None)  # where it was before
    branch, head = headers.get("branch.head", ""), headers.get("branch.oid", "")
    ahead, _, behind = headers.get("branch.ab", "").partition(" ")
    return Status(
        branch="" if branch == "(detached)" else branch,
        head="" if head == "(initial)" else head,
        upstream=headers.get("branch.upstream", ""),
        ahead=int(ahead[1:]) if ahead else None,
        behind=int(behind[1:]) if behind else None,
        untracked=tuple(untracked),
        unmerged=frozenset(unmerged),
    )


def changed_files(printed: bytes, unmerged: frozenset[bytes] = frozenset()) -> list[ChangedFile]:
    """Of `git diff --raw --numstat -z`: first all raw records, then all counts."""
    files: dict[bytes, ChangedFile] = {}
    records = iter(_records(printed))
    for record in records:
        if record.startswith(b":"):
            letter = record.rpartition(b" ")[2][:1].decode("ascii", "replace")
            old = next(records, None) if letter in "RC" else None
            path = next(records, None)
            if path is None or letter not in _STATUS:
                break
            status = FileStatus.UNMERGED if path in unmerged else _STATUS[letter]  # compared, it is just modified
            files[path] = ChangedFile(path=_text(path), status=status, old_path=None if old is None else _text(old))
            continue
        added, _, rest = record.partition(b"\t")
        removed, _, path = rest.partition(b"\t")
        if not path:
            next(records, None)
            path = next(records, b"")
        if path in files and added.isdigit() and removed.isdigit():
            files[path] = msgspec.structs.replace(files[path], additions=int(added), deletions=int(removed))
    return list(files.values())


def summed(files: Iterable[ChangedFile], *, is_complete: bool) -> Changes:
    everything = sorted(files, key=lambda file: file.path)
    return Changes(
        files=tuple(everything[:MOST_FILES]),
        total_files=len(everything),
        additions=sum(file.additions or 0 for file in everything),
        deletions=sum(file.deletions or 0 for file in everything),
        is_complete=is_complete,
    )


def _records(printed: bytes) -> list[bytes]:
    """Each ends with a zero; what stands behind the last one was cut off."""
    return printed.split(b"\0")[:-1]


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
