"""What was found, read: each within its bound, all together within theirs, and nothing from outside of its root."""

import os
import platform
from hashlib import sha256
from typing import Final

import msgspec

from chatd.agent.context.frontmatter import BadHead, head_of
from chatd.agent.context.mcp_config import BadConfig, servers_of
from chatd.agent.context.places import Found, Places, look
from chatd.agent.files.paths import resolved, text_of
from chatd.agent.files.reading import open_file
from chatd.agent.refusals import Refused
from chatd.core.escaped_json import encode
from chatd.wire.agent.context import ContextKind, ContextResource, ContextStatus, WorkspaceContext

MOST_BYTES: Final = 64 * 1024  # of one file: 16,000 tokens are more than any prompt should have of it
MOST_TOTAL_BYTES: Final = 2 * 1024 * 1024
MOST_RESOURCES: Final = 500


class ReadFile(msgspec.Struct, frozen=True):
    """`real` is where links led; `content` has at most the bytes that were asked for."""

    real: bytes
    size: int
    content: bytes


class Outside(Exception):
    """A link leads out of where it may."""


class ContextReader:
    """Reads the disk."""

    def __init__(self, workdir: bytes, home: bytes) -> None:
        self._workdir = workdir
        self._home = home

    def read(self) -> tuple[WorkspaceContext, Places]:
        """The context, and where to watch for another."""
        places = look(self._workdir, self._home)
        left = MOST_TOTAL_BYTES
        names: set[str] = set()
        resources: list[ContextResource] = []
        for found in places.found[:MOST_RESOURCES]:
            resource = _read(found, places)
            if resource.kind is ContextKind.SKILL and resource.status is ContextStatus.OK:
                if resource.name in names:
                    resource = _refused(resource, ContextStatus.INVALID, "Another skill of this name was found before.")
                names.add(resource.name)
            size = len(resource.content.encode())
            if size > left:
                said = f"All together have more than {MOST_TOTAL_BYTES} bytes, so it is left out."
                resource, size = _refused(resource, ContextStatus.OVERSIZE, said), 0
            left -= size
            resources.append(resource)
        left_out = max(0, len(places.found) - MOST_RESOURCES)
        told = WorkspaceContext(
            version="",
            hash=_hash([one for one in resources if one.kind is not ContextKind.MCP_CONFIG]),
            os=_system(),
            directory=text_of(self._workdir),
            resources=tuple(resources),
            left_out=left_out,
        )
        return msgspec.structs.replace(told, version=sha256(encode(told)).hexdigest()[:24]), places


def read_within(path: bytes, root: bytes, most_bytes: int) -> ReadFile:
    """An ordinary file inside of the root. Raises Refused and Outside."""
    try:
        real, inside = resolved(path).path, resolved(root).path
    except OSError as error:
        raise Refused(f"It can't be reached: {error.strerror}.", status=404) from error
    if not real.startswith(inside.rstrip(b"/") + b"/"):
        raise Outside
    file = open_file(real)
    try:
        content = b""
        while len(content) < most_bytes and (chunk := file.read(most_bytes - len(content))):
            content += chunk
    finally:
        file.close()
    return ReadFile(real, max(file.size, len(content)), content)


def _read(found: Found, places: Places) -> ContextResource:
    source = text_of(found.path)
    plain = ContextResource(id=f"{found.kind}:{source}", kind=found.kind, source=source, status=ContextStatus.OK)
    if found.kind is ContextKind.SKILL:
        plain = msgspec.structs.replace(plain, directory=text_of(os.path.dirname(found.path)))  # noqa: PTH120 - bytes
    try:
        read = read_within(found.path, found.root, MOST_BYTES + 1)
    except Outside:
        return _refused(plain, ContextStatus.INVALID, "It leads out of the folder that it is in.")
    except Refused as refused:
        return _refused(plain, ContextStatus.UNREADABLE, refused.message)
    if read.real != found.path:
        folder, name = os.path.split(read.real)
        known = places.folders.get(folder, frozenset())
        places.folders[folder] = None if known is None else known | {name}
    hashed = sha256(read.content[:MOST_BYTES]).hexdigest()
    plain = msgspec.structs.replace(plain, size=read.size, hash=hashed)
    if len(read.content) > MOST_BYTES:
        return _refused(plain, ContextStatus.OVERSIZE, f"It has more than {MOST_BYTES} bytes.")
    return _understood(plain, found, read.content)


def _understood(plain: ContextResource, found: Found, content: bytes) -> ContextResource:
    if found.kind is ContextKind.MCP_CONFIG:
        try:
            return msgspec.structs.replace(plain, servers=servers_of(content))
        except BadConfig as bad:
            return _refused(plain, ContextStatus.INVALID, str(bad))
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return _refused(plain, ContextStatus.INVALID, "It is no text in UTF-8.")
    if found.kind is ContextKind.INSTRUCTION_FILE:
        return msgspec.structs.replace(plain, content=text)
    try:
        head = head_of(text, text_of(found.path.split(b"/")[-2]))
    except BadHead as bad:
        return _refused(plain, ContextStatus.INVALID, str(bad))
    return msgspec.structs.replace(plain, content=head.body, name=head.name, description=head.description)


def _refused(resource: ContextResource, status: ContextStatus, said: str) -> ContextResource:
    return msgspec.structs.replace(resource, status=status, error=said, content="")


def _hash(resources: list[ContextResource]) -> str:
    lines = sorted((one.id, one.kind, one.source, one.hash, one.status) for one in resources)
    return sha256("\n".join("\0".join(line) for line in lines).encode("utf-8", "surrogateescape")).hexdigest()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()
