"""The output of a Responses stream while it is written: items begin, grow and end as blocks of an answer.

An item is one block, but a message has one for each piece of its content. Blocks end in the order in which their items
began, also where a vendor closes them in another, so that reasoning stays before what it led to.
"""

from collections import deque
from typing import Any

import msgspec

from chatd.core.model import (
    BlockEnded,
    ModelEvent,
    ProviderResult,
    ReasoningDelta,
    ReasoningStarted,
    SourceFound,
    TextDelta,
    TextStarted,
    ToolCallDelta,
    ToolCallStarted,
)
from chatd.providers.framing.wire_event import UnreadableStream
from chatd.providers.protocols.bounds import check_blocks
from chatd.providers.protocols.openai.responses_items import (
    COMPUTER_TOOL,
    Item,
    provider_call,
    read_annotation,
    tool_name,
)
from chatd.providers.protocols.openai.responses_metadata import NO_ITEM, ItemMetadata

Key = int | str  # an item's place in the output; its id where a server gives no place


class _Text:
    """A piece of a message's content."""

    __slots__ = ("annotations", "block", "given", "refusal")

    def __init__(self, block: int, *, refusal: bool) -> None:
        self.block = block
        self.refusal = refusal
        self.given = False
        self.annotations: list[msgspec.Raw] = []


class _Open:
    """An item that has begun. `ending` is what is left to say once those before it have ended."""

    __slots__ = (
        "after", "block", "call_id", "directly", "ending", "given", "id", "key", "kind", "phase", "raw_reasoning",
        "section", "texts",
    )  # fmt: skip

    def __init__(self, key: Key, kind: str, id: str, after: str, *, directly: bool) -> None:
        self.key = key
        self.kind = kind
        self.id = id
        self.after = after
        self.directly = directly
        self.block = -1
        self.call_id = ""
        self.phase: str | None = None
        self.given = False
        self.raw_reasoning = False
        self.section: tuple[str, int | None] | None = None
        self.texts: dict[int, _Text] = {}
        self.ending: list[ModelEvent] | None = None

    def metadata(self, **more: Any) -> ItemMetadata:
        return ItemMetadata(id=self.id, reasoning=self.after, directly=self.directly, **more)


