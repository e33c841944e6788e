"""Where an agent listens: `unix:PATH` or `tcp:HOST:PORT`, as something that an HTTP client can connect to."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import aiohttp
import msgspec

LONGEST_SOCKET_PATH: Final = 107  # bytes that a Unix socket's address holds on Linux
MOST_CONNECTIONS: Final = 32  # to one agent at a time; calls of a step beyond that wait for one
KEEP_SECONDS: Final = 300.0  # an idle connection; the agent keeps its side a little longer


class Route(msgspec.Struct, frozen=True):
    """`connector` makes one that keeps its connections, or one that does not. `close` gives back what reaching the
    agent took; connectors are closed by who uses them."""

    url: str
    connector: Callable[[bool], aiohttp.BaseConnector]
    close: Callable[[], None]


def route_to(address: str) -> Route:
    """Within a running event loop. Raises ValueError for what is no address, OSError where there is nothing."""
    kind, _, rest = address.partition(":")
    if kind == "unix" and rest.startswith("/"):
        return _unix_route(Path(rest))
    host, _, port = rest.rpartition(":")
    if kind != "tcp" or not host or not (port.isascii() and port.isdigit()):
        raise ValueError(f"not the address of an agent: {address!r}")
    bare = host.strip("[]")
    return Route(f"http://{f'[{bare}]' if ':' in bare else bare}:{port}", _tcp_connector, lambda: None)


def _unix_route(path: Path) -> Route:
    """A path that is too long for an address is reached through its folder, held open."""
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return Route("http://agent", partial(_unix_connector, str(path)), lambda: None)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    through = f"/proc/self/fd/{folder}/{path.name}"
    return Route("http://agent", partial(_unix_connector, through), lambda: os.close(folder))


def _unix_connector(path: str, keeps: bool) -> aiohttp.UnixConnector:
    if keeps:
        return aiohttp.UnixConnector(path, limit=MOST_CONNECTIONS, keepalive_timeout=KEEP_SECONDS)
    return aiohttp.UnixConnector(path, limit=MOST_CONNECTIONS, force_close=True)


def _tcp_connector(keeps: bool) -> aiohttp.TCPConnector:
    if keeps:
        return aiohttp.TCPConnector(limit=MOST_CONNECTIONS, keepalive_timeout=KEEP_SECONDS)
    return aiohttp.TCPConnector(limit=MOST_CONNECTIONS, force_close=True)
