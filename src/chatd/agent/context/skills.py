"""The files beside a SKILL.md: listed, and read one by one. Reads the disk."""

import os
from typing import Final

from chatd.agent.context.places import SKILL_FILE
from chatd.agent.context.reading import Outside, read_within
from chatd.agent.files.paths import MOST_BYTES as MOST_PATH_BYTES
from chatd.agent.files.paths import shown, text_of
from chatd.agent.refusals import Refused
from chatd.core.errors import InvalidRequest
from chatd.wire.agent.context import ContextResource, SkillFile, SkillFiles

MOST_FILE_BYTES: Final = 512 * 1024
MOST_LISTED: Final = 500
_MOST_DEPTH: Final = 5  # folders below the skill's own


def files_of(skill: ContextResource) -> SkillFiles:
    """Without what begins with a dot, and without links that lead elsewhere: they can't be read either."""
    top = _directory(skill)
    listed: list[str] = []
    waiting = [b""]
    while waiting and len(listed) <= MOST_LISTED:
        within = waiting.pop(0)
        for name, is_folder in _entries(os.path.join(top, within)):  # noqa: PTH118 - bytes
            path = os.path.join(within, name)  # noqa: PTH118 - bytes
            if path == SKILL_FILE:
                continue
            listed.append(text_of(path) + ("/" if is_folder else ""))
            if is_folder and path.count(b"/") < _MOST_DEPTH - 1:
                waiting.append(path)
    files = tuple(sorted(listed[:MOST_LISTED]))
    is_complete = len(listed) <= MOST_LISTED
    return SkillFiles(skill=skill.name, directory=skill.directory, files=files, is_complete=is_complete)


def file_of(skill: ContextResource, path: str) -> SkillFile:
    """Raises InvalidRequest and Refused."""
    relative = _relative(path)
    top = _directory(skill)
    try:
        read = read_within(top + b"/" + relative, top, MOST_FILE_BYTES + 1)
    except Outside:
        said = f"{shown(relative)} leads out of the skill's folder."
        raise Refused(said, status=403, kind="outside") from None
    content = read.content[:MOST_FILE_BYTES]
    text = content.decode("utf-8", "ignore" if len(read.content) > MOST_FILE_BYTES else "replace")
    return SkillFile(
        skill=skill.name,
        path=path,
        content=text,
        size=read.size,
        is_complete=len(read.content) <= MOST_FILE_BYTES,
        lossy="\ufffd" in text,
    )


def _relative(path: str) -> bytes:
    try:
        name = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidRequest("The path has characters that no name can have.") from error
    parts = name.split(b"/")
    if not name or b"\0" in name or len(name) > MOST_PATH_BYTES:
        raise InvalidRequest("The path is empty, too long, or has a NUL in it.")
    if name.startswith(b"/") or any(not part or part.startswith(b".") for part in parts):
        raise InvalidRequest(
            "The path must be relative to the skill's folder, and no name in it may be empty or begin with a dot."
        )
    return name


def _directory(skill: ContextResource) -> bytes:
    return skill.directory.encode("utf-8", "surrogateescape")


def _entries(folder: bytes) -> list[tuple[bytes, bool]]:
    try:
        with os.scandir(folder) as entries:
            some = [entry for entry, _ in zip(entries, range(MOST_LISTED + 1), strict=False)]
    except OSError:
        return []
    plain = [one for one in some if not one.name.startswith(b".") and not one.is_symlink()]
    return sorted((one.name, one.is_dir(follow_symlinks=False)) for one in plain)
