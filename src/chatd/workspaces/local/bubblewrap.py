"""Whether bubblewrap works on this machine, found by running it."""

import asyncio
import shutil
from collections.abc import Sequence
from typing import Final

from chatd.clock import Clock
from chatd.workspaces.local.account import Account
from chatd.workspaces.local.keeper_options import Bubblewrap
from chatd.workspaces.local.sandbox import CONFINED, NO_MORE_NAMESPACES
from chatd.workspaces.local.staging import ALONE
from chatd.workspaces.provisioner import BuildFailed

_TRIAL_SECONDS: Final = 20.0  # it takes some hundredths of one
_TOLD_CHARACTERS: Final = 500
_ADVICE: Final = (
    "Install bubblewrap (Debian: apt install bubblewrap) and let users have namespaces, use a template of containers, "
    "or set local_workspaces = unconfined to let commands do all that the server's user can."
)


async def find_bubblewrap(program: str, account: Account, clock: Clock) -> Bubblewrap:
    """Raises BuildFailed, with the reason and the ways out."""
    found = shutil.which(program)
    if found is None:
        raise _refusal(f"{program} is not installed.")
    if account.switch and (failed := await _fails([*ALONE, "true"], None, clock)):
        raise _refusal(f"mounts can't be kept apart: {failed}")
    failed = await _fails(_trial(found, [NO_MORE_NAMESPACES]), account, clock)
    if failed is None:
        return Bubblewrap(found, no_more_namespaces=True)
    failed = await _fails(_trial(found, []), account, clock)
    if failed is None:
        return Bubblewrap(found, no_more_namespaces=False)
    raise _refusal(f"bubblewrap does not work here: {failed}")


def _trial(program: str, more: list[str]) -> list[str]:
    seen = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    return [program, *CONFINED, *more, "--unshare-net", *seen, "--", "true"]


async def _fails(command: Sequence[str], account: Account | None, clock: Clock) -> str | None:
    """What is said when it does not work; None when it does."""
    switch = account is not None and account.switch
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
            cwd="/",
            user=account.uid if account is not None and switch else None,
            group=account.gid if account is not None and switch else None,
            extra_groups=[] if switch else None,
        )
    except OSError as error:
        return f"{command[0]}: {error.strerror or error}"
    try:
        async with clock.timeout(_TRIAL_SECONDS, timer="sandbox trial"):
            _, said = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"{command[0]} did not end within {_TRIAL_SECONDS:g} seconds"
    if process.returncode == 0:
        return None
    return (
        said.decode("utf-8", "replace").strip()[-_TOLD_CHARACTERS:] or f"{command[0]} ended with {process.returncode}"
    )


def _refusal(why: str) -> BuildFailed:
    return BuildFailed(f"No sandbox can be made on this machine: {why}", detail=_ADVICE, code="no_sandbox")
