"""The machine and the settings: data directory, disk, and the address that people use."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from chatd.server.doctor.findings import Finding, bad, doubtful, good
from chatd.server.middleware.experiments import AGENTS
from chatd.server.settings import LoadedSettings, Settings
from chatd.store.keeper.files import KeeperError
from chatd.store.keeper.paths import DataDirectory
from chatd.store.keys import KEY_FILE

_GIB: Final = 1024**3
_LITTLE: Final = 2 * _GIB  # a busy day's chats, with their files and Postgres' own log
_TOO_LITTLE: Final = _GIB // 4  # Postgres stops when it can't write; this is some minutes away from it
_OTHERS: Final = 0o077  # any right of group or others
_OTHERS_WRITE: Final = 0o022
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


def check_settings(loaded: LoadedSettings) -> Iterator[Finding]:
    given = [name for name, origin in loaded.origins.items() if not origin.startswith("default")]
    yield good("settings", f"{len(given)} given, the others have their defaults; `chatd settings` shows all")
    if AGENTS not in loaded.settings.experiments:
        yield doubtful("settings", "Chats are switched off", f"Put {AGENTS} into CHATD_EXPERIMENTS.")


def check_data_dir(settings: Settings) -> Iterator[Finding]:
    path = settings.data_dir
    directory = DataDirectory.of(path)
    if not path.exists():
        yield doubtful("data directory", f"{path} is not there", "`chatd serve` makes it, or name it with --data-dir.")
        return
    try:
        directory.check_owner()
    except KeeperError as error:
        yield bad("data directory", str(error))
        return
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        yield bad("data directory", f"{path} can't be written", "Start chatd as the user who owns it.")
    elif path.stat().st_mode & _OTHERS_WRITE:
        yield bad("data directory", f"Others may write to {path}", f"chmod go-w {path}")
    else:
        yield good("data directory", str(path))
    yield from _private_files(path, (path / KEY_FILE, directory.password))
    yield _disk(path)


def _private_files(folder: Path, files: tuple[Path, ...]) -> Iterator[Finding]:
    for file in files:
        if file.exists() and file.stat().st_mode & _OTHERS:
            name = file.relative_to(folder)
            yield bad("data directory", f"Others may read {name}, which is a secret", f"chmod 600 {file}")


def _disk(path: Path) -> Finding:
    free = shutil.disk_usage(path).free
    said = f"{free / _GIB:.1f} GiB free"
    if free < _TOO_LITTLE:
        return bad("disk", said, "Make room: the embedded Postgres stops when it can't write.")
    return doubtful("disk", said, "Make room soon.") if free < _LITTLE else good("disk", said)


def check_address(settings: Settings) -> Iterator[Finding]:
    """The public URL, and what follows from it for cookies and browsers."""
    if settings.public_url is None:
        yield doubtful("address", "The port is any free one, so nobody knows the URL", "Set CHATD_PORT.")
        return
    url = urlsplit(settings.public_url)
    is_local = url.hostname in _LOOPBACK
    if url.scheme == "https" and not settings.trusted_proxies:
        yield doubtful(
            "address",
            f"{settings.public_url}; chatd speaks no TLS, so there is a proxy, and none is trusted",
            "Set CHATD_TRUSTED_PROXIES to its addresses: until then all clients seem to come from it.",
        )
    elif url.scheme == "http" and not is_local:
        yield doubtful(
            "address",
            f"{settings.public_url} is not encrypted: passwords and cookies can be read on the way, and browsers allow "
            "no push",
            "Put a proxy with TLS in front and set CHATD_PUBLIC_URL to its https URL.",
        )
    elif is_local and settings.host not in _LOOPBACK:
        yield doubtful(
            "address",
            f"It listens on {settings.host}, and its URL is {settings.public_url}, which only this machine can use",
            "Set CHATD_PUBLIC_URL to what people type, or CHATD_HOST to 127.0.0.1.",
        )
    else:
        cookies = "cookies are Secure" if url.scheme == "https" else "for this machine only"
        yield good("address", f"{settings.public_url}, {cookies}")
    if "*" in settings.allowed_hosts:
        yield doubtful(
            "address", "Any host name is allowed", "Name yours in CHATD_ALLOWED_HOSTS: * lets DNS rebinding through."
        )
