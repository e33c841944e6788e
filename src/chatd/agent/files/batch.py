"""A batch of edits of several files: what each file becomes, and everything that is wrong with the batch."""

import os
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from chatd.agent.edits.edit import Edit, EditRefused, edited
from chatd.agent.files.mishaps import telling
from chatd.agent.files.paths import path_of, resolved, shown
from chatd.agent.files.reading import CHUNK_BYTES, open_file
from chatd.agent.files.replacing import NewMark, Replacement, writable
from chatd.agent.files.together import Rename, put_together
from chatd.agent.refusals import Refused
from chatd.core.errors import ChatdError, InvalidRequest, Validation
from chatd.wire.agent.files import FileEdits

MOST_FILES: Final = 200  # of a batch; a model names a handful
MOST_EDITS: Final = 1000  # of all files of a batch
MOST_FAILED: Final = 10  # edits that are looked into; finding out why one fails is the slow part
MOST_FILE_BYTES: Final = (
    16 * 1024 * 1024
)  # before and after: sources are far smaller; a text takes two to four times that
MOST_BATCH_BYTES: Final = 64 * 1024 * 1024  # of all files of a batch, before and after


class Changed(msgspec.Struct, frozen=True):
    """One file of a batch. `path` is as the request has it."""

    path: str
    real: bytes
    before: str
    after: str
    status: os.stat_result


class EditsRefused(InvalidRequest):
    """Nothing was changed. Each validation names a file or one of its edits."""


class _Asked(msgspec.Struct, frozen=True):
    """All edits of one path, with where they stand in the request."""

    place: int
    path: str
    edits: list[tuple[str, Edit]]


class GivenUp(Exception):
    """Nobody waits for the result any more."""


def _never() -> bool:
    return False


def computed(files: Sequence[FileEdits], is_given_up: Callable[[], bool] = _never) -> list[Changed]:
    """What the batch makes of the files, without changing any. Raises EditsRefused with all that is wrong.

    `is_given_up` is asked between edits, and ends this with GivenUp.
    """
    total = sum(len(file.edits) for file in files)
    if len(files) > MOST_FILES or total > MOST_EDITS:
        raise InvalidRequest(f"A batch may have at most {MOST_FILES} files and {MOST_EDITS} edits.")
    wrong: list[Validation] = []
    changed: list[Changed] = []
    known: dict[tuple[int, int], str] = {}
    left = MOST_BATCH_BYTES
    for asked in _merged(files, wrong):
        try:
            file = _read(asked, min(left, MOST_FILE_BYTES))
        except ChatdError as error:
            wrong.append(Validation(f"files[{asked.place}]", error.message))
            continue
        same = known.setdefault((file.status.st_dev, file.status.st_ino), asked.path)
        if same != asked.path:
            said = f"{_name(asked)} is the same file as {shown(path_of(same))}. Give all its edits under one path."
            wrong.append(Validation(f"files[{asked.place}]", said))
            continue
        after = _edited(file.before, asked, wrong, is_given_up)
        left -= len(file.before) + len(after)
        if left < 0:
            raise EditsRefused(f"The files of a batch may have {MOST_BATCH_BYTES} bytes together. No file was changed.")
        changed.append(msgspec.structs.replace(file, after=after))
    if wrong:
        count = "One thing is" if len(wrong) == 1 else f"{len(wrong)} things are"
        raise EditsRefused(f"No file was changed: {count} wrong with these edits.", validations=wrong)
    return changed


def written(changed: Sequence[Changed], new_mark: NewMark, rename: Rename = os.rename) -> None:
    """Put all that differ in place, or none. Raises a refusal."""
    begun: list[Replacement] = []
    try:
        for each in changed:
            if each.before == each.after:
                continue
            with telling(each.real):
                replacement = Replacement(each.real, each.status, [], new_mark)
                begun.append(replacement)
                replacement.write(_bytes(each.after))
                replacement.finish()
    except BaseException:
        for replacement in begun:
            replacement.drop()
        raise
    put_together(begun, new_mark, rename)


def _merged(files: Sequence[FileEdits], wrong: list[Validation]) -> list[_Asked]:
    merged: dict[str, _Asked] = {}
    if not files:
        wrong.append(Validation("files", "At least one file must be named."))
    for place, file in enumerate(files):
        if not file.edits:
            wrong.append(Validation(f"files[{place}].edits", "At least one edit must be given."))
        asked = merged.setdefault(file.path, _Asked(place, file.path, []))
        for number, edit in enumerate(file.edits):
            given = Edit(edit.search, edit.replacement, edit.replace_all)
            asked.edits.append((f"files[{place}].edits[{number}]", given))
    return list(merged.values())


def _read(asked: _Asked, most_bytes: int) -> Changed:
    path = path_of(asked.path)
    with telling(path):
        real = resolved(path).path
        writable(real)
    file = open_file(real)
    try:
        content = _all_of(file.read, most_bytes, path)
    finally:
        file.close()
    text = content.decode("utf-8", "surrogateescape")
    return Changed(asked.path, real, text, text, file.status)


def _all_of(read: Callable[[int], bytes], most_bytes: int, path: bytes) -> bytes:
    content = bytearray()
    while chunk := read(CHUNK_BYTES):
        content += chunk
        if len(content) > most_bytes:
            said = f"{shown(path)} has more than {most_bytes} bytes, too many to edit. Use a command, as sed."
            raise Refused(said, status=413, kind="too_large")
    return bytes(content)


def _edited(content: str, asked: _Asked, wrong: list[Validation], is_given_up: Callable[[], bool]) -> str:
    """With all edits that can be made, one after the other; what can't is added to `wrong`."""
    failed: list[str] = []
    for place, edit in asked.edits:
        if is_given_up():
            raise GivenUp
        if len(wrong) >= MOST_FAILED:
            wrong.append(Validation(place, f"{_name(asked)}: Not tried any more, because so many edits failed."))
            break
        try:
            after = edited(content, edit, most_characters=MOST_FILE_BYTES)
            if len(_bytes(after)) > MOST_FILE_BYTES:
                raise EditRefused(f"The file would have more than {MOST_FILE_BYTES} bytes.")
            content = after
        except UnicodeEncodeError:
            wrong.append(Validation(place, f"{_name(asked)}: The text has characters that no file can have."))
        except EditRefused as error:
            without = f" (This was tried without {', '.join(failed)}, which failed before.)" if failed else ""
            wrong.append(Validation(place, f"{_name(asked)}: {error}{without}"))
            failed.append(place)
    return content


def _name(asked: _Asked) -> str:
    return shown(path_of(asked.path))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