class ResponsesOutput:
    """Gives the events of each change. `calls` says whether one is ours to run, `refusal` why the model refused."""

    def __init__(self) -> None:
        self.calls = False
        self._blocks = 0
        self._open: dict[Key, _Open] = {}
        self._order: deque[_Open] = deque()  # of all that have not ended, also behind one that has not
        self.ended = 0  # items whose end has come
        self._done: set[Key] = set()
        self._newest = ""  # the type of the newest item
        self._reasoning = ""  # the id of the newest reasoning item
        self._refusal: list[str] = []
        self._sources: set[str] = set()

    @property
    def refusal(self) -> str:
        return "".join(self._refusal)

    def text_delta(self, key: Key, item_id: str | None, index: int, delta: str, *, refusal: bool) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        item = self._open.get(key)
        if item is None:
            item = self._begin(key, Item(type="message", id=item_id), events)
        elif item.kind != "message":
            raise UnreadableStream(f"Text for an item of type {item.kind}.")
        text = item.texts.get(index)
        if text is None:
            text = self._begin_text(item, index, events, refusal=refusal)
        if refusal:
            self._refusal.append(delta)
        text.given = True
        events.append(TextDelta(text.block, delta))
        return events

    def reasoning_delta(
        self, key: Key, item_id: str | None, section: tuple[str, int | None], delta: str
    ) -> list[ModelEvent]:
        """`section` is which summary or which piece of raw reasoning; a blank line stands between two."""
        events: list[ModelEvent] = []
        item = self._open.get(key)
        if item is None:
            item = self._begin(key, Item(type="reasoning", id=item_id), events)
        elif item.kind != "reasoning":
            raise UnreadableStream(f"Reasoning for an item of type {item.kind}.")
        if item.section not in (None, section):
            events.append(ReasoningDelta(item.block, "\n\n"))
        item.section = section
        item.raw_reasoning = item.raw_reasoning or section[0] == "content"
        item.given = True
        events.append(ReasoningDelta(item.block, delta))
        return events

    def arguments_delta(self, key: Key, delta: str) -> list[ModelEvent]:
        item = self._open.get(key)
        if item is None:
            return []  # a call without a name yet: its end has all of it
        if item.kind != "function_call":
            raise UnreadableStream(f"Arguments for an item of type {item.kind}.")
        item.given = True
        return [ToolCallDelta(item.block, delta)]

    def annotated(self, key: Key, index: int, annotation: msgspec.Raw) -> list[ModelEvent]:
        item = self._open.get(key)
        if item is not None and (text := item.texts.get(index)) is not None:
            text.annotations.append(annotation)
        return self._source(annotation)

    def added(self, key: Key, item: Item) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        if key in self._open:
            self._leave(self._open[key], events)
        self._begin(key, item, events).phase = item.phase
        return events

    def done(self, key: Key, item: Item, raw: msgspec.Raw) -> list[ModelEvent]:
        """The end of an item, with all of it: also of one that no delta or beginning came of."""
        events: list[ModelEvent] = []
        opened = self._open.get(key)
        if opened is not None and opened.ending is not None:
            return events
        if opened is None or opened.kind != item.type:
            if opened is not None:
                self._leave(opened, events)
            opened = self._begin(key, item, events)
        opened.id = item.id or opened.id
        self._done.update((key, opened.id) if opened.id else (key,))
        self.ended += 1
        match item.type:
            case "message":
                self._message_done(opened, item, events)
            case "reasoning":
                self._reasoning_done(opened, item, events)
            case "function_call":
                if not opened.given and item.arguments:
                    events.append(ToolCallDelta(opened.block, item.arguments))
                opened.ending = [BlockEnded(opened.block, opened.metadata().text())]
            case _:
                self._call_done(opened, item, raw, events)
        self._release(events)
        return events

    def missed(self, index: int, item: Item, raw: msgspec.Raw) -> list[ModelEvent]:
        """An item of the finished response: its end, if none came before."""
        if index in self._done or (item.id is not None and item.id in self._done):
            return []
        return self.done(item.id if item.id is not None and item.id in self._open else index, item, raw)

    def end(self) -> list[ModelEvent]:
        """Ends all that is open, with what came of it."""
        events: list[ModelEvent] = []
        for opened in list(self._order):
            self._leave(opened, events)
        return events

    def _begin_text(self, item: _Open, index: int, events: list[ModelEvent], *, refusal: bool) -> _Text:
        text = item.texts[index] = _Text(self._next_block(), refusal=refusal)
        events.append(TextStarted(text.block))
        return text

    def _source(self, annotation: msgspec.Raw) -> list[ModelEvent]:
        found = read_annotation(annotation)
        if found.type != "url_citation" or not found.url or found.url in self._sources:
            return []
        self._sources.add(found.url)
        return [SourceFound(url=found.url, title=found.title or "")]

    def _begin(self, key: Key, item: Item, events: list[ModelEvent]) -> _Open:
        opened = _Open(key, item.type, item.id or "", self._reasoning, directly=self._newest == "reasoning")
        self._newest = item.type
        self._open[key] = opened
        self._order.append(opened)
        check_blocks(len(self._order))
        if item.type == "message":
            return opened  # its blocks begin with its content
        opened.block = self._next_block()
        match item.type:
            case "reasoning":
                self._reasoning = opened.id
                events.append(ReasoningStarted(opened.block))
            case "function_call" | "computer_call":
                self.calls = True
                name = COMPUTER_TOOL if item.type == "computer_call" else item.name or ""
                events.append(ToolCallStarted(opened.block, item.call_id or _own_id(opened), name))
            case _:
                opened.call_id = _own_id(opened)
                events.append(ToolCallStarted(opened.block, opened.call_id, tool_name(item), provider_executed=True))
        return opened

    def _message_done(self, opened: _Open, item: Item, events: list[ModelEvent]) -> None:
        ending: list[ModelEvent] = []
        opened.phase = item.phase or opened.phase
        for index, content in enumerate(item.content or ()):
            refusal = content.type == "refusal"
            said = content.refusal if refusal else content.text
            text = opened.texts.get(index)
            if said and (text is None or not text.given):
                text = text or self._begin_text(opened, index, events, refusal=refusal)
                text.given = True
                events.append(TextDelta(text.block, said))
                if refusal:
                    self._refusal.append(said)
            if text is not None and content.annotations:
                text.annotations = content.annotations
            for annotation in content.annotations or ():
                ending += self._source(annotation)
        opened.ending = [*self._text_ends(opened), *ending]

    def _text_ends(self, opened: _Open) -> list[ModelEvent]:
        return [
            BlockEnded(
                text.block,
                opened.metadata(phase=opened.phase, annotations=tuple(text.annotations), refusal=text.refusal).text(),
            )
            for text in opened.texts.values()
        ]

    def _reasoning_done(self, opened: _Open, item: Item, events: list[ModelEvent]) -> None:
        if not opened.given:
            said = [content.text for content in item.summary or () if content.text]
            if not said:
                said = [content.text for content in item.content or () if content.text]
                opened.raw_reasoning = bool(said)
            if said:
                events.append(ReasoningDelta(opened.block, "\n\n".join(said)))
        metadata = opened.metadata(encrypted_content=item.encrypted_content or "", raw_reasoning=opened.raw_reasoning)
        opened.ending = [BlockEnded(opened.block, metadata.text())]

    def _call_done(self, opened: _Open, item: Item, raw: msgspec.Raw, events: list[ModelEvent]) -> None:
        call = provider_call(item, raw)
        events.append(ToolCallDelta(opened.block, call.args))
        # An image made by the vendor is in the result; a second copy of megabytes would never be sent back.
        kept = NO_ITEM if item.type == "image_generation_call" else raw
        opened.ending = [BlockEnded(opened.block, opened.metadata(item=kept).text())]
        if item.type != "computer_call":
            result = ProviderResult(opened.call_id, tool_name(item), call.result, is_error=call.is_error)
            opened.ending.append(result)

    def _leave(self, opened: _Open, events: list[ModelEvent]) -> None:
        """Ends an item of which no end came."""
        if opened.ending is None:
            opened.ending = self._text_ends(opened)
            if opened.kind != "message":
                opened.ending = [BlockEnded(opened.block, opened.metadata().text())]
        if self._open.get(opened.key) is opened:
            del self._open[opened.key]
        self._release(events)

    def _release(self, events: list[ModelEvent]) -> None:
        while self._order and (ending := self._order[0].ending) is not None:
            ended = self._order.popleft()
            events += ending
            if self._open.get(ended.key) is ended:
                del self._open[ended.key]

    def _next_block(self) -> int:
        self._blocks += 1
        check_blocks(self._blocks)
        return self._blocks - 1


def _own_id(opened: _Open) -> str:
    """Of a call that came without an id: its place in the output is one."""
    return opened.id or f"call_{opened.key}"
