"""What a tool is: a specification, how it behaves in company and after a crash, and one method that does it."""

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.model import ToolSpec
from chatd.core.parts import FilePart


class AfterCrash(StrEnum):
    """What becomes of a call whose process died before its result was stored."""

    RERUN = "rerun"  # it only reads: run it again
    KEYED = "keyed"  # what it started can be asked for by the call's key, and is never started twice
    UNKNOWN_OUTCOME = "unknown_outcome"  # nobody can know: an error result says so


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """`is_exclusive` tools run alone or not at all; `is_serial` ones after all others of a step, in order."""

    after_crash: AfterCrash = AfterCrash.UNKNOWN_OUTCOME
    is_exclusive: bool = False
    is_serial: bool = False
    in_plan_mode: bool = False
    is_root_only: bool = False
    stops_turn: bool = False  # a success ends the turn
    checks_input: bool = True  # ambiguous input is refused: repeated keys, keys that differ by case only


class ToolCall(msgspec.Struct, frozen=True):
    """`key` is ours and unique; `id` is the vendor's and may repeat. `args` is the JSON text of an object."""

    key: str
    id: str
    name: str
    args: str


class ToolOutput(msgspec.Struct, frozen=True, kw_only=True):
    """`result` is JSON text. `files` are stored already and become parts of the assistant's message."""

    result: str
    is_error: bool = False
    is_media: bool = False
    files: tuple[FilePart, ...] = ()


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """The chat that a call is for. `progress` shows what a running tool has to say so far; the last one counts."""

    chat_id: UUID
    owner_id: UUID
    organization_id: UUID
    clock: Clock
    progress: Callable[[str], None]


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


def said(text: str) -> ToolOutput:
    """A result in words."""
    return ToolOutput(result=msgspec.json.encode({"output": text}).decode())


def failed(text: str) -> ToolOutput:
    return ToolOutput(result=msgspec.json.encode({"error": text}).decode(), is_error=True)
