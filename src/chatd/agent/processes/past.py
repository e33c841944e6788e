"""A command that another agent of this workspace started, or that this one has forgotten: what its files tell."""

import os
import signal
from functools import cached_property

from chatd.agent.processes.head_tail import Kept
from chatd.agent.processes.keys import EndRecord, KeyRecord, Keys
from chatd.core.errors import Conflict


class PastProcess:
    """Ended, with its output; or unknown, for its agent died before it knew how it ended."""

    version = 0

    def __init__(self, keys: Keys, id: str, record: KeyRecord) -> None:
        self.id = id
        self.record = record
        self._keys = keys

    @cached_property
    def end(self) -> EndRecord | None:
        return self._keys.end(self.id)

    @cached_property
    def is_running(self) -> bool:
        """Whether the shell that was started can still be seen."""
        return self.end is None and (ran := self._keys.ran(self.id)) is not None and ran.is_alive

    def kept(self) -> Kept:
        return self.end.kept if self.end is not None else Kept()

    def send(self, number: signal.Signals) -> None:
        """To the whole group, if its leader is still there. Raises Conflict when it is not."""
        ran = self._keys.ran(self.id)
        if self.end is not None or ran is None or not ran.is_alive:
            raise Conflict("This process has ended; nothing was sent to it.")
        os.killpg(ran.pid, number)
