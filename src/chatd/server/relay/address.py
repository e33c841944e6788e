"""Where the private listener of a replica is, and where the others are told that it is."""

import socket
from typing import Final
from urllib.parse import urlsplit

from chatd.core.errors import StartRefused
from chatd.server.serving import open_socket
from chatd.server.settings import Settings

SCHEME: Final = "tls"
_EVERY: Final = ("0.0.0.0", "::")  # noqa: S104  compared, not bound


def open_relay_socket(settings: Settings, place: int) -> tuple[socket.socket, str]:
    """The bound socket and its advertised URL. `place` is the replica's under one parent: each has a port of its own.

    Raises StartRefused.
    """
    host, advertised = settings.relay_host, settings.relay_url
    if advertised is None and host in _EVERY:
        raise StartRefused(
            "Other replicas can't be told where to reach this one.",
            detail=f"It listens on every address ({host}). Set CHATD_RELAY_URL, such as {SCHEME}://10.0.0.5:7081.",
        )
    port = settings.relay_port + place if settings.relay_port else 0
    try:
        sock = open_socket(host, port)
    except OSError as error:
        raise StartRefused(
            f"Can't listen for other replicas on {host}, port {port}: {error.strerror or error}.",
            detail="Stop what uses it, or set CHATD_RELAY_HOST and CHATD_RELAY_PORT.",
        ) from error
    if advertised is None:
        return sock, url_of(*sock.getsockname()[:2])
    name, given = address_of(advertised)
    return sock, url_of(name, given + place if given else sock.getsockname()[1])


def url_of(host: str, port: int) -> str:
    return f"{SCHEME}://{f'[{host}]' if ':' in host else host}:{port}"


def address_of(url: str) -> tuple[str, int]:
    """Host and port, 0 where it names none."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 0
