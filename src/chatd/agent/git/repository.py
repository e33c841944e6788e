"""One repository, looked at: branch, remotes, how far from its upstream, and what has changed."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from chatd.agent.files.disk import on_disk
from chatd.agent.files.paths import text_of
from chatd.agent.git.changes import Status, changed_files, status_of, summed
from chatd.agent.git.diff_cut import cut, files_of
from chatd.agent.git.remotes import remote
from chatd.agent.git.running import Config, Git, GitFailed
from chatd.agent.git.untracked import counted, diff_of
from chatd.wire.agent.git import ChangedFile, Changes, DiffAgainst, Remote, Repository, RepositoryDiff

_EMPTY_TREE: Final = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_READ_SETTINGS: Final = r"^(filter\..*|remote\..*\.url|url\..*\.insteadof)$"
_MOST_SETTINGS_BYTES: Final = 256 * 1024  # far more than anybody has of these
_MOST_REMOTES: Final = 50
_MOST_UNTRACKED_DIFFS: Final = 1000  # files that git does not know yet, in one diff
_OPERATIONS: Final = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)
# Whatever the configuration says about how a diff looks: always the same, and nothing of anybody's runs for it.
_DIFF: Final = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--find-renames",
    "-O/dev/null",
)
_UNIFIED: Final = ("--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/")


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Where git keeps what belongs to a working tree: `git_dir` its own, `common` what further working trees share."""

    root: bytes
    git_dir: bytes
    common: bytes
    is_bare: bool
    empty_tree: str


class _Settings(msgspec.Struct, frozen=True):
    remotes: tuple[Remote, ...]
    overrides: Config


class _Default(msgspec.Struct, frozen=True):
    """The default branch: `ref` in full; `name` without its remote, `short` with it."""

    ref: str
    name: str
    short: str
    is_remote: bool


