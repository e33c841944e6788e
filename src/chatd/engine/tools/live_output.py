"""What running tools have to say so far: the last word of each, for readers that come when they can.

Lossy on purpose. A tool may say as much as it likes; what is kept is bounded, and a slow reader misses what was
replaced meanwhile.
"""

from collections.abc import Callable

import msgspec

from chatd.core.cut import cut_middle

MOST_BYTES = 8 * 1024  # of one call: a screen full of a terminal
MOST_CALLS = 64  # of one step; more than any model makes at once


class Said(msgspec.Struct, frozen=True):
    """`place` grows with everything that is said; a reader asks for what came after the last place it has seen."""

    place: int
    tool_call_id: str
    text: str


class LiveOutput:
    """Of the calls of one step. `changed` is called after each change, and must return at once."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._said: dict[str, Said] = {}
        self._ended: set[str] = set()
        self._place = 0

    def of(self, tool_call_id: str) -> Callable[[str], None]:
        """The `progress` of a call's context."""

        def progress(text: str) -> None:
            self._say(tool_call_id, text)

        return progress

    def end(self, tool_call_id: str) -> None:
        """The call has its result: what it said before is of no interest, nor what it says later."""
        self._ended.add(tool_call_id)
        if self._said.pop(tool_call_id, None) is not None:
            self._changed()

    def after(self, place: int) -> list[Said]:
        """The last word of each running call that has said something since, in the order in which they were said."""
        return sorted((said for said in self._said.values() if said.place > place), key=lambda said: said.place)

    def _say(self, tool_call_id: str, text: str) -> None:
        if tool_call_id in self._ended or (tool_call_id not in self._said and len(self._said) >= MOST_CALLS):
            return
        cut = cut_middle(text, MOST_BYTES).text
        if (last := self._said.get(tool_call_id)) is not None and last.text == cut:
            return
        self._place += 1
        self._said[tool_call_id] = Said(self._place, tool_call_id, cut)
        self._changed()
