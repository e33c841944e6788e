"""Several files' new contents put in place together: all of them, or none.

The system renames one file at a time. So the originals are kept beside them until the last rename, and put back when
one fails. An agent that is killed between two renames leaves some files new and others old, with the originals of all
beside them as `.NAME.old.…`.
"""

import os
import stat
from collections.abc import Callable, Sequence

from chatd.agent.files.mishaps import mishap
from chatd.agent.files.paths import shown
from chatd.agent.files.reading import CHUNK_BYTES
from chatd.agent.files.replacing import (
    NewMark,
    Replacement,
    create_beside,
    name_beside,
    remove_quietly,
    sync_directory,
)
from chatd.agent.refusals import Refused

Rename = Callable[[bytes, bytes], None]


def put_together(replacements: Sequence[Replacement], new_mark: NewMark, rename: Rename = os.rename) -> None:
    """All are finished and replace files that exist. Raises a refusal, which says what is the case; nothing has changed
    then, except where it says otherwise."""
    kept: list[bytes] = []
    done: list[Replacement] = []
    try:
        for each in replacements:
            _check_unchanged(each)
        if len(replacements) > 1:
            for each in replacements:
                kept.append(_keep(each, new_mark))  # noqa: PERF401 - those before a failure must be known
        for each in replacements:
            try:
                each.put(rename)
            except OSError as error:
                raise mishap(each.target, error) from error
            done.append(each)
    except BaseException as error:
        lost = _put_back(done, kept, rename)
        for each in replacements[len(done) :]:
            each.drop()
        for path in kept[len(done) :]:
            remove_quietly(path)
        if lost:
            raise _half_written(done, lost, error) from error
        raise
    for path in kept:
        remove_quietly(path)
    for directory in sorted({os.path.dirname(each.target) for each in replacements}):  # noqa: PTH120 - bytes
        sync_directory(directory)


def _check_unchanged(replacement: Replacement) -> None:
    """A command may have written it since it was read."""
    before = replacement.before
    assert before is not None, "only files that exist are replaced together"
    try:
        now = os.lstat(replacement.target)
    except OSError as error:
        raise mishap(replacement.target, error) from error
    if _version(now) != _version(before):
        said = f"{shown(replacement.target)} was changed by something else in this moment. No file was changed."
        raise Refused(said, status=409, kind="changed", detail="Read it again, then repeat the edit.")


def _version(status: os.stat_result) -> tuple[int, int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode


def _keep(replacement: Replacement, new_mark: NewMark) -> bytes:
    """A second name for the original; a copy where there can be none."""
    target = replacement.target
    try:
        path = name_beside(target, "old", new_mark())
        os.link(target, path, follow_symlinks=False)
    except OSError:
        return _copied(target, new_mark)
    return path


def _copied(target: bytes, new_mark: NewMark) -> bytes:
    path: bytes | None = None
    try:
        with open(target, "rb") as original:  # noqa: PTH123 - bytes
            status = os.fstat(original.fileno())
            descriptor, path = create_beside(target, "old", 0o600, new_mark)
            with os.fdopen(descriptor, "wb") as copy:
                while chunk := original.read(CHUNK_BYTES):
                    copy.write(chunk)
                copy.flush()
                os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
                os.fsync(descriptor)
    except OSError as error:
        if path is not None:
            remove_quietly(path)
        raise mishap(target, error) from error
    return path


def _put_back(done: Sequence[Replacement], kept: Sequence[bytes], rename: Rename) -> list[tuple[bytes, bytes]]:
    """Those that could not be put back, with the place of their original."""
    lost: list[tuple[bytes, bytes]] = []
    for each, original in reversed(list(zip(done, kept, strict=False))):
        try:
            rename(original, each.target)
        except OSError:
            lost.append((each.target, original))
    return lost[::-1]


def _half_written(done: Sequence[Replacement], lost: Sequence[tuple[bytes, bytes]], error: BaseException) -> Refused:
    new = "; ".join(f"{shown(target)} (its old content is in {shown(original)})" for target, original in lost)
    back = len(done) - len(lost)
    said = "The edit failed midway and could not be undone. These files have the new content: "
    others = f" {back} that had been changed have the old content again, and no other file was changed."
    return Refused(f"{said}{new}.{others}", status=500, kind="half_written", detail=f"What failed: {error}")
