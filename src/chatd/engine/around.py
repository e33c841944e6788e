"""What is told of turns to those who work around them: titles, labels, summaries, messages to browsers."""

from typing import Protocol

from chatd.engine.titles import BegunChat, Titles
from chatd.engine.turn_ends import EndedTurn, TurnEnds


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
