"""The tools of one turn: in a stable order, of which some are active."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from chatd.core.model import TOOL_NAME_LONGEST, ToolSpec
from chatd.engine.tools.tool import Tool

# Names that histories hold and that mean another tool by now.
ALIASES: Final[Mapping[str, str]] = {"close_agent": "interrupt_agent"}


class Toolset:
    """`client` are specifications of tools that the client runs: a name of ours wins over one of its own."""

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        active: Iterable[str] | None = None,
        client: Sequence[ToolSpec] = (),
        aliases: Mapping[str, str] = ALIASES,
    ) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._active = frozenset(self._tools if active is None else active)
        self._aliases = {old: new for old, new in aliases.items() if old not in self._tools}
        self._client: tuple[ToolSpec, ...] = tuple(
            {spec.name: spec for spec in client if not self._is_ours(spec.name)}.values()
        )

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
        name = self._aliases.get(name, name)
        tool = self._tools.get(name)
        if tool is None:
            return f"There is no tool {name[: 2 * TOOL_NAME_LONGEST]!r}."
        if name not in self._active:
            return f"The tool {name!r} is not active in this turn."
        return tool

    def _is_ours(self, name: str) -> bool:
        return self._aliases.get(name, name) in self._tools


NO_TOOLS: Final = Toolset(())
