"""Whether bubblewrap works on this machine, found by running it."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from chatd.workspaces.local.account import Account
from chatd.workspaces.local.call_filter import call_filter
from chatd.workspaces.local.keeper_options import Bubblewrap
from chatd.workspaces.local.sandbox import CONFINED, NO_MORE_NAMESPACES
from chatd.workspaces.local.staging import ALONE
from chatd.workspaces.provisioner import BuildFailed

_TRIAL_SECONDS: Final = 20.0  # it takes some hundredths of one
_TOLD_CHARACTERS: Final = 500
# Settings of systems that keep users from making namespaces: which, and what it is then.
_HINDERING: Final = (
    ("kernel.apparmor_restrict_unprivileged_userns", "1"),  # Ubuntu's; a profile of AppArmor for bwrap helps too
    ("kernel.unprivileged_userns_clone", "0"),
    ("user.max_user_namespaces", "0"),
)
_ADVICE: Final = (
    "Install bubblewrap (Debian: apt install bubblewrap) and let users have namespaces, use a template of containers, "
    "or set local_workspaces = unconfined to let commands do all that the server's user can."
)


async def find_bubblewrap(program: str, account: Account) -> Bubblewrap:
    """Raises BuildFailed, with the reason and the ways out."""
    return await asyncio.to_thread(_found, program, account)


def _found(program: str, account: Account) -> Bubblewrap:
    found = shutil.which(program)
    if found is None:
        raise _refusal(f"{program} is not installed.")
    if account.switch and (failed := _fails([*ALONE, "true"], None)):
        raise _refusal(f"mounts can't be kept apart: {failed}")
    for more in ([NO_MORE_NAMESPACES], []):
        failed = _fails(_trial(found, more), account)
        if failed is None:
            return Bubblewrap(found, bool(more), filters_calls=_filters_calls(found, more, account))
    raise _refusal(f"bubblewrap does not work here: {failed}", hindrance())


def _filters_calls(program: str, more: list[str], account: Account) -> bool:
    """Whether the kernel takes the filter."""
    made = call_filter(os.uname().machine)
    return made is not None and _fails(_trial(program, [*more, "--seccomp", "0"]), account, given=made) is None


def hindrance(settings: Path = Path("/proc/sys")) -> str:
    """What of this system's settings may be the reason, and how to change it; empty when none is known."""
    for name, hindering in _HINDERING:
        with suppress(OSError):
            if (settings / name.replace(".", "/")).read_text("ascii").strip() == hindering:
                return f"The setting {name} = {hindering} keeps users from making namespaces: change it with sysctl."
    return ""


def _trial(program: str, more: list[str]) -> list[str]:
    seen = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    return [program, *CONFINED, *more, "--unshare-net", *seen, "--", "true"]


def _fails(command: Sequence[str], account: Account | None, *, given: bytes = b"") -> str | None:
    """What is said when it does not work, with this to read; None when it does.

    In a thread, not on the event loop: uvloop starts no process as another user.
    """
    switch = account is not None and account.switch
    try:
        done = subprocess.run(
            command,
            input=given,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
            cwd="/",
            user=account.uid if account is not None and switch else None,
            group=account.gid if account is not None and switch else None,
            extra_groups=[] if switch else None,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except OSError as error:
        return f"{command[0]}: {error.strerror or error}"
    except subprocess.TimeoutExpired:
        return f"{command[0]} did not end within {_TRIAL_SECONDS:g} seconds"
    if done.returncode == 0:
        return None
    said = done.stderr.decode("utf-8", "replace").strip()[-_TOLD_CHARACTERS:]
    return said or f"{command[0]} ended with {done.returncode}"


def _refusal(why: str, first: str = "") -> BuildFailed:
    detail = f"{first} {_ADVICE}".strip()
    return BuildFailed(f"No sandbox can be made on this machine: {why}", detail=detail, code="no_sandbox")
