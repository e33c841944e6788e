"""Puts the pieces of tool calls together that a Chat Completions stream gives.

Servers that call themselves compatible leave out the id or the index, repeat the index for every call, send the name in
pieces or with every piece, send several calls in one chunk, and send a whole call once more at its end. A call begins
once its name is whole: when its first arguments come, when another call begins, or at the end.

A call without an id gets `call_<digest of the completion's id>_<its number>`: the same stream gives the same ids, and
two completions of a chat don't share any.
"""

import hashlib
from typing import Final

import msgspec

from chatd.core.model import ModelEvent, ToolCallDelta, ToolCallStarted
from chatd.providers.protocols.openai.chat_chunks import NOTHING, CallDelta, given

_DIGEST_BYTES: Final = 6  # short enough that the id stays within the 40 characters that OpenAI takes
# A server that repeats the name with every piece would have us parse the arguments as often: it has shown by then
# that a name begins no call.
_MOST_GUESSES: Final = 32


class OpenCall:
    """A call that is being streamed; `block` is its number in the answer."""

    __slots__ = ("block", "extra", "guesses", "id", "name", "number", "pieces", "size", "started")

    def __init__(self, block: int, number: int, id: str) -> None:
        self.block = block
        self.number = number
        self.id = id
        self.name = ""
        self.pieces: list[str] = []
        self.size = 0  # of all pieces together
        self.extra = NOTHING
        self.started = False
        self.guesses = 0


class StreamedCalls:
    """All calls of one answer: `find` or `begin` the one that a piece belongs to, then `grow` it."""

    def __init__(self) -> None:
        self.completion_id = ""
        self.count = 0
        self._newest: OpenCall | None = None
        self._by_index: dict[int, OpenCall] = {}
        self._by_id: dict[str, OpenCall] = {}
        self._ids: set[str] = set()

    def find(self, piece: CallDelta) -> OpenCall | None:
        """The call that this piece continues; None if it begins one."""
        if piece.index is not None:
            known = self._by_index.get(piece.index)
            if known is None:
                return None
        else:
            known = self._newest
        if piece.id and (known is None or (known.id and piece.id != known.id)):
            return self._by_id.get(piece.id)
        if known is not None and not piece.id and piece.function is not None and piece.function.name:
            return None if _begins_another(known) else known
        return known

    def begin(self, piece: CallDelta, block: int) -> OpenCall:
        call = self._newest = OpenCall(block, self.count, piece.id or "")
        self.count += 1
        if piece.index is not None:
            self._by_index[piece.index] = call
        if piece.id:
            self._by_id.setdefault(piece.id, call)
        return call

    def start_newest(self, events: list[ModelEvent]) -> None:
        """Nothing more can come of its name."""
        if self._newest is not None:
            self._start(self._newest, events)

    def grow(self, call: OpenCall, piece: CallDelta, events: list[ModelEvent]) -> None:
        if piece.id and not call.id and not call.started:
            call.id = piece.id
            self._by_id.setdefault(piece.id, call)
        if given(piece.extra_content):
            call.extra = piece.extra_content
        function = piece.function
        if function is None:
            return
        if function.name and not call.pieces and function.name != call.name:
            call.name += function.name
        arguments = function.arguments
        if isinstance(arguments, dict):
            arguments = msgspec.json.encode(arguments).decode("utf-8", "replace")
        if arguments and not (function.name and call.pieces and _repeats(call, arguments)):
            self._start(call, events)
            call.pieces.append(arguments)
            call.size += len(arguments)
            events.append(ToolCallDelta(call.block, arguments))

    def _start(self, call: OpenCall, events: list[ModelEvent]) -> None:
        if call.started:
            return
        call.started = True
        used = call.id if call.id and call.id not in self._ids else self._minted(call.number)
        self._ids.add(used)
        events.append(ToolCallStarted(call.block, used, call.name))

    def _minted(self, number: int) -> str:
        digest = hashlib.blake2b(self.completion_id.encode("utf-8", "replace"), digest_size=_DIGEST_BYTES).hexdigest()
        return f"call_{digest}_{number}"


def _repeats(call: OpenCall, arguments: str) -> bool:
    """Whether this is the whole call once more: no object goes on after its end."""
    if len(arguments) != call.size:  # before they are joined, which a name with every piece would have us do for each
        return False
    return arguments.rstrip().endswith("}") and arguments == "".join(call.pieces) and _is_whole(call)


def _begins_another(known: OpenCall) -> bool:
    """Whether a name without an id begins a new call: it does once the arguments of the one before are whole."""
    return bool(known.pieces) and known.pieces[-1].rstrip().endswith("}") and _is_whole(known)


def _is_whole(call: OpenCall) -> bool:
    if call.guesses >= _MOST_GUESSES:
        return False
    call.guesses += 1
    try:
        msgspec.json.decode("".join(call.pieces), type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False
    return True
