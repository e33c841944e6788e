"""The newest ownership epoch of each chat: what an older owner still sends is refused."""

from pathlib import Path
from uuid import UUID

import msgspec

from chatd.agent.caller import Caller
from chatd.agent.refusals import StaleEpoch
from chatd.agent.written import replace_file
from chatd.core.errors import InvalidRequest


class Epochs:
    """Kept in a file too, so that an agent which was killed and started again still knows who owns a chat.

    One number per chat of the workspace; it is written when the owner of a chat changes.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._newest = _read(file)

    def check(self, caller: Caller) -> None:
        """Note the epoch of a request that changes something. Raises StaleEpoch when a newer one was seen."""
        if caller.chat_id is None:
            return
        if caller.epoch is None:
            raise InvalidRequest("A request in the name of a chat that changes something needs the header Chatd-Epoch.")
        newest = self._newest.get(caller.chat_id)
        if newest is not None and caller.epoch < newest:
            raise StaleEpoch(given=caller.epoch, newest=newest)
        if caller.epoch != newest:
            self._newest[caller.chat_id] = caller.epoch
            replace_file(self._file, msgspec.json.encode(self._newest))


def _read(file: Path) -> dict[UUID, int]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[UUID, int])
    except FileNotFoundError:
        return {}
