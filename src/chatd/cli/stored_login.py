"""Where the command has its login: in the environment, or in a file that only its user can read."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec
import typer

from chatd.core.errors import ChatdError
from chatd.core.secret import Secret

URL_VARIABLE: Final = "CHATD_URL"
TOKEN_VARIABLE: Final = "CHATD_TOKEN"
LOCAL: Final = ("localhost", "127.0.0.1", "[::1]", "::1")


class StoredLogin(msgspec.Struct, frozen=True):
    url: str
    token: Secret
    username: str = ""


class _Written(msgspec.Struct, frozen=True):
    url: str
    token: str
    username: str = ""


def login_file() -> Path:
    return Path(typer.get_app_dir("chatd")) / "login.json"


def server_url(text: str) -> str:
    """The address of a server as it is stored. Without a scheme it is https, but http for this machine."""
    text = text.strip().rstrip("/")
    if text and "://" not in text:
        name = urlsplit(f"//{text}").hostname
        text = f"{'http' if name in LOCAL else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        fits = False
        parts = urlsplit("")
    if not fits or parts.query or parts.fragment or "@" in parts.netloc:
        raise ChatdError(
            f"{text or 'Nothing'} is no address of a server.", detail="Give one like https://chat.example.com."
        )
    return text


def is_in_the_open(url: str) -> bool:
    """Whether what is sent there can be read on the way."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in LOCAL


def current_login(environ: Mapping[str, str]) -> StoredLogin:
    """Raises ChatdError with what to do. A stored token goes only to the server that it was stored for."""
    stored = read_login()
    url = server_url(environ[URL_VARIABLE]) if environ.get(URL_VARIABLE) else stored and stored.url
    if url is None:
        raise ChatdError(
            "You are not signed in.", detail=f"Run `chatd login`, or set {URL_VARIABLE} and {TOKEN_VARIABLE}."
        )
    if token := environ.get(TOKEN_VARIABLE):
        return StoredLogin(url, Secret(token))
    if stored is None or stored.url != url:
        raise ChatdError(
            f"You are not signed in to {url}.", detail=f"Run `chatd login {url}`, or set {TOKEN_VARIABLE}."
        )
    return stored


def read_login() -> StoredLogin | None:
    try:
        written = msgspec.json.decode(login_file().read_bytes(), type=_Written)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise ChatdError(f"{login_file()} can't be read: {error}", detail="Run `chatd login` again.") from error
    return StoredLogin(written.url, Secret(written.token), written.username)


def store_login(login: StoredLogin) -> Path:
    """Where it is. The file is whole or the old one, and at no time readable by others."""
    path = login_file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        new.unlink()
    written = _Written(login.url, login.token.reveal(), login.username)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(written) + b"\n")
    new.replace(path)
    return path


def forget_login() -> None:
    with suppress(FileNotFoundError):
        login_file().unlink()
