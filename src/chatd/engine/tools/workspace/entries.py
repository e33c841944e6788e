"""The tools of workspaces, and which chats get which."""

from typing import Final

from chatd.engine.tools.registry import EVERYONE, ROOTS, WORKING, Entry, Need, Seat, Shelf
from chatd.engine.tools.workspace.attach_file import attach_file_tool
from chatd.engine.tools.workspace.execute import execute_tool
from chatd.engine.tools.workspace.files import edit_files_tool, read_file_tool, write_file_tool
from chatd.engine.tools.workspace.lifecycle import lifecycle_tools
from chatd.engine.tools.workspace.processes import process_list_tool, process_output_tool, process_signal_tool
from chatd.engine.tools.workspace.skills import read_skill_file_tool, read_skill_tool
from chatd.engine.tools.workspace.templates import template_tools
from chatd.store.store import Store
from chatd.store.transitions import Transitions
from chatd.workspaces.lifecycle import Lifecycle

# Who plans may give the user what it has found out.
_ATTACHING: Final = WORKING | {Seat.ROOT_PLANNING}


def workspace_entries(store: Store) -> tuple[Entry, ...]:
    """They are there without a workspace too: they say then how to get one.

    Who plans or explores may look and run, but not write: a plan is not carried out before it is agreed to.
    """
    return (
        Entry(tool=read_file_tool(), seats=EVERYONE),
        Entry(tool=write_file_tool(), seats=WORKING),
        Entry(tool=edit_files_tool(), seats=WORKING),
        Entry(tool=attach_file_tool(store), seats=_ATTACHING),
        Entry(tool=execute_tool(), seats=EVERYONE),
        Entry(tool=process_output_tool(), seats=EVERYONE),
        Entry(tool=process_list_tool(), seats=WORKING),
        Entry(tool=process_signal_tool(), seats=WORKING),
        Entry(tool=read_skill_tool(), shelf=Shelf.SKILLS, seats=EVERYONE, needs=frozenset({Need.SKILLS})),
        Entry(
            tool=read_skill_file_tool(), shelf=Shelf.SKILLS, seats=EVERYONE, needs=frozenset({Need.WORKSPACE_SKILLS})
        ),
    )


def lifecycle_entries(store: Store, transitions: Transitions, lifecycle: Lifecycle) -> tuple[Entry, ...]:
    """Only roots make and stop workspaces: children work where their parents do."""
    tools = (*template_tools(store), *lifecycle_tools(store, transitions, lifecycle))
    return tuple(Entry(tool=tool, shelf=Shelf.WORKSPACES, seats=ROOTS) for tool in tools)
