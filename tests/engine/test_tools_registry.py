"""Which chats get which tools, in which order."""

import pytest

from chatd.core.model import ToolSpec
from chatd.engine.tools.registry import EVERYONE, ROOTS, WORKING, Entry, Need, Registry, Seat, Shelf, seat_of
from chatd.engine.tools.tool import Traits
from engine.scripted_tools import ScriptedTool

SCHEMA = '{"type":"object"}'


def entry(name: str, shelf: Shelf = Shelf.BUILT_IN, seats: frozenset[Seat] = WORKING, *needs: Need) -> Entry:
    return Entry(tool=ScriptedTool(name), shelf=shelf, seats=seats, needs=frozenset(needs))


REGISTRY = Registry(
    [
        entry("advisor", Shelf.ADVISOR, frozenset({Seat.ROOT}), Need.ADVISOR),
        entry("read_skill", Shelf.SKILLS, EVERYONE, Need.SKILLS),
        entry("read_file", seats=EVERYONE),
        entry("write_file", seats=WORKING | {Seat.ROOT_PLANNING}),
        entry("process_list"),
        Entry(
            tool=ScriptedTool("propose_plan", traits=Traits(stops_turn=True)),
            shelf=Shelf.PLAN,
            seats=frozenset({Seat.ROOT_PLANNING}),
        ),
        Entry(
            tool=ScriptedTool("interrupt_agent"),
            shelf=Shelf.SUB_AGENTS,
            seats=frozenset({Seat.ROOT}),
            aliases=("close_agent",),
        ),
        entry("spawn_agent", Shelf.SUB_AGENTS, ROOTS),
    ]
)


def names(seat: Seat, *has: Need) -> list[str]:
    return [spec.name for spec in REGISTRY.toolset(seat, has=has).specs]


@pytest.mark.parametrize(
    ("seat", "told"),
    [
        (Seat.ROOT, ["read_file", "write_file", "process_list", "interrupt_agent", "spawn_agent"]),
        (Seat.ROOT_PLANNING, ["read_file", "write_file", "propose_plan", "spawn_agent"]),
        (Seat.CHILD, ["read_file", "write_file", "process_list"]),
        (Seat.CHILD_PLANNING, ["read_file"]),
        (Seat.EXPLORE, ["read_file"]),
        (Seat.COMPUTER, ["read_file", "write_file", "process_list"]),
    ],
)
def test_each_kind_of_chat_is_told_of_its_own_tools_in_one_order(seat: Seat, told: list[str]):
    assert names(seat) == told


def test_what_a_tool_needs_brings_it_in_at_its_place():
    assert names(Seat.EXPLORE, Need.SKILLS) == ["read_file", "read_skill"]
    assert names(Seat.ROOT, Need.ADVISOR, Need.SKILLS)[-2:] == ["read_skill", "advisor"]
    assert names(Seat.CHILD, Need.ADVISOR) == names(Seat.CHILD)


def test_a_tool_of_other_chats_says_that_it_is_not_active():
    tools = REGISTRY.toolset(Seat.CHILD)

    assert tools.find("spawn_agent") == "The tool 'spawn_agent' is not active in this turn."
    assert tools.find("nothing") == "There is no tool 'nothing'."
    assert len(str(tools.find("x" * 10_000))) < 200


def test_an_old_name_finds_the_tool_and_is_told_to_nobody():
    tools = REGISTRY.toolset(Seat.ROOT)
    found = tools.find("close_agent")

    assert not isinstance(found, str)
    assert found.spec.name == "interrupt_agent"
    assert "close_agent" not in [spec.name for spec in tools.specs]


def test_only_an_active_tool_can_stop_a_turn():
    assert REGISTRY.toolset(Seat.ROOT_PLANNING).stopping_names == {"propose_plan"}
    assert REGISTRY.toolset(Seat.ROOT).stopping_names == frozenset()


def test_tools_of_others_stand_by_name_after_ours_however_they_came():
    more = [
        entry("b__y", Shelf.WORKSPACE_MCP),
        entry("z", Shelf.MCP),
        entry("a", Shelf.MCP),
        entry("a__x", Shelf.WORKSPACE_MCP),
    ]
    told = [spec.name for spec in REGISTRY.plus(more).toolset(Seat.ROOT).specs]

    assert told == [*names(Seat.ROOT), "a", "z", "a__x", "b__y"]
    assert told == [spec.name for spec in REGISTRY.plus(more[::-1]).toolset(Seat.ROOT).specs]


def test_a_name_of_ours_stays_ours():
    more = [
        entry("read_file", Shelf.MCP),
        entry("close_agent", Shelf.MCP),
        entry("new", Shelf.MCP),
        entry("new", Shelf.MCP),
    ]
    registry = REGISTRY.plus(more)

    assert registry.dropped == ("close_agent", "new", "read_file")
    assert registry.toolset(Seat.ROOT).find("read_file") is REGISTRY.toolset(Seat.ROOT).find("read_file")


def test_two_tools_of_ours_can_not_have_one_name():
    with pytest.raises(ValueError, match="Two tools are called a"):
        Registry([entry("a"), entry("a")])
    with pytest.raises(ValueError, match="Two tools are called a"):
        Registry([entry("a"), Entry(tool=ScriptedTool("b"), aliases=("a",))])


def test_a_clients_tools_come_last_once_each_and_never_under_a_name_of_ours():
    client = [ToolSpec(name, name, SCHEMA) for name in ("ask", "read_file", "close_agent", "ask")]
    tools = REGISTRY.toolset(Seat.ROOT, client=client)

    assert tools.client_names == {"ask"}
    assert [spec.name for spec in tools.specs] == [*names(Seat.ROOT), "ask"]
    assert REGISTRY.toolset(Seat.ROOT_PLANNING, client=client).client_names == frozenset()


@pytest.mark.parametrize(
    ("is_child", "is_planning", "mode", "seat"),
    [
        (False, False, None, Seat.ROOT),
        (False, True, None, Seat.ROOT_PLANNING),
        (False, False, "explore", Seat.ROOT),
        (True, False, None, Seat.CHILD),
        (True, True, None, Seat.CHILD_PLANNING),
        (True, False, "explore", Seat.EXPLORE),
        (True, True, "explore", Seat.EXPLORE),
        (True, False, "computer_use", Seat.COMPUTER),
        (True, True, "computer_use", Seat.CHILD_PLANNING),
    ],
)
def test_the_kind_of_a_chat(is_child: bool, is_planning: bool, mode: str | None, seat: Seat):
    assert seat_of(is_child=is_child, is_planning=is_planning, mode=mode) is seat
