"""What a tool is: a specification, how it behaves in company and after a crash, and one method that does it."""

import base64
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, Protocol
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.model import ToolSpec
from chatd.core.parts import FilePart
from chatd.core.valid_text import holds_half_characters, valid_text
from chatd.engine.turn_workspace import TurnWorkspace
from chatd.wire.agent.context import ContextResource


class AfterCrash(StrEnum):
    """What becomes of a call whose process died before its result was stored."""

    RERUN = "rerun"  # it only reads: run it again
    KEYED = "keyed"  # what it started can be asked for by the call's key, and is never started twice
    UNKNOWN_OUTCOME = "unknown_outcome"  # nobody can know: an error result says so


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """`is_exclusive` tools run alone or not at all; `is_serial` ones after all others of a step, in order. Which chats
    have a tool (roots only, when planning) is said where it is registered."""

    after_crash: AfterCrash = AfterCrash.UNKNOWN_OUTCOME
    is_exclusive: bool = False
    is_serial: bool = False
    most_seconds: float = 3600.0  # however patient a tool is with others, nobody waits longer for it
    stops_turn: bool = False  # a success ends the turn
    checks_input: bool = True  # ambiguous input is refused: repeated keys, keys that differ by case only


class ToolCall(msgspec.Struct, frozen=True):
    """`key` is ours and unique; `id` is the vendor's and may repeat. `args` is the JSON text of an object."""

    key: str
    id: str
    name: str
    args: str


class ToolOutput(msgspec.Struct, frozen=True, kw_only=True):
    """`result` is the JSON text of an object. `files` are stored already and become parts of the assistant's message.

    Raises ValueError for a file that is not stored: nobody could ever read it.
    """

    result: str
    is_error: bool = False
    is_media: bool = False
    files: tuple[FilePart, ...] = ()

    def __post_init__(self) -> None:
        for file in self.files:
            if file.file_id is None or not file.media_type:
                raise ValueError(f"The attachment {file.name!r} has no file id or no media type.")


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """The chat that a call is for. `progress` shows what a running tool has to say so far; the last one counts.

    `key` is that of the call, for tools that get typed arguments instead of it. A result of more than `budget` bytes is
    cut. What was told to `if_cut` last is stored in place of a result if the call is interrupted. `skills` are those
    that the workspace has told the chat of.
    """

    chat_id: UUID
    runner_id: UUID
    owner_id: UUID
    organization_id: UUID
    clock: Clock
    progress: Callable[[str], None]
    if_cut: Callable[["ToolOutput"], None]
    workspace: TurnWorkspace
    skills: Mapping[str, ContextResource] = {}
    budget: int
    key: str = ""


class Tool(Protocol):
    @property
    def spec(self) -> ToolSpec: ...

    @property
    def traits(self) -> Traits: ...

    async def run(self, call: ToolCall, context: ToolContext) -> ToolOutput:
        """A foreseeable failure is an output with `is_error`; whatever it raises becomes one too."""
        ...

    async def settle(self, call: ToolCall, context: ToolContext) -> ToolOutput:
        """For a keyed tool: what came of the call with this key, started by a process that is gone; started now, if it
        never was."""
        ...


# Results are objects, always, so that every reader can look into them without asking what they are.


def said(text: str) -> ToolOutput:
    """A result in words. Words that are a JSON object already stay as they are, byte for byte."""
    result = text if is_json_object(text) else _json({"output": valid_text(text)})
    return ToolOutput(result=result)


def failed(text: str) -> ToolOutput:
    """A failure in words, which the model can act on."""
    return ToolOutput(result=_json({"error": valid_text(text)}), is_error=True)


def answered(value: object, *, files: tuple[FilePart, ...] = ()) -> ToolOutput:
    """A result with fields: a struct, or a mapping with names for keys.

    A failure that has more to say than a sentence is such a result with the field `error`. An empty object stands for
    what can't be written as JSON.
    """
    try:
        result = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        result = "{}"
    return ToolOutput(result=result if is_json_object(result) else _json({"output": result}), files=files)


def shown(data: bytes, media_type: str, *, text: str = "", file: FilePart | None = None) -> ToolOutput:
    """An image or another medium that the model gets to see, with a caption. `file` is where it is stored."""
    result: dict[str, Any] = {
        "data": base64.b64encode(data).decode(),
        "mime_type": media_type,
        "text": valid_text(text),
    }
    if file is not None:
        result["attachment_file_id"] = str(file.file_id)
        if file.name:
            result["attachment_name"] = file.name
    return ToolOutput(result=_json(result), is_media=True, files=() if file is None else (file,))


def is_json_object(text: str) -> bool:
    """Whether a text is the JSON of one object that every reader takes."""
    if not text.lstrip(_JSON_SPACE).startswith("{") or holds_half_characters(text):
        return False
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False
    return True


_JSON_SPACE: Final = " \t\r\n"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