class Looking:
    """Looks at one repository. Raises GitFailed."""

    def __init__(self, git: Git, root: bytes) -> None:
        self._git = git
        self._root = root

    async def layout(self) -> Layout:
        asked = ("--is-bare-repository", "--show-object-format", "--absolute-git-dir", "--git-common-dir")
        ran = await self._git.run(self._root, "rev-parse", *asked, "--show-toplevel", expect=(0, 128))
        lines = ran.output.split(b"\n")
        if len(lines) < 5:
            raise GitFailed(ran.errors.strip() or "this is no repository")
        is_bare = lines[0] == b"true"
        if not is_bare and (ran.code != 0 or lines[4] != self._root):
            raise GitFailed("its working tree is in another folder")
        return Layout(
            root=self._root,
            git_dir=lines[2],
            common=os.path.join(self._root, lines[3]),  # noqa: PTH118 - bytes
            is_bare=is_bare,
            empty_tree=_EMPTY_TREE.get(lines[1].decode(), _EMPTY_TREE["sha1"]),
        )

    async def describe(self) -> Repository:
        layout = await self.layout()
        settings = await self._settings()
        root = text_of(self._root)
        if layout.is_bare:
            branch = await self._git.run(self._root, "symbolic-ref", "-q", "--short", "HEAD", expect=(0, 1))
            head = await self._git.run(self._root, "rev-parse", "-q", "--verify", "HEAD", expect=(0, 1))
            return Repository(root=root, branch=branch.line, head=head.line, is_bare=True, remotes=settings.remotes)
        status, untracked, is_all = await self._status(settings)
        changes = await self._changes(status.head or layout.empty_tree, status, untracked, settings, is_all=is_all)
        default = await self._default_branch(settings, status)
        ahead, behind, compared_to = status.ahead, status.behind, status.upstream if status.ahead is not None else ""
        base_changes: Changes | None = None
        if default is not None and status.head:
            if ahead is None and default.is_remote:
                ahead, behind = await self._apart(default.ref)
                compared_to = default.short
            base = await self._merge_base(default.ref)
            if base == status.head:
                base_changes = changes
            elif base:
                base_changes = await self._changes(base, status, untracked, settings, is_all=is_all)
        return Repository(
            root=root,
            branch=status.branch,
            head=status.head,
            operation=await on_disk(_operation, layout.git_dir),
            remotes=settings.remotes,
            upstream=status.upstream,
            compared_to=compared_to,
            ahead=ahead,
            behind=behind,
            base_branch=default.name if default is not None else "",
            changes=changes,
            base_changes=base_changes,
        )

    async def diff(self, against: DiffAgainst, most_bytes: int) -> RepositoryDiff:
        """Empty for a bare repository, and where there is no base."""
        layout = await self.layout()
        nothing = RepositoryDiff(root=text_of(self._root), base="", diff="", files=0, is_complete=True)
        if layout.is_bare:
            return nothing
        settings = await self._settings()
        status, _, is_all = await self._status(settings)
        base = status.head or layout.empty_tree
        if against is DiffAgainst.DEFAULT:
            default = await self._default_branch(settings, status) if status.head else None
            base = await self._merge_base(default.ref) if default is not None else ""
        if not base:
            return nothing
        ran = await self._git.run(self._root, *_DIFF, *_UNIFIED, base, "--", settings=settings.overrides)
        files = files_of(ran.output)
        some = status.untracked[:_MOST_UNTRACKED_DIFFS]
        new, has_all_new = await on_disk(_new_files, self._root, some, most_bytes)
        is_complete = ran.is_complete and is_all and has_all_new and len(some) == len(status.untracked)
        note = b"" if is_complete else b"[There is more than could be looked at]\n"
        shown = cut([*files, *new], most_bytes - len(note))
        return msgspec.structs.replace(
            nothing,
            base=base,
            diff=(shown.text + note).decode("utf-8", "replace"),
            files=len(files) + len(status.untracked),
            is_complete=is_complete and shown.is_complete,
        )

    async def known_folders(self) -> tuple[set[bytes], bool]:
        """The folders in which git knows files, relative to the root, and whether these are all."""
        ran = await self._git.run(self._root, "ls-files", "-z")
        return {path.rpartition(b"/")[0] for path in ran.output.split(b"\0")[:-1]}, ran.is_complete

    async def _settings(self) -> _Settings:
        """One reading for what is told of remotes and what has to be switched off."""
        ran = await self._git.run(
            self._root, "config", "-z", "--get-regexp", _READ_SETTINGS, expect=(0, 1), most_bytes=_MOST_SETTINGS_BYTES
        )
        if not ran.is_complete:
            raise GitFailed("its configuration is too long")
        filters: dict[str, None] = {}
        urls: dict[str, str] = {}
        rewrites: list[tuple[str, str]] = []
        for record in ran.output.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            key, _, value = record.partition("\n")
            section, _, rest = key.partition(".")
            name, _, variable = rest.rpartition(".")
            if section == "filter":
                filters[name] = None
            elif section == "remote" and name and variable == "url":
                urls.setdefault(name, value)
            elif section == "url" and value:
                rewrites.append((value, name))
        remotes = tuple(remote(name, url, rewrites) for name, url in list(urls.items())[:_MOST_REMOTES])
        return _Settings(remotes, tuple(_without(filters)))

    async def _status(self, settings: _Settings) -> tuple[Status, list[ChangedFile], bool]:
        ran = await self._git.run(
            self._root,
            "status",
            "--porcelain=v2",
            "--branch",
            "--ahead-behind",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
            settings=settings.overrides,
        )
        status = status_of(ran.output)
        untracked, has_read_all = await on_disk(counted, self._root, status.untracked)
        return status, untracked, ran.is_complete and has_read_all

    async def _changes(
        self, base: str, status: Status, untracked: Iterable[ChangedFile], settings: _Settings, *, is_all: bool
    ) -> Changes:
        ran = await self._git.run(
            self._root, *_DIFF, "--raw", "--numstat", "-z", base, "--", settings=settings.overrides
        )
        return summed((*changed_files(ran.output, status.unmerged), *untracked), is_complete=ran.is_complete and is_all)

    async def _default_branch(self, settings: _Settings, status: Status) -> _Default | None:
        """What the remote says; else `main` or `master` there, else here."""
        names = [one.name for one in settings.remotes]
        chosen = "origin" if "origin" in names else next((n for n in names if status.upstream.startswith(f"{n}/")), "")
        chosen = chosen or (names[0] if names else "origin")
        there, here = f"refs/remotes/{chosen}/", "refs/heads/"
        wanted = [f"{there}HEAD", f"{there}main", f"{there}master", f"{here}main", f"{here}master"]
        ran = await self._git.run(self._root, "for-each-ref", "--format=%(refname)%00%(symref)", *wanted)
        found = dict(line.split("\0") for line in ran.line.split("\n") if "\0" in line)
        told = found.get(wanted[0])
        ref = told or next((ref for ref in wanted[1:] if ref in found), None)
        if ref is None:
            return None
        if ref.startswith(there):
            name = ref.removeprefix(there)
            return _Default(ref, name, f"{chosen}/{name}", is_remote=True)
        name = ref.removeprefix(here)
        return _Default(ref, name, name, is_remote=False)

    async def _apart(self, ref: str) -> tuple[int | None, int | None]:
        ran = await self._git.run(
            self._root, "rev-list", "--left-right", "--count", f"HEAD...{ref}", "--", expect=(0, 128)
        )
        ahead, _, behind = ran.line.partition("\t")
        return (int(ahead), int(behind)) if ran.code == 0 and ahead.isdigit() and behind.isdigit() else (None, None)

    async def _merge_base(self, ref: str) -> str:
        """Empty where they have nothing in common, or the other is not there."""
        ran = await self._git.run(self._root, "merge-base", "HEAD", ref, expect=(0, 1, 128))
        return ran.line if ran.code == 0 else ""


def _without(filters: Iterable[str]) -> Iterable[tuple[str, str]]:
    """A filter without commands passes on what it gets."""
    for name in filters:
        yield f"filter.{name}.clean", ""
        yield f"filter.{name}.smudge", ""
        yield f"filter.{name}.process", ""
        yield f"filter.{name}.required", "false"


def _operation(git_dir: bytes) -> str:
    folder = Path(os.fsdecode(git_dir))
    return next((name for file, name in _OPERATIONS if (folder / file).exists()), "")


def _new_files(root: bytes, paths: Iterable[bytes], most_bytes: int) -> tuple[list[bytes], bool]:
    """Not much more than can be shown is kept in memory."""
    diffs: list[bytes] = []
    left = 4 * most_bytes
    for path in paths:
        if left <= 0:
            return diffs, False
        diff = diff_of(root, path)
        left -= len(diff)
        diffs += [diff] if diff else []
    return diffs, True
