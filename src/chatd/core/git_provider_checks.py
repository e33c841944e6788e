"""What a configured host of repositories looks like."""

import re
from typing import Final
from urllib.parse import urlsplit

from chatd.core.errors import InvalidRequest, Validation

HOST_LONGEST: Final = 253
URL_LONGEST: Final = 2048
TOKEN_LONGEST: Final = 4096  # those of GitHub's apps have some hundred
_HOST: Final = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")  # labels as DNS has them
_IPV6: Final = re.compile(r"[0-9a-f:.]{2,45}")


def checked_host(host: str) -> str:
    """In lower case, as it is compared. Raises InvalidRequest."""
    found = host.strip().lower()
    is_address = ":" in found and _IPV6.fullmatch(found)
    if len(found) > HOST_LONGEST or not (_HOST.fullmatch(found) or is_address):
        raise _wrong("host", "the name in addresses of repositories, such as github.com; without https:// and port")
    return found


def check_api_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        valid = parts.port is None or parts.port > 0
    except ValueError:
        valid, parts = False, urlsplit("")
    if not valid or parts.scheme not in ("http", "https") or not parts.hostname or len(url) > URL_LONGEST:
        raise _wrong("api_url", "a URL that starts with https:// or http://; empty for the usual one of the host")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise _wrong("api_url", "printable ASCII characters without spaces")
    if "@" in parts.netloc:
        raise _wrong("api_url", "without a user or password; tokens belong into token")
    if "?" in url or "#" in url:
        raise _wrong("api_url", "it must end before ? and #")


def check_token(token: str) -> None:
    """Tokens travel in headers."""
    if not 0 < len(token) <= TOKEN_LONGEST or not (token.isascii() and token.isprintable() and " " not in token):
        raise _wrong("token", f"1 to {TOKEN_LONGEST} printable ASCII characters without spaces; null takes it away")


def _wrong(field: str, detail: str) -> InvalidRequest:
    return InvalidRequest(f"Check {field}.", validations=[Validation(field, detail)])
