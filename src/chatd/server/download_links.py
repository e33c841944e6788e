"""Links that give one file to whoever has them, for minutes: signed, and worth what their maker may still read.

A token is the maker's id, when it ends, and a signature over both and the file. Nothing is stored of it.
"""

import base64
import binascii
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.access import LINKS, Action, Kind, Person, Role
from chatd.core.errors import ChatdError, NotFound
from chatd.store.actor import acting_as
from chatd.store.cipher import Cipher
from chatd.store.queries import File, UserStatus
from chatd.store.store import Store

LIFETIME: Final = timedelta(minutes=5)  # to begin a download; long ones go on
_PURPOSE: Final = "file download"
_USER_BYTES: Final = 16
_TIME_BYTES: Final = 8  # whole seconds since 1970
_SIGNATURE_BYTES: Final = 32
_JUST_THIS: Final = frozenset({f"{Kind.FILE}:{Action.READ}"})


class DownloadLink(msgspec.Struct, frozen=True):
    token: str
    expires_at: datetime


class DownloadLinks:
    def __init__(self, store: Store, cipher: Cipher, clock: Clock) -> None:
        self._store = store
        self._cipher = cipher
        self._clock = clock

    def make(self, person: Person, file_id: UUID) -> DownloadLink:
        """For a file that the person may read, which is for the caller to know."""
        expires_at = self._clock.now().replace(microsecond=0) + LIFETIME
        head = person.user_id.bytes + int(expires_at.timestamp()).to_bytes(_TIME_BYTES, "big")
        signed = head + self._cipher.sign(_PURPOSE, head + file_id.bytes)
        return DownloadLink(base64.urlsafe_b64encode(signed).decode().rstrip("="), expires_at)

    async def open(self, file_id: UUID, token: str) -> File:
        """Raises NotFound for whatever is wrong: a token that is none or of another file, whose time is up, or whose
        maker may not read the file any more."""
        user_id = self._maker(file_id, token)
        if user_id is None:
            raise NotFound("File")
        try:
            with acting_as(LINKS):
                user = await self._store.get_user_by_id(id=user_id)
            if user.status is not UserStatus.ACTIVE:
                raise NotFound("File")
            person = Person(user.id, Role(user.role), user.username, _JUST_THIS)
            with acting_as(person):
                file = await self._store.get_file(id=file_id)
        except ChatdError:
            raise NotFound("File") from None
        if file is None:
            raise NotFound("File")
        return file

    def _maker(self, file_id: UUID, token: str) -> UUID | None:
        try:
            signed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        head, signature = signed[:-_SIGNATURE_BYTES], signed[-_SIGNATURE_BYTES:]
        if len(signed) != _USER_BYTES + _TIME_BYTES + _SIGNATURE_BYTES:
            return None
        if not self._cipher.is_signed(_PURPOSE, head + file_id.bytes, signature):
            return None
        ends = datetime.fromtimestamp(int.from_bytes(head[_USER_BYTES:], "big"), UTC)
        return UUID(bytes=head[:_USER_BYTES]) if self._clock.now() < ends else None
