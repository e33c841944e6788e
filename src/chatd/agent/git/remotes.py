"""Remotes: the same repository by SSH, in the short form of scp, and by HTTPS, and never a secret of its address."""

import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

import msgspec

from chatd.wire.agent.git import Remote

_SCP = re.compile(r"(?:(?P<user>[^@/:]+)@)?(?P<host>\[[^\]]+\]|[^/:@]+):(?P<path>(?!//).*)", re.DOTALL)
_HELPER = re.compile(r"([A-Za-z0-9][A-Za-z0-9+.-]*)::")


class _Address(msgspec.Struct, frozen=True):
    url: str
    host: str = ""
    path: str = ""


def remote(name: str, url: str, rewrites: Iterable[tuple[str, str]] = ()) -> Remote:
    """`rewrites` are what git's `url.NEW.insteadOf OLD` says, as pairs of old and new: the longest counts."""
    fitting = max((pair for pair in rewrites if url.startswith(pair[0])), key=lambda pair: len(pair[0]), default=None)
    if fitting is not None:
        url = fitting[1] + url[len(fitting[0]) :]
    address = _address(url)
    path = address.path.strip("/").removesuffix(".git").strip("/") if address.host else ""
    owner, _, repository = path.rpartition("/")
    return Remote(name=name, url=address.url, host=address.host, owner=owner, repository=repository)


def _address(url: str) -> _Address:
    if (helper := _HELPER.match(url)) is not None:
        return _Address(f"{helper[1]}::")  # what follows is for a program, and may be anything
    if "://" in url:
        return _split(url)
    found = _SCP.fullmatch(url)
    if found is None or url.startswith(("/", ".")):
        return _Address(url)  # a folder
    user = f"{found['user']}@" if found["user"] else ""
    return _Address(f"{user}{found['host']}:{found['path']}", found["host"].strip("[]").lower(), found["path"])


def _split(url: str) -> _Address:
    """Of a web address all before the last @ is dropped: a token may stand in place of the user. So is the query."""
    scheme, _, rest = url.partition("://")
    is_web = scheme.lower() in ("http", "https", "ftp", "ftps")
    authority, slash, path = rest.partition("/")
    user = ""
    if is_web:
        rest = rest.rpartition("@")[2]
        authority, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    elif "@" in authority:
        user, _, authority = authority.rpartition("@")
        user = user.partition(":")[0] + "@"
    try:
        host = urlsplit(f"x://{authority}").hostname or ""
    except ValueError:
        host = ""
    return _Address(f"{scheme}://{user}{authority}{slash}{path}", host, unquote(path) if is_web else path)
