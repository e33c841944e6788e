"""Opaque tokens and setup codes: what they look like and what is stored of them."""

import hashlib
import re
from typing import Final

TOKEN_PREFIX: Final = "chatd_"  # lets people and secret scanners recognise a leaked token
_TOKEN: Final = re.compile(r"^chatd_[A-Za-z0-9_-]{43}$")


def looks_like_token(text: str) -> bool:
    """Cheap refusal of garbage before the database is asked."""
    return _TOKEN.fullmatch(text) is not None


def hash_token(token: str) -> bytes:
    """What is stored. A plain hash is enough: nobody guesses 256 random bits, and it can be looked up."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def hash_setup_code(code: str) -> bytes:
    """Dashes, spaces and case do not matter."""
    return hashlib.sha256(re.sub(r"[\s-]", "", code).upper().encode("utf-8", "surrogatepass")).digest()
