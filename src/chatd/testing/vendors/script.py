"""What a scripted vendor says: turns in the normal form, which each protocol writes in its own events.

    Turn(Think("Let me ", "look."), Call("read_file", '{"path":', '"a"}'))
    Turn(Say("Hello", " there"), faults=(Cut(after_events=3),))
    Refuse(429, "Slow down.", headers={"retry-after": "7"})
    lambda asked: Turn(Say(asked.last_text))

A script is a list of these, one per request in order, or one function that answers every request. Those that take any
number of arguments are dataclasses, since a Struct can't.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from chatd.core.model import FinishReason
from chatd.core.usage import Usage
from chatd.testing.vendors.asked import Asked


class Source(msgspec.Struct, frozen=True):
    url: str
    title: str = ""


@dataclass(frozen=True, init=False)
class Say:
    """A text, in the chunks in which it is streamed, and the sources that it cites."""

    chunks: tuple[str, ...]
    sources: tuple[Source, ...] = ()

    def __init__(self, *chunks: str, sources: Sequence[Source] = ()) -> None:
        object.__setattr__(self, "chunks", chunks)
        object.__setattr__(self, "sources", tuple(sources))


@dataclass(frozen=True, init=False)
class Think:
    """Reasoning, signed by the server, which remembers what it signed. `redacted` hides the text where a vendor can."""

    chunks: tuple[str, ...]
    redacted: bool = False

    def __init__(self, *chunks: str, redacted: bool = False) -> None:
        object.__setattr__(self, "chunks", chunks)
        object.__setattr__(self, "redacted", redacted)


@dataclass(frozen=True, init=False)
class Call:
    """A call of the client's tool. The pieces are its arguments; the server makes up an id if there is none."""

    name: str
    pieces: tuple[str, ...]
    id: str = ""

    def __init__(self, name: str, *pieces: str, id: str = "") -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "pieces", pieces)
        object.__setattr__(self, "id", id)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, init=False)
class Search:
    """A web search that the vendor makes itself, with what it found."""

    query: str
    hits: tuple[Source, ...] = ()

    def __init__(self, query: str, *hits: Source) -> None:
        object.__setattr__(self, "query", query)
        object.__setattr__(self, "hits", hits)


class RunCode(msgspec.Struct, frozen=True):
    """Code that the vendor runs itself. Chat Completions has no form for it."""

    code: str
    output: str


Step = Say | Think | Call | Search | RunCode


class Delay(msgspec.Struct, frozen=True):
    """Wait on the server's clock (timer "scripted vendor") before that event, or before each with None; 0 is before
    the status line."""

    seconds: float
    before_event: int | None = 0


class Hold(msgspec.Struct, frozen=True):
    """Wait for the test before that event; 0 is before the status line."""

    until: asyncio.Event
    before_event: int = 0


class Drip(msgspec.Struct, frozen=True):
    """Send so many bytes at a time, and wait between on the server's clock (timer "scripted vendor")."""

    bytes: int
    seconds: float = 0.0


class Cut(msgspec.Struct, frozen=True):
    """End the stream after so many events or bytes: as if it were whole, or with `reset` by dropping the connection."""

    after_events: int | None = None
    after_bytes: int | None = None
    reset: bool = False


class Silence(msgspec.Struct, frozen=True):
    """Say no more after so many events until the client hangs up. Zero: not even a status line."""

    after_events: int = 0


class Garbage(msgspec.Struct, frozen=True):
    """Bytes of no protocol after so many events."""

    bytes: bytes
    after_events: int = 0


class Fail(msgspec.Struct, frozen=True):
    """An error in the vendor's form inside of the stream, after so many events; nothing comes after it."""

    message: str
    type: str = ""  # the vendor's word for an overloaded server, if empty
    after_events: int = 1


class CloseAfter(msgspec.Struct, frozen=True):
    """Close the connection after the answer without having said so: the client's pool keeps a dead one."""


Fault = Delay | Hold | Drip | Cut | Silence | Garbage | Fail | CloseAfter

DEFAULT_USAGE = Usage(input_tokens=20, output_tokens=10, cache_read_tokens=5, reasoning_tokens=3)


@dataclass(frozen=True, init=False)
class Turn:
    """One answer. Without `finish` it is TOOL_CALLS if it calls a tool of the client's, else STOP."""

    steps: tuple[Step, ...]
    usage: Usage = DEFAULT_USAGE
    finish: FinishReason = FinishReason.STOP
    faults: tuple[Fault, ...] = ()

    def __init__(
        self,
        *steps: Step,
        usage: Usage = DEFAULT_USAGE,
        finish: FinishReason | None = None,
        faults: Sequence[Fault] = (),
    ) -> None:
        calls = any(isinstance(step, Call) for step in steps)
        derived = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "usage", usage)
        object.__setattr__(self, "finish", finish or derived)
        object.__setattr__(self, "faults", tuple(faults))

    @property
    def sources(self) -> tuple[Source, ...]:
        """All that were found or cited, once each."""
        found: dict[Source, None] = {}
        for step in self.steps:
            if isinstance(step, Search):
                found |= dict.fromkeys(step.hits)
            elif isinstance(step, Say):
                found |= dict.fromkeys(step.sources)
        return tuple(found)


class Refuse(msgspec.Struct, frozen=True):
    """An error status, with a body in the vendor's form unless `body` says otherwise."""

    status: int
    message: str
    type: str = ""  # what the vendor calls this status, if empty
    headers: Mapping[str, str] = {}
    body: bytes | None = None
    content_type: str = "application/json"


Answer = Turn | Refuse
Answering = Callable[[Asked], Answer]
Script = Sequence[Answer | Answering] | Answering
