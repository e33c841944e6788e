"""Files of a workspace, as the server asks for them and its agent tells of them.

Paths are absolute. Bytes of names that are no UTF-8 are surrogate escapes: `\\udc80` to `\\udcff`.
"""

from enum import StrEnum

import msgspec


class EntryKind(StrEnum):
    """`link` is one that leads nowhere; `other` are devices, pipes and sockets."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"


class PathQuery(msgspec.Struct, frozen=True, kw_only=True):
    path: str


class LinesQuery(msgspec.Struct, frozen=True, kw_only=True):
    """`offset` is the number of the first line, from 1 on. A larger `limit` than the agent's most is its most."""

    path: str
    offset: int = 1
    limit: int | None = None


class FileLines(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`content` has a line `NUMBER<tab>TEXT` for each. `next_offset` is there when more follows.

    `total_lines` is None where counting would take too long. `lossy`: U+FFFD stands for bytes that are no text.
    """

    content: str
    lines_read: int
    file_size: int
    total_lines: int | None = None
    next_offset: int | None = None
    lossy: bool = False


class WriteQuery(msgspec.Struct, frozen=True, kw_only=True):
    """`exclusive` refuses to replace a file."""

    path: str
    exclusive: bool = False


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """`path` is where the links led."""

    path: str
    size: int
    created: bool


class FileEdit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`search` becomes `replacement`: at the one place where it is, or everywhere."""

    search: str
    replacement: str
    replace_all: bool = False


class FileEdits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Edits of one file, each made after the one before."""

    path: str
    edits: tuple[FileEdit, ...]


class EditFiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All are made, or none."""

    files: tuple[FileEdits, ...]
    include_diff: bool = True


class EditedFile(msgspec.Struct, frozen=True, kw_only=True):
    """`diff` is a unified diff with the path of the request; empty where nothing changed."""

    path: str
    diff: str
    changed: bool


class EditedFiles(msgspec.Struct, frozen=True):
    files: tuple[EditedFile, ...]


class ListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Without a path: the workspace's home. `offset` is how many entries to pass over."""

    path: str | None = None
    offset: int = 0
    limit: int | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A link is what it leads to, with `is_link`."""

    name: str
    kind: EntryKind
    size: int
    modified_at_unix: int
    is_link: bool


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """Directories first, then by name. `next` is the offset of the next page. Not `is_complete`: the directory has so
    many entries that only `total` of them were looked at."""

    path: str
    entries: tuple[Entry, ...]
    total: int
    is_complete: bool
    next: int | None


class ResolvedPath(msgspec.Struct, frozen=True):
    """Where the links lead; what does not exist at the end stays as it is."""

    path: str
    exists: bool


class PathStatus(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    kind: EntryKind
    size: int
    mode: int
    modified_at_unix: int
    is_link: bool
    is_writable: bool


class MakeDirectory(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    path: str


class MovePath(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    source: str
    target: str
    replace: bool = False


class RemoveQuery(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    recursive: bool = False
