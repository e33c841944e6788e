"""A request as a scripted vendor got it, and what any protocol's request says about the chat."""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from chatd.core.model import ProtocolName


class Asked(msgspec.Struct, frozen=True):
    """`headers` have lower-case names. `model` is from the body or from the path, wherever the vendor has it."""

    protocol: ProtocolName
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    model: str = ""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The history, as this vendor calls its entries."""
        match self.protocol:
            case ProtocolName.OPENAI_RESPONSES:
                given = self.body.get("input")
                return [{"role": "user", "content": given}] if isinstance(given, str) else _objects(given)
            case ProtocolName.GOOGLE_GEMINI:
                return _objects(self.body.get("contents"))
            case _:
                return _objects(self.body.get("messages"))

    @property
    def last_text(self) -> str:
        """What the user said last; empty if nothing."""
        for message in reversed(self.messages):
            if message.get("role") == "user" and (text := _text(message.get("content", message.get("parts")))):
                return text
        return ""

    @property
    def tool_names(self) -> list[str]:
        """The client's tools."""
        names: list[str] = []
        for tool in _objects(self.body.get("tools")):
            declared = _objects(tool.get("functionDeclarations")) or _objects([tool.get("function", tool)])
            names += [function["name"] for function in declared if "name" in function]
        return names

    @property
    def answers_a_call(self) -> bool:
        """Whether the newest entry is the result of a tool."""
        if not self.messages:
            return False
        newest = self.messages[-1]
        within = [newest, *_objects(newest.get("content")), *_objects(newest.get("parts"))]
        kinds = {str(entry.get("type", "")) for entry in within}
        return (
            newest.get("role") == "tool"
            or "tool_result" in kinds
            or any(kind.endswith("_call_output") for kind in kinds)
            or any("functionResponse" in entry for entry in within)
        )


def _objects(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [cast("dict[str, Any]", entry) for entry in cast("list[Any]", value) if isinstance(entry, dict)]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(str(piece["text"]) for piece in _objects(content) if piece.get("text"))
