"""One chat that another replica runs, as it is mirrored here: its episodes, part by part with the same numbers."""

import asyncio
from collections.abc import Callable
from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.parts import ToolResultPart
from chatd.core.stored_previews import decode_previews
from chatd.engine.drop_warnings import DropWarnings
from chatd.engine.episodes import Episode
from chatd.engine.tools.live_output import LiveOutput
from chatd.observe.tallies import Tally
from chatd.server.relay.frames import Closed, Follow, Following, FrameRefused, Live, Opened, Parts

# For parts that the other replica has and that are on their way: then what is stored is shown without them.
SETTLE_SECONDS: Final = 1.0

Key = tuple[int, int]


class RemoteChat:
    """Mirrors are opened and closed as the originals are; `told` gets every new one."""

    def __init__(
        self,
        chat_id: UUID,
        begin: Key,
        told: Callable[[Episode], None],
        clock: Clock,
        count: Tally,
        drops: DropWarnings | None,
    ) -> None:
        self.chat_id = chat_id
        self.is_lost = False  # the other replica can't be reached at the moment
        self.is_over = False  # and is not asked any more
        self._told = told
        self._clock = clock
        self._count = count
        self._drops = drops
        self._is_answered = False
        self._mirrors: dict[Key, Episode] = {}  # those under way, oldest first
        self._next: Key = begin  # from where on nothing has been opened
        self._waiting: list[asyncio.Future[None]] = []

    def ask(self, number: int) -> Follow:
        """What is missing, to be asked for (again)."""
        self._is_answered = False
        for key, mirror in self._mirrors.items():
            return Follow(number, self.chat_id, key, mirror.last)
        return Follow(number, self.chat_id, self._next, 0)

    def hear(self, told: Following | Opened | Parts | Live | Closed) -> None:
        """Raises FrameRefused when it makes no sense: then nothing of this connection can be trusted."""
        match told:
            case Following():
                for key in told.keys:
                    self._open(key)
                for key in [key for key in self._mirrors if key not in told.keys]:
                    self._close(key)  # while the connection was away
                self._is_answered, self.is_lost = True, False
                self._changed()
            case Opened():
                self._open(told.key)
            case Parts():
                self._take(told)
            case Live():
                self._say(told)
            case Closed():
                self._close(told.key)

    def lose(self) -> None:
        """It can't be reached at the moment: nobody waits for it."""
        self.is_lost = True
        self._changed()

    def leave(self) -> None:
        """What is here is all that comes."""
        self.is_over = True
        for key in tuple(self._mirrors):
            self._close(key)
        self.lose()

    async def settled(self, before: Key) -> None:
        """Until all parts of earlier episodes are here, or there is no sense in waiting."""
        if self.is_settled(before):
            return
        try:
            async with self._clock.timeout(SETTLE_SECONDS, timer="relay-settle"):
                while not self.is_settled(before):
                    changed = asyncio.get_running_loop().create_future()
                    self._waiting.append(changed)
                    await changed
        except TimeoutError:
            pass

    def is_settled(self, before: Key) -> bool:
        return self.is_lost or (self._is_answered and all(key >= before for key in self._mirrors))

    def _open(self, key: Key) -> None:
        if key in self._mirrors or key < self._next:
            return
        history, attempt = key
        mirror = Episode(self.chat_id, history, attempt, drops=self._drops, is_mirror=True)
        self._mirrors[key] = mirror
        self._next = (history, attempt + 1)
        self._told(mirror)

    def _take(self, told: Parts) -> None:
        mirror = self._mirrors.get(told.key)
        if mirror is None:
            return  # it was left or closed here
        if told.first > mirror.last + mirror.dropped + 1:
            raise FrameRefused("parts are missing")
        try:
            previews = decode_previews(told.previews)
        except ValueError as error:  # msgspec's errors are some
            raise FrameRefused("parts can't be read") from error
        for preview in previews[max(0, mirror.last + mirror.dropped + 1 - told.first) :]:
            mirror.add(preview)
            self._count.value += 1
            if mirror.live is not None and isinstance(preview.part, ToolResultPart):
                mirror.live.end(preview.part.tool_call_id)
        mirror.announce()

    def _say(self, told: Live) -> None:
        mirror = self._mirrors.get(told.key)
        if mirror is None:
            return
        if mirror.live is None:
            mirror.live = LiveOutput(mirror.announce)
        for tool_call_id, text in told.said:
            mirror.live.of(tool_call_id)(text)

    def _close(self, key: Key) -> None:
        if mirror := self._mirrors.pop(key, None):
            mirror.close()
            self._changed()

    def _changed(self) -> None:
        waiting, self._waiting = self._waiting, []
        for changed in waiting:
            if not changed.done():
                changed.set_result(None)
