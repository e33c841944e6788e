"""What is told of turns to those who work around them: titles, labels, summaries, messages to browsers, diffs."""

from typing import Final, Protocol
from uuid import UUID

from chatd.engine.titles import BegunChat, Titles
from chatd.engine.turn_ends import EndedTurn, TurnEnds
from chatd.workspaces.resolving import Resolved


class Around(Protocol):
    """Both return at once; what they raise is logged and matters to nobody."""

    def begun(self, chat: BegunChat) -> None: ...

    def ended(self, turn: EndedTurn) -> None: ...


class Nobody:
    def begun(self, chat: BegunChat) -> None:
        pass

    def ended(self, turn: EndedTurn) -> None:
        pass


class SideWork:
    """Titles at the beginning, labels and summaries at the end."""

    def __init__(self, titles: Titles, ends: TurnEnds) -> None:
        self._titles = titles
        self._ends = ends

    def begun(self, chat: BegunChat) -> None:
        self._titles.begun(chat)

    def ended(self, turn: EndedTurn) -> None:
        self._ends.ended(turn)


class Visits(Protocol):
    """Whose turns work in which workspaces. Both return at once and raise nothing."""

    def reached(self, chat_id: UUID, owner_id: UUID, found: Resolved) -> None:
        """A turn of the chat has found the agent of its workspace, or has found it again elsewhere."""
        ...

    def left(self, chat_id: UUID) -> None:
        """The turn is over."""
        ...


class _NoVisits:
    def reached(self, chat_id: UUID, owner_id: UUID, found: Resolved) -> None:
        pass

    def left(self, chat_id: UUID) -> None:
        pass


NO_VISITS: Final[Visits] = _NoVisits()
