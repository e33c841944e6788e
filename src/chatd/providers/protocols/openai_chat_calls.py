"""Puts the pieces of tool calls together that a Chat Completions stream gives.

Servers that call themselves compatible leave out the id or the index, repeat the index for every call, send the name in
pieces or with every piece, and send several calls in one chunk. A call begins once its name is whole: when its first
arguments come, when another call begins, or at the end.

A call without an id gets `call_<digest of the completion's id>_<its number>`: the same stream gives the same ids, and
two completions of a chat don't share any.
"""

import hashlib
from typing import Final

import msgspec

from chatd.core.model import ModelEvent, ToolCallDelta, ToolCallStarted
from chatd.providers.protocols.openai_chat_chunks import CallDelta

_DIGEST_BYTES: Final = 6  # short enough that the id stays within the 40 characters that OpenAI takes


class OpenCall:
    """A call that is being streamed; `block` is its number in the answer."""

    __slots__ = ("block", "id", "name", "number", "pieces", "started")

    def __init__(self, block: int, number: int, id: str) -> None:
        self.block = block
        self.number = number
        self.id = id
        self.name = ""
        self.pieces: list[str] = []
        self.started = False


class StreamedCalls:
    """All calls of one answer. What it gives back tells the reader which blocks it must open."""

    def __init__(self) -> None:
        self.completion_id = ""
        self.all: list[OpenCall] = []
        self._by_index: dict[int, OpenCall] = {}
        self._ids: set[str] = set()

    def find(self, piece: CallDelta) -> OpenCall | None:
        """The call that this piece continues; None if it begins one."""
        name = piece.function.name if piece.function is not None else None
        if piece.index is not None:
            known = self._by_index.get(piece.index)
            if known is None:
                return None
        else:
            known = self.all[-1] if self.all else None
        if piece.id and (known is None or piece.id != known.id) and (known is None or known.id):
            return next((call for call in self.all if call.id == piece.id), None)
        if known is not None and name and known.pieces and not piece.id and _is_whole("".join(known.pieces)):
            return None
        return known

    def begin(self, piece: CallDelta, block: int) -> OpenCall:
        call = OpenCall(block, len(self.all), piece.id or "")
        self.all.append(call)
        if piece.index is not None:
            self._by_index[piece.index] = call
        return call

    def grow(self, call: OpenCall, piece: CallDelta, events: list[ModelEvent]) -> None:
        if piece.id and not call.id and not call.started:
            call.id = piece.id
        function = piece.function
        if function is None:
            return
        if function.name and not call.pieces and function.name != call.name:
            call.name += function.name
        if function.arguments:
            self.start(call, events)
            call.pieces.append(function.arguments)
            events.append(ToolCallDelta(call.block, function.arguments))

    def start(self, call: OpenCall, events: list[ModelEvent]) -> None:
        if call.started:
            return
        call.started = True
        used = call.id if call.id and call.id not in self._ids else self._minted(call.number)
        self._ids.add(used)
        events.append(ToolCallStarted(call.block, used, call.name))

    def _minted(self, number: int) -> str:
        digest = hashlib.blake2b(self.completion_id.encode("utf-8", "replace"), digest_size=_DIGEST_BYTES).hexdigest()
        return f"call_{digest}_{number}"


def _is_whole(arguments: str) -> bool:
    try:
        msgspec.json.decode(arguments, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False
    return True
