"""The files of the web app, read once at the start. `web/` builds them into the package; a clone may not have them."""

import hashlib
import mimetypes
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import msgspec

INDEX: Final = "/index.html"
_BUILT: Final = "web_app"
_NOT_BUILT: Final = "not_built.html"
# In the order of preference: what `web/vite.config.ts` writes beside each file.
_ENCODINGS: Final = (("br", ".br"), ("gzip", ".gz"))
# `mimetypes` asks the system, which may know none of these.
_TYPES: Final = {".js": "text/javascript", ".webmanifest": "application/manifest+json", ".svg": "image/svg+xml"}


class WebFile(msgspec.Struct, frozen=True):
    """`content` by encoding; plain is `""`. An address with a hash in its name never means anything else."""

    content: dict[str, bytes]
    media_type: str
    etag: str
    is_hashed: bool


@cache
def web_files(folder: Traversable | None = None) -> Mapping[str, WebFile]:
    """By address, read once in a process. Without a build there is one page, which says how to get it."""
    server = files("chatd.server")
    built = folder or server.joinpath(_BUILT)
    if not built.joinpath("index.html").is_file():
        return {INDEX: _file(INDEX, {"": server.joinpath("web", _NOT_BUILT).read_bytes()})}
    contents = dict(_walk(built, ""))
    twins = tuple(suffix for _, suffix in _ENCODINGS)
    return {
        path: _file(
            path,
            {"": content} | {name: contents[path + suffix] for name, suffix in _ENCODINGS if path + suffix in contents},
        )
        for path, content in contents.items()
        if not path.endswith(twins) and not path.startswith("/.")
    }


def _walk(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        here = f"{path}/{entry.name}"
        if entry.is_dir():
            yield from _walk(entry, here)
        else:
            yield here, entry.read_bytes()


def _file(path: str, content: dict[str, bytes]) -> WebFile:
    suffix = path[path.rfind(".") :]
    media_type = _TYPES.get(suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"
    if media_type.startswith("text/") or media_type.endswith("json"):
        media_type += "; charset=utf-8"
    return WebFile(
        content=content,
        media_type=media_type,
        etag=f'"{hashlib.sha256(content[""]).hexdigest()[:32]}"',
        is_hashed=path.startswith("/assets/"),
    )
