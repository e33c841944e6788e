"""What the value of a setting may be: each kind says so in words and turns a text, or a TOML value, into the value.

`parse` raises ValueError. Its text, if it has one, says more than `allowed` does; it never repeats the value,
which may be a secret.
"""

import base64
import binascii
import os
import re
import ssl
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import SplitResult, urlsplit

import msgspec

from chatd.core import people
from chatd.core.errors import InvalidRequest
from chatd.core.secret import Secret

TEXT_LIMIT = 10_000  # characters of one value: a list of keys fits, a file given by mistake does not
KEY_BYTES = 32  # AES-256
_WHOLE = re.compile(r"-?[0-9]{1,18}")  # 18 digits stay below 64 bits
_WHOLE_OF_ANY_SIZE = re.compile(r"-?[0-9]+")
_HOST = re.compile(r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._\-]{1,253}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
_ASKED_HOST = re.compile(r"\*|(\*?\.)?[A-Za-z0-9._\-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
_ACCOUNT = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_HOST_PATTERN = re.compile(r"\*|(\*\.)?[A-Za-z0-9._\-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")


class Kind(Protocol):
    @property
    def allowed(self) -> str:
        """What is allowed, to follow the words "must be"."""
        ...

    def parse(self, raw: object, folder: Path) -> object:
        """The value. A relative path is taken from `folder`."""
        ...


class WholeNumber(msgspec.Struct, frozen=True):
    least: int
    most: int
    unit: str = ""

    @property
    def allowed(self) -> str:
        return f"a whole number{self.unit and ' of ' + self.unit} from {self.least} to {self.most}"

    def parse(self, raw: object, folder: Path) -> int:
        if isinstance(raw, str):
            raw = int(raw) if _WHOLE.fullmatch(text_of(raw)) else None
        if not isinstance(raw, int) or isinstance(raw, bool) or not self.least <= raw <= self.most:
            raise ValueError
        return raw


class ClampedNumber(msgspec.Struct, frozen=True):
    """A whole number of any size; one that is out of range counts as the nearest that is not."""

    least: int
    most: int

    @property
    def allowed(self) -> str:
        return f"a whole number; below {self.least} it counts as {self.least}, above {self.most} as {self.most}"

    def parse(self, raw: object, folder: Path) -> int:
        if isinstance(raw, str):
            text = text_of(raw)
            if not _WHOLE_OF_ANY_SIZE.fullmatch(text):
                raise ValueError
            if not _WHOLE.fullmatch(text):  # more digits than are worth reading
                return self.least if text.startswith("-") else self.most
            raw = int(text)
        if not isinstance(raw, int) or isinstance(raw, bool):
            raise ValueError
        return min(max(raw, self.least), self.most)


class Choice(msgspec.Struct, frozen=True):
    values: tuple[str, ...]

    @property
    def allowed(self) -> str:
        *others, last = self.values
        return f"{', '.join(others)} or {last}" if others else last

    def parse(self, raw: object, folder: Path) -> str:
        if text_of(raw) not in self.values:
            raise ValueError
        return text_of(raw)


class Host(msgspec.Struct, frozen=True):
    """An address to listen on."""

    allowed: str = "a host name or an IP address, without scheme and port"

    def parse(self, raw: object, folder: Path) -> str:
        if not _HOST.fullmatch(text_of(raw)):
            raise ValueError
        return text_of(raw).strip("[]")


class AccountName(msgspec.Struct, frozen=True):
    """A user of this machine."""

    allowed: str = "the name of a user, at most 32 letters, digits, - and _"

    def parse(self, raw: object, folder: Path) -> str:
        if not _ACCOUNT.fullmatch(text_of(raw)):
            raise ValueError
        return text_of(raw)


class EngineUrl(msgspec.Struct, frozen=True):
    """Where an engine with Docker's API listens."""

    allowed: str = "unix:///path/to/socket or tcp://host:port"

    def parse(self, raw: object, folder: Path) -> str:
        text = text_of(raw)
        parts = split_url(text)
        is_socket = parts is not None and parts.scheme == "unix" and not parts.netloc and len(parts.path) > 1
        is_port = parts is not None and parts.scheme == "tcp" and bool(parts.hostname and parts.port)
        if parts is None or not (is_socket or is_port) or "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError
        return text


class HostPattern(msgspec.Struct, frozen=True):
    """A name by which clients may call this server."""

    allowed: str = "a host name, an IP address (IPv6 in brackets), *.example.com, or * for any"

    def parse(self, raw: object, folder: Path) -> str:
        if not _HOST_PATTERN.fullmatch(text_of(raw)):
            raise ValueError
        return text_of(raw).lower()


class Network(msgspec.Struct, frozen=True):
    allowed: str = "an IP address or a network in CIDR notation, like 10.0.0.0/8"

    def parse(self, raw: object, folder: Path) -> str:
        text = text_of(raw)
        try:
            return str(ip_network(text))
        except ValueError:
            pass
        try:
            meant = ip_network(text, strict=False)
        except ValueError:
            raise ValueError from None
        raise ValueError(f"the address has bits beyond its prefix; {meant} is the network")


class AskedHost(msgspec.Struct, frozen=True):
    """An entry of NO_PROXY."""

    allowed: str = (
        "a host name with those below it, an IP address, either with a port, a network in CIDR notation, or *"
    )

    def parse(self, raw: object, folder: Path) -> str:
        text = text_of(raw).lower()
        if not _ASKED_HOST.fullmatch(text):
            try:
                ip_network(text, strict=False)
            except ValueError:
                raise ValueError from None
        return text


class Url(msgspec.Struct, frozen=True):
    """A URL as text. `several` allows more of them with commas."""

    schemes: tuple[str, ...]
    credentials: bool = False
    several: bool = False
    path: bool = True

    @property
    def allowed(self) -> str:
        pathless = "" if self.path else ", without a path"
        return "a URL that starts with " + " or ".join(f"{scheme}://" for scheme in self.schemes) + pathless

    def parse(self, raw: object, folder: Path) -> str:
        text = text_of(raw)
        for one in text.split(",") if self.several else [text]:
            self._check(one)
        return text

    def _check(self, text: str) -> None:
        parts = split_url(text)
        if parts is None or parts.scheme not in self.schemes:
            raise ValueError
        # Postgres also takes the host from the query (`?host=/run/postgresql`), or its default.
        if not parts.hostname and "postgresql" not in self.schemes:
            raise ValueError("the host is missing")
        if not self.credentials and "@" in parts.netloc:
            raise ValueError("it must not contain a user or password")
        if not self.credentials and (parts.query or parts.fragment):
            raise ValueError("it must end before ? and #")
        if not self.path and parts.path not in ("", "/"):
            raise ValueError("nothing is served under a path; give chatd a host name of its own")


class FilePath(msgspec.Struct, frozen=True):
    """A path, made absolute. It need not exist."""

    allowed: str = "a path"
    metavar: str = "DIR"  # how the help names it

    def parse(self, raw: object, folder: Path) -> Path:
        return absolute(text_of(raw), folder)


class Folder(msgspec.Struct, frozen=True):
    allowed: str = "a folder that exists"

    def parse(self, raw: object, folder: Path) -> Path:
        path = absolute(text_of(raw), folder)
        try:
            exists = path.is_dir()
        except OSError as error:
            raise ValueError(error.strerror) from None
        if not exists:
            raise ValueError
        return path


class Certificates(msgspec.Struct, frozen=True):
    allowed: str = "a readable file with certificates in PEM form"

    def parse(self, raw: object, folder: Path) -> Path:
        path = absolute(text_of(raw), folder)
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
        except OSError as error:  # ssl.SSLError is one
            raise ValueError(error.strerror if not isinstance(error, ssl.SSLError) else "") from None
        return path


class EmailAddress(msgspec.Struct, frozen=True):
    allowed: str = "an email address, like ada@example.com"

    def parse(self, raw: object, folder: Path) -> str:
        try:
            people.check_profile(email=text_of(raw), username="someone", display_name="")
        except InvalidRequest:
            raise ValueError from None
        return text_of(raw)


class Contact(msgspec.Struct, frozen=True):
    """Whom others can write to, as a URL."""

    allowed: str = "an email address, or a URL that starts with https://"

    def parse(self, raw: object, folder: Path) -> str:
        text = text_of(raw)
        if text.startswith("https://"):
            return Url(("https",)).parse(text, folder)
        return f"mailto:{EmailAddress().parse(text.removeprefix('mailto:'), folder)}"


class Password(msgspec.Struct, frozen=True):
    allowed: str = f"a password of {people.PASSWORD_SHORTEST} to {people.PASSWORD_LONGEST} characters"

    def parse(self, raw: object, folder: Path) -> str:
        password = _whole_text(raw)  # its spaces are part of it
        try:
            people.check_password(password)
        except InvalidRequest as error:
            raise ValueError("; ".join(validation.detail for validation in error.validations)) from None
        return password


class ApiKey(msgspec.Struct, frozen=True):
    allowed: str = "a key of printable ASCII characters without spaces"

    def parse(self, raw: object, folder: Path) -> str:
        text = text_of(raw)
        if not text.isascii() or " " in text:
            raise ValueError
        return text


class EncryptionKeyText(msgspec.Struct, frozen=True):
    allowed: str = f"{KEY_BYTES} bytes in base64, as `chatd keys new` prints them"

    def parse(self, raw: object, folder: Path) -> str:
        text = text_of(raw)
        try:
            if len(base64.b64decode(text, validate=True)) != KEY_BYTES:
                raise ValueError
        except (binascii.Error, ValueError):
            raise ValueError from None
        return text


class Hidden(msgspec.Struct, frozen=True):
    """Another kind, whose value is a Secret."""

    kind: Kind

    @property
    def allowed(self) -> str:
        return self.kind.allowed

    def parse(self, raw: object, folder: Path) -> Secret:
        return Secret(str(self.kind.parse(raw, folder)))


class ListOf(msgspec.Struct, frozen=True):
    """Values of one kind: with commas in a text, an array in TOML. Each once."""

    kind: Kind
    may_be_empty: bool = True

    @property
    def allowed(self) -> str:
        return f"a list with commas, each {self.kind.allowed}"

    def parse(self, raw: object, folder: Path) -> tuple[object, ...]:
        items = self._items(raw)
        if not items and not self.may_be_empty:
            raise ValueError("it is empty; leave it out for the default")
        values: list[object] = []
        for number, item in enumerate(items, 1):
            try:
                value = self.kind.parse(item, folder)
            except ValueError as error:
                raise ValueError(f"item {number} is not{f': {error}' if str(error) else ''}") from None
            if value in values:
                raise ValueError(f"item {number} is there twice")
            values.append(value)
        return tuple(values)

    def _items(self, raw: object) -> Sequence[object]:
        if isinstance(raw, list | tuple):
            return cast("Sequence[object]", raw)
        text = _whole_text(raw).strip()
        return [item.strip() for item in text.split(",")] if text else []


def text_of(raw: object) -> str:
    """The text without the spaces around it; ValueError when it is none, empty or not printable."""
    text = _whole_text(raw).strip()
    if not text:
        raise ValueError("it is empty; leave it out for the default")
    if not text.isprintable():
        raise ValueError("it contains characters that can't be printed")
    return text


def _whole_text(raw: object) -> str:
    if isinstance(raw, os.PathLike):
        raw = os.fspath(cast("os.PathLike[str]", raw))
    if not isinstance(raw, str):
        raise ValueError("it is not a text")
    if len(raw) > TEXT_LIMIT:
        raise ValueError(f"it is longer than {TEXT_LIMIT} characters")
    return raw


def holds_password(raw: object) -> bool:
    """Whether URLs (with commas) hold a password or token. A lone user is one, but not for Postgres. In doubt: yes."""
    for one in str(raw).split(","):
        try:
            parts = urlsplit(one.strip())
        except ValueError:
            return True
        who, at, _ = parts.netloc.rpartition("@")
        # A raw / in a password ends up in the path.
        if "@" in parts.path + parts.fragment or "password" in parts.query.lower():
            return True
        if at and (":" in who or parts.scheme not in ("postgres", "postgresql")):
            return True
    return False


def split_url(text: str) -> SplitResult | None:
    """The parts of a URL without spaces and with a valid port, else None."""
    try:
        parts = urlsplit(text)
        valid = parts.port is None or parts.port > 0
    except ValueError:
        return None
    return parts if valid and not re.search(r"\s", text) else None


def absolute(text: str, folder: Path) -> Path:
    """The path from `folder`; `~` is the user's home."""
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise ValueError("the home directory of that user is not known") from None
    return Path(os.path.normpath(folder / path))
