"""The tools of one turn: in a stable order, of which some are active."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from chatd.core.model import ToolSpec
from chatd.engine.tools.tool import Tool

# Names that histories hold and that mean another tool by now.
ALIASES: Final[Mapping[str, str]] = {"close_agent": "interrupt_agent"}


class Toolset:
    """`client` are specifications of tools that the client runs: a name of ours wins over one of its own."""

    def __init__(
        self, tools: Sequence[Tool], *, active: Iterable[str] | None = None, client: Sequence[ToolSpec] = ()
    ) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._active = frozenset(self._tools if active is None else active)
        self._client = tuple(spec for spec in client if spec.name not in self._tools)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told of, always in the same order: prompt caches depend on it."""
        ours = tuple(tool.spec for name, tool in self._tools.items() if name in self._active)
        return ours + self._client

    @property
    def client_names(self) -> frozenset[str]:
        return frozenset(spec.name for spec in self._client)

    @property
    def stopping_names(self) -> frozenset[str]:
        return frozenset(name for name, tool in self._tools.items() if name in self._active and tool.traits.stops_turn)

    def find(self, name: str) -> Tool | str:
        """The tool, or why there is none, told to the model."""
        name = ALIASES.get(name, name)
        tool = self._tools.get(name)
        if tool is None:
            return f"There is no tool {name!r}."
        if name not in self._active:
            return f"The tool {name!r} is not active in this turn."
        return tool


NO_TOOLS: Final = Toolset(())
