"""Paths that a user other than root can't reach, shown where it can: in a mount namespace that only a keeper has.

The data directory and a virtual environment below /root are closed to all but root, while the sandbox is set up by
another user. Nothing of this is seen by the rest of the machine, and it is gone with the keeper.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from chatd.workspaces.local.installation import Mount

# The start of a keeper that stages: `mount` inside changes nothing outside.
ALONE: Final = ("unshare", "--mount", "--propagation", "private", "--")
_PLACES: Final = ("/mnt", "/media", "/srv", "/run", "/tmp", "/var")  # noqa: S108  covered by an empty file system of ours
_MOUNT_SECONDS: Final = 10


class StagingFailed(Exception):
    pass


def stage(mounts: Sequence[Mount], *, away_from: Sequence[str] = ()) -> list[Mount]:
    """The same mounts with sources that every user can reach. `away_from` are further paths that must stay visible."""
    taken = [Path(path) for path in (*(mount.source for mount in mounts), *away_from)]
    place = next((Path(one) for one in _PLACES if _is_free(Path(one), taken)), None)
    if place is None:
        raise StagingFailed(f"None of {', '.join(_PLACES)} can be used to mount on.")
    _mount("-t", "tmpfs", "-o", "mode=0755,size=1m", "chatd", str(place))
    return [_staged(mount, place / str(at)) for at, mount in enumerate(mounts)]


def _is_free(place: Path, taken: Sequence[Path]) -> bool:
    return place.is_dir() and not place.is_symlink() and not any(path.is_relative_to(place) for path in taken)


def _staged(mount: Mount, point: Path) -> Mount:
    if Path(mount.source).is_dir():
        point.mkdir(mode=0o755)
    else:
        point.touch(mode=0o644)
    _mount("--rbind", mount.source, str(point))
    return msgspec.structs.replace(mount, source=str(point))


def _mount(*arguments: str) -> None:
    done = subprocess.run(
        ["mount", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_MOUNT_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise StagingFailed(f"mount {arguments[-1]}: {done.stderr.strip() or done.returncode}")
