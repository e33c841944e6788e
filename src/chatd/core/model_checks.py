"""What a provider and a configured model look like: the checks that need neither a database nor a vendor."""

import re
from collections.abc import Sequence
from ipaddress import ip_address
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.provider_kind import ProviderKind

PROVIDER_NAME_PATTERN: Final = r"^[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,62}[a-zA-Z0-9])?$"  # the database checks the same
_PROVIDER_NAME: Final = re.compile(PROVIDER_NAME_PATTERN)
DISPLAY_NAME_LONGEST: Final = 128
MODEL_LONGEST: Final = 256
BASE_URL_LONGEST: Final = 2048
API_KEY_LONGEST: Final = 10_240  # a service account of Google is 2.5 kB
MOST_CONTEXT: Final = 10**12
_HOST: Final = re.compile(r"[a-zA-Z0-9_-]{1,63}(\.[a-zA-Z0-9_-]{1,63})*")  # labels as DNS has them
_HOST_LONGEST: Final = 253
_DEFAULT_PORTS: Final = MappingProxyType({"http": 80, "https": 443})


def check_provider(*, name: str, display_name: str, base_url: str) -> None:
    """Raise InvalidRequest naming every field that is wrong."""
    wrong: list[Validation] = []
    if not _PROVIDER_NAME.fullmatch(name):
        wrong.append(
            Validation("name", "1 to 64 letters, digits, dots, dashes or underscores; a letter or digit at both ends")
        )
    wrong += _display_name_problems(display_name)
    if problem := _url_problem(base_url):
        wrong.append(Validation("base_url", problem))
    refuse(wrong)


def check_api_key(key: str, kind: ProviderKind) -> None:
    """Keys travel in headers, which take no spaces; Vertex has the JSON of a service account instead."""
    rule = ""
    if not key:
        rule = "not empty; null takes the key away"
    elif key != key.strip():
        rule = "without spaces around it"
    elif len(key) > API_KEY_LONGEST:
        rule = f"at most {API_KEY_LONGEST} characters"
    elif kind is not ProviderKind.VERTEX and not (key.isascii() and key.isprintable() and " " not in key):
        rule = "printable ASCII characters without spaces"
    if rule:
        refuse([Validation("api_key", rule)])


def check_model(*, model: str, display_name: str, context_limit: int | None, compression_threshold: int) -> None:
    wrong: list[Validation] = []
    if not 1 <= len(model) <= MODEL_LONGEST or not _printable(model) or model != model.strip():
        wrong.append(Validation("model", f"1 to {MODEL_LONGEST} printable characters: the name that the vendor knows"))
    wrong += _display_name_problems(display_name)
    if context_limit is not None and not 0 < context_limit <= MOST_CONTEXT:
        wrong.append(Validation("context_limit", "a number of tokens above 0"))
    if not 0 <= compression_threshold <= 100:
        wrong.append(Validation("compression_threshold", "a percentage from 0 to 100; 100 never compacts"))
    refuse(wrong)


def same_address(one: str, other: str) -> bool:
    """Whether two base URLs lead to the same server, so that a key that was given for one may go to the other."""
    return _origin(one) == _origin(other)


def refuse(wrong: Sequence[Validation]) -> None:
    if wrong:
        fields = ", ".join(dict.fromkeys(validation.field for validation in wrong))
        raise InvalidRequest(f"Check {fields}.", validations=wrong)


def _display_name_problems(display_name: str) -> list[Validation]:
    if len(display_name) > DISPLAY_NAME_LONGEST or not _printable(display_name):
        return [Validation("display_name", f"at most {DISPLAY_NAME_LONGEST} printable characters")]
    return []


def _url_problem(url: str) -> str:
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        valid = parts.port is None or parts.port > 0
    except ValueError:
        valid, parts = False, urlsplit("")
    if not valid or parts.scheme not in ("http", "https") or not parts.hostname or len(url) > BASE_URL_LONGEST:
        return "a URL that starts with https:// or http://"
    if not url.isascii() or not url.isprintable() or " " in url:
        return "printable ASCII characters without spaces"
    if not _is_host(parts.hostname):
        return "with a host name or an IP address"
    if "@" in parts.netloc:
        return "without a user or password; keys have a field of their own"
    if parts.query or parts.fragment:
        return "it must end before ? and #"
    return ""


def _is_host(host: str) -> bool:
    if len(host) <= _HOST_LONGEST and _HOST.fullmatch(host):
        return True
    try:
        return "%" not in host and ip_address(host).version == 6  # a zone means something on one machine only
    except ValueError:
        return False


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or _DEFAULT_PORTS.get(parts.scheme)


def _printable(text: str) -> bool:
    if not text.isprintable():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
