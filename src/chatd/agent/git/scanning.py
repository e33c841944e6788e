"""The repositories of a chat, looked at together; and which folders to watch to know when to look again."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec

from chatd.agent.files.disk import on_disk
from chatd.agent.files.paths import text_of
from chatd.agent.git.finding import roots_of
from chatd.agent.git.repository import Layout, Looking
from chatd.agent.git.running import Git, GitFailed
from chatd.agent.inotify import Names
from chatd.agent.touched import TouchedPaths
from chatd.clock import Clock
from chatd.core.escaped_json import encode
from chatd.wire.agent.git import FileStatus, Repositories, Repository

MOST_WATCHED: Final = 2000  # folders of a chat's repositories; the system has some 10,000 for all its users' programs
MOST_REF_FOLDERS: Final = 200  # of one repository
REPOSITORY_SECONDS: Final = 45.0  # to look at one; three runs may take their longest


class Folders(msgspec.Struct, frozen=True):
    """What to watch. Not `is_complete`: there are more."""

    names: Mapping[bytes, Names]
    is_complete: bool


class Scanning:
    def __init__(self, git: Git, touched: TouchedPaths, workdir: Path, clock: Clock) -> None:
        self._git = git
        self._touched = touched
        self._workdir = os.fsencode(workdir)
        self._clock = clock

    async def roots(self, chat: UUID | None) -> tuple[bytes, ...]:
        paths = () if chat is None else self._touched.of(chat)
        return await on_disk(roots_of, paths, self._workdir)

    async def look(self, roots: tuple[bytes, ...]) -> Repositories:
        """Raises Refused where there is no git. A repository that can't be looked at says why."""
        try:
            async with asyncio.TaskGroup() as group:
                looks = [group.create_task(self._look(root), name="repository") for root in roots]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        found = tuple(repository for look in looks if (repository := look.result()) is not None)
        version = sha256(encode(Repositories(version="", repositories=found)))
        version.update(await on_disk(_stamps, found))
        return Repositories(version=version.hexdigest()[:24], repositories=found)

    async def folders(self, roots: tuple[bytes, ...], seen: Repositories | None) -> Folders:
        """Where git keeps what it knows, and where the files are that it knows or could come to know."""
        names: dict[bytes, Names] = {self._workdir: frozenset({b".git"})}  # it may become one
        is_complete = True
        for root in roots:
            looking = Looking(self._git, root)
            try:
                layout = await looking.layout()
                names.update(await on_disk(_git_folders, layout))
                if not layout.is_bare:
                    known, is_all = await looking.known_folders()
                    is_complete = is_complete and is_all
                    names.update(_with_parents(root, known | _untracked_folders(seen, root)))
            except GitFailed:
                names[root] = None
        if len(names) > MOST_WATCHED:
            kept = sorted(names, key=lambda path: (path.count(b"/"), path))[:MOST_WATCHED]
            return Folders({path: names[path] for path in kept}, is_complete=False)
        return Folders(names, is_complete)

    async def _look(self, root: bytes) -> Repository | None:
        text = text_of(root)
        try:
            async with self._clock.timeout(REPOSITORY_SECONDS, timer="repository"):
                return await Looking(self._git, root).describe()
        except TimeoutError:
            return Repository(root=text, error=f"Looking at it took longer than {REPOSITORY_SECONDS:g} seconds.")
        except GitFailed as failed:
            said = str(failed)
            return None if "not a git repository" in said else Repository(root=text, error=said)


def _stamps(repositories: Iterable[Repository]) -> bytes:
    """When the changed files were changed: another content may well have as many lines. Reads the disk."""
    stamps: list[str] = []
    for repository in repositories:
        for file in repository.changes.files:
            try:
                status = os.lstat(f"{repository.root}/{file.path}")
                stamps.append(f"{status.st_mtime_ns}/{status.st_size}")
            except OSError:
                stamps.append("")
    return "\n".join(stamps).encode()


def _git_folders(layout: Layout) -> dict[bytes, Names]:
    """Not the objects: whatever is new there is told by a reference or the index. Reads the disk."""
    common = os.path.realpath(layout.common)
    folders: dict[bytes, Names] = {
        common: frozenset({b"HEAD", b"index", b"packed-refs", b"config", b"MERGE_HEAD", b"rebase-merge"}),
    }
    watched = frozenset({b"HEAD", b"index", b"MERGE_HEAD", b"rebase-merge", b"rebase-apply"})
    folders[layout.git_dir] = watched | (folders.get(layout.git_dir) or frozenset())
    walk = (folder for folder, _, _ in os.walk(common + b"/refs"))
    return folders | dict.fromkeys(islice(walk, MOST_REF_FOLDERS))


def _untracked_folders(seen: Repositories | None, root: bytes) -> set[bytes]:
    if seen is None:
        return set()
    text = text_of(root)
    return {
        file.path.encode("utf-8", "surrogateescape").rpartition(b"/")[0]
        for repository in seen.repositories
        if repository.root == text
        for file in repository.changes.files
        if file.status is FileStatus.UNTRACKED
    }


def _with_parents(root: bytes, folders: set[bytes]) -> dict[bytes, Names]:
    found: dict[bytes, Names] = {root: None}
    for folder in folders:
        while folder:
            path = root + b"/" + folder
            if path in found:
                break
            found[path] = None
            folder = folder.rpartition(b"/")[0]  # noqa: PLW2901 - upwards
    return found
