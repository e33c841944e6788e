"""Where context is looked for: at the top of few roots, never deeper. Reads the disk."""

import os
from typing import Final

import msgspec

from chatd.agent.inotify import Names
from chatd.wire.agent.context import ContextKind

INSTRUCTIONS: Final = (b"AGENTS.md", b"CLAUDE.md", b".cursorrules")
MCP_CONFIG: Final = b".mcp.json"
SKILL_FILE: Final = b"SKILL.md"
SKILL_FOLDERS: Final = (b"skills", b".agents/skills", b".claude/skills", b".codex/skills")
OWN_FOLDER: Final = b".chatd"  # in the home of the workspace
MOST_SKILLS: Final = 1000  # looked at in one folder


class Found(msgspec.Struct, frozen=True):
    """Something that is there by its name. It has to stay inside of its root, wherever links lead."""

    kind: ContextKind
    path: bytes
    root: bytes


class Places(msgspec.Struct, frozen=True):
    """What was found, and the folders in which something can appear, with the names that count there."""

    found: tuple[Found, ...]
    folders: dict[bytes, Names]


def look(workdir: bytes, home: bytes) -> Places:
    found: dict[bytes, Found] = {}
    folders: dict[bytes, Names] = {home: frozenset({OWN_FOLDER})}
    for root in dict.fromkeys((workdir, os.path.join(home, OWN_FOLDER))):  # noqa: PTH118 - bytes
        _count(folders, root, *INSTRUCTIONS, MCP_CONFIG, *(folder.split(b"/")[0] for folder in SKILL_FOLDERS))
        for name in INSTRUCTIONS:
            _take(found, Found(ContextKind.INSTRUCTION_FILE, root + b"/" + name, root))
        _take(found, Found(ContextKind.MCP_CONFIG, root + b"/" + MCP_CONFIG, root))
        for folder in SKILL_FOLDERS:
            parent, slash, _ = folder.partition(b"/")
            if slash:
                _count(folders, root + b"/" + parent, b"skills")
            place = root + b"/" + folder
            folders[place] = None
            for name in _names(place):
                _count(folders, place + b"/" + name, SKILL_FILE)
                _take(found, Found(ContextKind.SKILL, place + b"/" + name + b"/" + SKILL_FILE, root))
    return Places(tuple(found.values()), folders)


def _take(found: dict[bytes, Found], one: Found) -> None:
    if os.path.lexists(one.path):
        found.setdefault(one.path, one)


def _count(folders: dict[bytes, Names], folder: bytes, *names: bytes) -> None:
    known = folders.get(folder, frozenset())
    folders[folder] = None if known is None else known | frozenset(names)


def _names(folder: bytes) -> list[bytes]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MOST_SKILLS), strict=False)]
    except OSError:
        return []
    return sorted(name for name in names if not name.startswith(b"."))
