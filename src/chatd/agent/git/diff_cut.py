"""A diff within bounds: the head of each file's, and notes where something is left out."""

from typing import Final

import msgspec

LEAST_FILE_BYTES: Final = 256  # of a file's diff; where not even this fits for all, the last files are only counted
_NOTE_BYTES: Final = 80  # more than a note takes


class Cut(msgspec.Struct, frozen=True):
    text: bytes
    files: int
    is_complete: bool


def files_of(diff: bytes) -> list[bytes]:
    """A diff, file by file. Lines of content begin with a sign, so a header can't be mistaken."""
    pieces = diff.split(b"\ndiff --git ")
    joined = [pieces[0], *(b"diff --git " + piece for piece in pieces[1:])]
    ended = [piece if piece.endswith(b"\n") or not piece else piece + b"\n" for piece in joined]
    return [piece for piece in ended if piece]


def cut(files: list[bytes], most_bytes: int) -> Cut:
    """Short ones stay whole, and the long ones share what is left."""
    if sum(map(len, files)) <= most_bytes:
        return Cut(b"".join(files), len(files), is_complete=True)
    shown = files[: max(1, (most_bytes - _NOTE_BYTES) // (LEAST_FILE_BYTES + _NOTE_BYTES))]
    left, share = most_bytes - _NOTE_BYTES, 0
    for place, size in enumerate(sorted(map(len, shown))):
        share = left // (len(shown) - place)
        left -= min(size, share)
    text = b"".join(piece if len(piece) <= share else _head(piece, share) for piece in shown)
    if len(shown) < len(files):
        text += b"[%d more files are left out]\n" % (len(files) - len(shown))
    return Cut(text, len(files), is_complete=False)


def _head(piece: bytes, most: int) -> bytes:
    kept = piece[: piece.rfind(b"\n", 0, max(1, most - _NOTE_BYTES)) + 1]
    return kept + b"[%d more bytes of this file's diff are left out]\n" % (len(piece) - len(kept))
