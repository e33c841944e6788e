"""Terminals of a workspace: how they are asked for, and what goes over the WebSocket of one.

Binary frames are bytes of the terminal, both ways. Text frames are JSON, one of the tagged types below.
"""

from uuid import UUID

import msgspec


class StartTerminal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Without a command: a login shell. `workdir` is an absolute path; else the agent's. With the `id` of a terminal
    that is there, that one, as it is."""

    id: UUID | None = None
    command: str | None = None
    workdir: str | None = None
    env: dict[str, str] = {}
    columns: int = 80
    rows: int = 24


class Terminal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`attached` is how many see it at the moment."""

    id: str
    command: str
    workdir: str
    columns: int
    rows: int
    attached: int
    running: bool
    started_at_unix: int
    exit_code: int | None = None


class Terminals(msgspec.Struct, frozen=True):
    terminals: tuple[Terminal, ...]


class Resize(msgspec.Struct, frozen=True, tag="resize", kw_only=True, forbid_unknown_fields=True):
    """To the agent: the window has this size now."""

    columns: int
    rows: int


class Exit(msgspec.Struct, frozen=True, tag="exit", kw_only=True):
    """From the agent, and the last of all: the program has ended. `exit_code` is 128 + n after signal n."""

    exit_code: int


class Skipped(msgspec.Struct, frozen=True, tag="skipped", kw_only=True):
    """From the agent: so many bytes came faster than they were read, and are lost for this reader."""

    bytes: int


class Dropped(msgspec.Struct, frozen=True, tag="dropped", kw_only=True):
    """From the agent: so many bytes of input were not taken, because the program does not read."""

    bytes: int


ToAgent = Resize
FromAgent = Exit | Skipped | Dropped
