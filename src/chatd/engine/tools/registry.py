"""Which tools there are, in which order, and which chats get which.

The order never depends on the chat: of two chats with the same tools both tell the model the same bytes, and a tool
that comes or goes moves nothing before it.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum, StrEnum
from typing import Final, Self

import msgspec

from chatd.core.model import ToolSpec
from chatd.engine.tools.tool import Tool
from chatd.engine.tools.toolset import Toolset


class Shelf(IntEnum):
    """Groups of tools, in the order in which models are told of them."""

    BUILT_IN = 0
    QUESTIONS = 1
    WORKSPACES = 2
    PLAN = 3
    SUB_AGENTS = 4
    SKILLS = 5
    ADVISOR = 6
    MCP = 7
    WORKSPACE_MCP = 8


_SORTED: Final = frozenset({Shelf.MCP, Shelf.WORKSPACE_MCP})  # others' tools come in any order


class Seat(StrEnum):
    """The kinds of chats, as far as tools differ."""

    ROOT = "root"
    ROOT_PLANNING = "root_planning"
    CHILD = "child"
    CHILD_PLANNING = "child_planning"
    EXPLORE = "explore"  # a child that only looks
    COMPUTER = "computer"  # a child that works on a desktop


ROOTS: Final = frozenset({Seat.ROOT, Seat.ROOT_PLANNING})
WORKING: Final = frozenset({Seat.ROOT, Seat.CHILD, Seat.COMPUTER})
EVERYONE: Final = frozenset(Seat)


class Need(StrEnum):
    """What a chat must have for a tool to be of use."""

    SKILLS = "skills"
    WORKSPACE_SKILLS = "workspace_skills"
    ADVISOR = "advisor"
    HIDDEN_TOOLS = "hidden_tools"  # those that must be searched for


def seat_of(*, is_child: bool, is_planning: bool, mode: str | None) -> Seat:
    """`mode` is that of the chat; of a root chat it does not matter here."""
    if not is_child:
        return Seat.ROOT_PLANNING if is_planning else Seat.ROOT
    if mode == Seat.EXPLORE:
        return Seat.EXPLORE
    if is_planning:
        return Seat.CHILD_PLANNING
    return Seat.COMPUTER if mode == "computer_use" else Seat.CHILD


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A tool and who gets it. `aliases` are old names that histories still hold; models are not told of them."""

    tool: Tool
    shelf: Shelf = Shelf.BUILT_IN
    seats: frozenset[Seat] = WORKING
    needs: frozenset[Need] = frozenset()
    aliases: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.tool.spec.name

    def is_for(self, seat: Seat, has: frozenset[Need]) -> bool:
        return seat in self.seats and self.needs <= has


class Registry:
    """Immutable. Raises ValueError for a name that two tools have, or one that would never mean anything."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = _ordered(entries)
        self._aliases: dict[str, str] = {}
        self.dropped: tuple[str, ...] = ()
        taken: set[str] = set()
        for entry in self._entries:
            for name in (entry.name, *entry.aliases):
                if name in taken:
                    raise ValueError(f"Two tools are called {name}.")
                taken.add(name)
            self._aliases.update(dict.fromkeys(entry.aliases, entry.name))
        self._taken = frozenset(taken)

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    def plus(self, entries: Iterable[Entry]) -> Self:
        """With tools of others: a name that is taken stays with who has it, and `dropped` says which were left out."""
        added: list[Entry] = []
        dropped: list[str] = []
        taken = set(self._taken)
        for entry in _ordered(entries):
            if entry.name in taken:
                dropped.append(entry.name)
                continue
            taken.add(entry.name)
            added.append(msgspec.structs.replace(entry, aliases=()))
        registry = type(self)([*self._entries, *added])
        registry.dropped = (*self.dropped, *dropped)
        return registry

    def toolset(self, seat: Seat, *, has: Iterable[Need] = (), client: Sequence[ToolSpec] = ()) -> Toolset:
        """The tools of a chat's turn. Those that are not for it are known too, and say so when they are called."""
        having = frozenset(has)
        return Toolset(
            [entry.tool for entry in self._entries],
            active=[entry.name for entry in self._entries if entry.is_for(seat, having)],
            client=client if seat in WORKING else (),
            aliases=self._aliases,
        )


def _ordered(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """By shelf, then as they came; what others made by name."""
    return tuple(sorted(entries, key=lambda entry: (entry.shelf, entry.name if entry.shelf in _SORTED else "")))
