"""Files and folders that are ours: never through somebody's link, never half written, no other owner."""

import errno
import os
import pwd
import stat
import tempfile
from pathlib import Path


class KeeperError(Exception):
    """The keeper can't do its work; the message says why and what to do."""


def reason_of(error: KeeperError | OSError) -> str:
    """As sentences for the operator, also when the system refused."""
    if isinstance(error, KeeperError):
        return str(error)
    where = f" ({os.fsdecode(error.filename)})" if isinstance(error.filename, str | bytes) else ""
    return (
        f"The system refused: {error.strerror or error}{where}. Make that possible, or choose another data directory."
    )


def check_owner(folder: Path) -> None:
    """Refuse what is there but not a folder of ours: its owner could lead our writing elsewhere by links."""
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise KeeperError(
            f"{folder} can't be reached: {error.strerror}. Start chatd as a user who can reach it, "
            "or choose another data directory."
        ) from error
    if not stat.S_ISDIR(found.st_mode):
        raise KeeperError(f"{folder} is not a folder. Move it away, or choose another data directory.")
    if found.st_uid != os.geteuid():
        raise KeeperError(_foreign(folder, found.st_uid))


def private_folder(folder: Path, *, mode: int, uid: int, gid: int | None = None, temporary: bool = False) -> Path:
    """Make a folder, or check that an existing one is a real folder, `uid`'s own, that only it may write.

    `temporary`: in a place where everybody may make folders, and with nothing in it that is missed.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        real, own, closed = stat.S_ISDIR(found.st_mode), found.st_uid == uid, not found.st_mode & 0o022
        if real and own and closed:
            return folder
        if temporary:
            raise KeeperError(
                f"{folder} exists but is not a private folder of user {user_name(uid)}; someone else may have made it. "
                "Remove it and start again."
            ) from None
        if not real:
            raise KeeperError(f"{folder} is not a folder. Put the folder itself there, not a link to it.") from None
        if not own:
            raise KeeperError(_foreign(folder, found.st_uid)) from None
        raise KeeperError(f"Other users can write to {folder}. Take that right away (chmod go-w).") from None
    if uid != os.geteuid():
        os.chown(folder, uid, gid if gid is not None else -1)
    folder.chmod(mode)
    return folder


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def open_own(path: Path, flags: int) -> int:
    """A descriptor of a file for the owner alone. Raises KeeperError when it is a link."""
    try:
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise KeeperError(f"{path} is a link, which chatd does not follow. Remove it and start again.") from error
        raise


def read_own(path: Path) -> str:
    """The text of a file that is no link."""
    with os.fdopen(open_own(path, os.O_RDONLY)) as file:
        return file.read()


def write_own(path: Path, text: str) -> None:
    """Readable by the owner alone; never seen half written."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(name).rename(path)


def _foreign(folder: Path, uid: int) -> str:
    owner = user_name(uid)
    return f"{folder} belongs to user {owner}. Start chatd as {owner}, or choose another data directory."
