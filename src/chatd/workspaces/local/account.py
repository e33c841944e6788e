"""Whom a sandbox runs as, outside of it: never root."""

import os
import pwd
import select
import subprocess
from pathlib import Path
from typing import Final

import msgspec

from chatd.workspaces.provisioner import BuildFailed

USER_NAME: Final = "chatd-workspace"
_USERADD_SECONDS: Final = 30  # it edits two small files; a directory service may make it slow
_LOOKS: Final = 50
_LOOK_SECONDS: Final = 0.1  # fifty of them are far more than another's useradd takes


class Account(msgspec.Struct, frozen=True):
    """`switch`: it is not us, so the keeper has to become it."""

    uid: int
    gid: int
    switch: bool

    @property
    def owner(self) -> tuple[int, int] | None:
        return (self.uid, self.gid) if self.switch else None


def sandbox_account(name: str | None) -> Account:
    """Ourselves; as root the user of that name, else a system user of our own, made when missing. Raises BuildFailed.

    Bubblewrap that is started by root would leave real root on all that is mounted into the sandbox.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), switch=False)
    entry = _entry(name or USER_NAME)
    if entry is None and name is None:
        _make_user()
        entry = _awaited()
    if entry is None or entry.pw_uid == 0:
        raise BuildFailed(
            f"Workspaces can't run as the user {name or USER_NAME}: there is none of that name besides root.",
            detail="Make one (useradd --system), or start chatd as a user other than root.",
            code="no_user",
        )
    return Account(entry.pw_uid, entry.pw_gid, switch=True)


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _awaited() -> pwd.struct_passwd | None:
    """Two servers that begin together: one makes the user, the other finds it a moment later."""
    for _ in range(_LOOKS):
        if (entry := _entry(USER_NAME)) is not None:
            return entry
        select.select([], [], [], _LOOK_SECONDS)  # in a thread of its own: nothing else waits
    return None


def _make_user() -> None:
    """What goes wrong is seen by the missing user."""
    shell = next((found for found in ("/usr/sbin/nologin", "/sbin/nologin") if Path(found).exists()), "/bin/false")
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
    try:
        subprocess.run(
            [*command, "--shell", shell, USER_NAME],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_USERADD_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
