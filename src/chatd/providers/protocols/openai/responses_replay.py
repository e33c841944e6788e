"""What the assistant said, sent back as the items that it was, where the API would take them.

The API refuses an item by its id without the reasoning item that led to it, and a reasoning item without the item that
followed it. So the two go together or the reasoning is left out and the item goes without its id. Items that have no
form without an id (what the vendor ran itself) are left out then; what a computer call did is told in words.
"""

from typing import Final

import msgspec

from chatd.core.model import ModelRequest, PromptMessage
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.providers.protocols.openai.prompt import JsonObject, arguments, clean
from chatd.providers.protocols.openai.responses_metadata import ItemMetadata, metadata_of

_REPLAYED: Final = frozenset(
    {"web_search_call", "file_search_call", "code_interpreter_call", "mcp_call", "mcp_list_tools"}
)
_COMPUTER_CALL: Final = "computer_call"

InputItem = JsonObject | msgspec.Raw
_Kept = TextPart | ReasoningPart | ToolCallPart


class _StoredItem(msgspec.Struct, frozen=True):
    type: str = ""
    pending_safety_checks: list[msgspec.Raw] | None = None


class AssistantItems:
    """Of one request. `told` has the computer calls that were told in words, so that their results are too."""

    def __init__(self, request: ModelRequest, *, store: bool) -> None:
        self._provider = request.provider
        self._store = store
        self._computer_checks: dict[str, list[msgspec.Raw]] = {}
        self._seen = {
            part.tool_call_id
            for message in request.messages
            for part in message.parts
            if isinstance(part, ToolResultPart) and part.is_media
        }
        self.told: set[str] = set()

    def computer_checks(self, call_id: str) -> list[msgspec.Raw] | None:
        """The safety checks that go with a computer call, which whoever ran it has accepted; None for another call."""
        return self._computer_checks.get(call_id)

    def of(self, message: PromptMessage) -> list[InputItem]:
        """Blank texts and what is for people only are left out."""
        same_vendor = message.origin != "" and message.origin == self._provider
        kept = [
            (part, metadata_of(part) if same_vendor else ItemMetadata())
            for part in message.parts
            if isinstance(part, ReasoningPart | ToolCallPart) or (isinstance(part, TextPart) and part.text.strip())
        ]
        replayed = set[str]() if self._store else self._replayable(kept)
        items: list[InputItem] = []
        open_id, open_content = "", list[JsonObject]()
        for part, metadata in kept:
            with_id = metadata.id != "" and metadata.reasoning != "" and metadata.reasoning in replayed
            if isinstance(part, TextPart):
                if not metadata.id or metadata.id != open_id:
                    open_id, open_content = metadata.id, list[JsonObject]()
                    items.append(_message(open_content, metadata, with_id=with_id))
                open_content.append(_content(part, metadata))
                continue
            open_id = ""
            if isinstance(part, ToolCallPart):
                items += self._call(part, metadata, with_id=with_id)
            elif metadata.id in replayed:
                items.append(_reasoning(part, metadata))
        return items

    def _call(self, part: ToolCallPart, metadata: ItemMetadata, *, with_id: bool) -> list[InputItem]:
        item = _stored_item(metadata.item)
        whole = with_id or metadata.reasoning == ""
        if item.type == _COMPUTER_CALL:
            if whole and self._can_go(part, metadata):
                self._computer_checks[part.tool_call_id] = item.pending_safety_checks or []
                return [metadata.item]
            self.told.add(part.tool_call_id)
            none = ItemMetadata()
            said = _content(TextPart(text=f"Computer action {part.tool_call_id}: {part.args}"), none)
            return [_message([said], none, with_id=False)]
        if part.provider_executed:
            return [metadata.item] if whole and self._can_go(part, metadata) else []
        call: JsonObject = {
            "type": "function_call",
            "call_id": part.tool_call_id,
            "name": part.tool_name,
            "arguments": arguments(part.args),
        }
        return [{**call, "id": metadata.id} if with_id else call]

    def _replayable(self, kept: list[tuple[_Kept, ItemMetadata]]) -> set[str]:
        """The reasoning items that have their content and are followed by what followed them."""
        found: set[str] = set()
        for (part, metadata), (follower, following) in zip(reversed(kept[:-1]), reversed(kept[1:]), strict=True):
            if not isinstance(part, ReasoningPart) or not metadata.id:
                continue
            has_content = metadata.encrypted_content != "" or (metadata.raw_reasoning and part.text.strip() != "")
            follows = following.id != "" and following.reasoning == metadata.id and following.directly
            goes = following.id in found if isinstance(follower, ReasoningPart) else self._can_go(follower, following)
            if has_content and follows and goes:
                found.add(metadata.id)
        return found

    def _can_go(self, part: TextPart | ToolCallPart, metadata: ItemMetadata) -> bool:
        """Whether there is a form in which this goes back as the item that it was."""
        if isinstance(part, TextPart):
            return True
        kind = _stored_item(metadata.item).type
        if kind == _COMPUTER_CALL:
            return part.tool_call_id in self._seen
        return not part.provider_executed or kind in _REPLAYED


def _reasoning(part: ReasoningPart, metadata: ItemMetadata) -> JsonObject:
    text = clean(part.text)
    summarized = text.strip() != "" and not metadata.raw_reasoning
    item: JsonObject = {
        "type": "reasoning",
        "id": metadata.id,
        "summary": [{"type": "summary_text", "text": text}] if summarized else [],
    }
    if metadata.raw_reasoning:
        item["content"] = [{"type": "reasoning_text", "text": text}]
    if metadata.encrypted_content:
        item["encrypted_content"] = metadata.encrypted_content
    return item


def _message(content: list[JsonObject], metadata: ItemMetadata, *, with_id: bool) -> JsonObject:
    item: JsonObject = {"type": "message", "role": "assistant", "content": content}
    if with_id:
        item.update({"id": metadata.id, "status": "completed"})
    if metadata.phase:
        item["phase"] = metadata.phase
    return item


def _content(part: TextPart, metadata: ItemMetadata) -> JsonObject:
    if metadata.refusal:
        return {"type": "refusal", "refusal": clean(part.text)}
    return {"type": "output_text", "text": clean(part.text), "annotations": list(metadata.annotations)}


def _stored_item(raw: msgspec.Raw) -> _StoredItem:
    try:
        return msgspec.json.decode(raw, type=_StoredItem)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _StoredItem()
