"""Limits on the requests of one user that cost more than others: answers of models, uploads, searches, exports.

They stand beside the limit on all requests, so that who may ask often may not spend as often.
"""

import re
from typing import Final
from urllib.parse import parse_qs

import msgspec

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.file_types import MOST_BYTES
from chatd.server.middleware.asgi_types import Scope, header, state
from chatd.server.middleware.rate_limit import Buckets

_CHATS: Final = "/api/experimental/chats"
_FILES: Final = f"POST {_CHATS}/files"
_INTO_WORKSPACE: Final = re.compile(r"PUT /api/experimental/workspaces/[^/]+/files/content")
_LIST: Final = f"GET {_CHATS}"
_MOST_DIGITS: Final = 18  # of a length that anyone means
_SEARCH: Final = "search:"  # the term of `q` that looks into messages, in any case
_EXPORT: Final = re.compile(rf"GET {_CHATS}/[^/]+/export")
# What makes a model work. What waits in the queue was counted when it was sent, and results of tools belong to a turn.
_INFERENCE: Final = re.compile(
    rf"POST {_CHATS}(/[^/]+/(messages|compact|title/\w+))?|PATCH {_CHATS}/[^/]+/messages/[^/]+"
)


class CostlyLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Each for one user and minute; 0 is no limit. `workspace_upload` is how large one into a workspace may be."""

    inference: int = 0
    uploads: int = 0
    upload_bytes: int = 0
    searches: int = 0
    exports: int = 0
    workspace_upload: int = MOST_BYTES


class Costly:
    """The limits, by user. A minute's worth may come at once."""

    def __init__(self, limits: CostlyLimits, clock: Clock) -> None:
        def buckets(per_minute: int, what: str) -> Buckets | None:
            if not per_minute:
                return None
            refusal = f"Too many {what}: {per_minute} a minute are allowed. Wait a moment."
            return Buckets(clock=clock, per_minute=per_minute, burst=per_minute, refusal=refusal)

        self._inference = buckets(limits.inference, "messages, chats, edits, compactions and titles")
        self._uploads = buckets(limits.uploads, "uploads")
        self._upload_bytes = buckets(limits.upload_bytes, "bytes in uploads")
        self._searches = buckets(limits.searches, "searches")
        self._exports = buckets(limits.exports, "exports")
        self._workspace_upload = limits.workspace_upload

    def charge(self, scope: Scope) -> None:
        """Raises Throttled when it is one too many of its kind. Who is not signed in gets nowhere with these."""
        person = state(scope).get("person")
        if scope["type"] != "http" or not isinstance(person, Person):
            return
        key = str(person.user_id)
        for buckets, amount in self._costs(scope):
            if buckets is not None:
                buckets.charge(key, amount)

    def _costs(self, scope: Scope) -> list[tuple[Buckets | None, float]]:
        asked = f"{scope['method']} {scope['path'].rstrip('/')}"
        if asked == _FILES:
            return [(self._uploads, 1), (self._upload_bytes, _announced(scope, MOST_BYTES))]
        if _INTO_WORKSPACE.fullmatch(asked):
            return [(self._uploads, 1), (self._upload_bytes, _announced(scope, self._workspace_upload))]
        if _INFERENCE.fullmatch(asked):
            return [(self._inference, 1)]
        if asked == _LIST and _searches(scope):
            return [(self._searches, 1)]
        if _EXPORT.fullmatch(asked):
            return [(self._exports, 1)]
        return []


def _announced(scope: Scope, most: int) -> int:
    """The bytes of the body; as many as can be where the client does not say."""
    length = header(scope, b"content-length") or ""
    return int(length) if length.isascii() and length.isdigit() and len(length) <= _MOST_DIGITS else most


def _searches(scope: Scope) -> bool:
    query = parse_qs(scope["query_string"].decode("latin-1"))
    return any(_SEARCH in value.lower() for value in query.get("q", ()))
