"""What stands before the history in a prompt: sections in a fixed order, the same bytes for the same input.

Prompt caches go by the beginning of a prompt, so that nothing here may change from step to step: no times, no counters.
What changes seldom stands before what changes more often.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from chatd.core import system_texts as texts
from chatd.core.model import PromptMessage
from chatd.core.parts import TextPart
from chatd.core.plain_text import attribute, framed, one_line, plain, without_comments
from chatd.core.roles import Role

MOST_TEXT_BYTES: Final = 128 * 1024  # of a text by an administrator or a user, as the API takes it
MOST_FILE_BYTES: Final = 64 * 1024  # of one instruction file, as workspaces report it
MOST_FILES_BYTES: Final = 192 * 1024  # of all of them: a quarter of a window of 200 000 tokens
MOST_SKILLS: Final = 200
_MOST_NAME_BYTES: Final = 1024  # of a path or a name
_MOST_ABOUT_BYTES: Final = 1024  # of what a skill says about itself


class Work(StrEnum):
    """What kind of work the chat is for."""

    DO = "do"
    PLAN = "plan"
    EXPLORE = "explore"


class InstructionFile(msgspec.Struct, frozen=True):
    path: str
    content: str


class Skill(msgspec.Struct, frozen=True):
    """`name` is that by which it is read."""

    name: str
    about: str = ""


class Workspace(msgspec.Struct, frozen=True, kw_only=True):
    """What a chat's workspace tells of itself; empty where it is not known."""

    os: str = ""
    directory: str = ""
    files: Sequence[InstructionFile] = ()


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    """All that the sections are made from. `instructions` are of an administrator, for planning.

    `begins`: of a chat that is about to begin. It is told then, once and for all, what having a workspace means, or how
    to get one; what `can_have_workspace` says. Later sections tell only of the workspace itself.
    """

    deployment: str = texts.DEFAULT_PROMPT
    chat: str = ""
    user: str = ""
    work: Work = Work.DO
    is_child: bool = False
    begins: bool = False
    can_have_workspace: bool = False
    workspace: Workspace | None = None
    skills: Sequence[Skill] = ()
    plan_instructions: str = ""
    plan_path: str = ""
    has_advisor: bool = False


class Section(msgspec.Struct, frozen=True):
    name: str
    text: str


def deployment_prompt(custom: str, *, with_default: bool) -> str:
    """What an administrator has set, after the built-in text unless that was switched off."""
    said = plain(custom, MOST_TEXT_BYTES)
    return "\n\n".join(text for text in (texts.DEFAULT_PROMPT if with_default else "", said) if text)


def system_messages(given: Circumstances) -> tuple[PromptMessage, ...]:
    """One message for each section."""
    return tuple(PromptMessage(Role.SYSTEM, (TextPart(text=section.text),)) for section in sections(given))


def sections(given: Circumstances) -> tuple[Section, ...]:
    """In their order, without those that have nothing to say."""
    made = (
        Section("deployment", _deployment(given)),
        Section("chat", plain(given.chat, MOST_TEXT_BYTES)),
        Section("sub_agent", texts.SUB_AGENT if given.is_child else ""),
        Section("workspace", _workspace(given)),
        Section("instructions", _instructions(given.workspace)),
        Section("skills", _skills(given.skills)),
        Section("user", _user(given.user)),
        Section("mode", _mode(given)),
        Section("advisor", texts.ADVISOR if given.has_advisor and not given.is_child else ""),
    )
    path = one_line(given.plan_path, _MOST_NAME_BYTES) or "the plan file"
    # Only where we or an administrator wrote it: others' texts say what they say.
    filled = (
        msgspec.structs.replace(section, text=section.text.replace(texts.PLAN_PATH, path))
        if section.name in ("deployment", "mode")
        else section
        for section in made
    )
    return tuple(section for section in filled if section.text)


def _deployment(given: Circumstances) -> str:
    text = plain(given.deployment, MOST_TEXT_BYTES)
    start, end = f"<{texts.DELEGATION_TAG}>", f"</{texts.DELEGATION_TAG}>"
    if given.is_child:
        return plain(_without_blocks(text, start, end), MOST_TEXT_BYTES)
    return text.replace(f"{start}\n", "").replace(f"\n{end}", "")


def _without_blocks(text: str, start: str, end: str) -> str:
    kept: list[str] = []
    for piece in text.split(start):
        _, ended, rest = piece.partition(end)
        kept.append(rest if ended and kept else piece)
    return "".join(kept)


def _workspace(given: Circumstances) -> str:
    said = [_notice(given) if given.begins else ""]
    if given.workspace is not None:
        facts = (_fact("Operating system", given.workspace.os), _fact("Working directory", given.workspace.directory))
        said += [texts.WORKSPACE_NOW if not given.begins and any(facts) else "", *facts]
    return "\n".join(line for line in said if line)


def _notice(given: Circumstances) -> str:
    if given.workspace is not None:
        return texts.HAS_WORKSPACE
    if not given.can_have_workspace:
        return texts.NO_WORKSPACES
    return texts.NO_WORKSPACE_FOR_CHILD if given.is_child else texts.NO_WORKSPACE


def _fact(name: str, value: str) -> str:
    said = one_line(value, _MOST_NAME_BYTES)
    return f"{name}: {said}" if said else ""


def _instructions(workspace: Workspace | None) -> str:
    left = MOST_FILES_BYTES
    blocks: list[str] = []
    unread: list[str] = []
    for file in workspace.files if workspace else ():
        content = plain(without_comments(file.content), MOST_FILE_BYTES)
        size = len(content.encode())
        if not content:
            continue
        if size > left:
            unread.append(one_line(file.path, _MOST_NAME_BYTES))
            continue
        left -= size
        blocks.append(framed("instruction-file", content, attribute("path", file.path, _MOST_NAME_BYTES)))
    if unread:
        blocks.append(
            f"Not shown, because these would be too long together; read them if you need them: {_list(unread)}"
        )
    return "\n\n".join((texts.INSTRUCTIONS, *blocks)) if blocks else ""


def _skills(skills: Sequence[Skill]) -> str:
    lines = [_skill(skill) for skill in skills if skill.name.strip()]
    if not lines:
        return ""
    if len(lines) > MOST_SKILLS:
        lines = [*lines[:MOST_SKILLS], f"({len(lines) - MOST_SKILLS} more are not listed.)"]
    return f"{texts.SKILLS}\n\n{framed('available-skills', chr(10).join(lines))}"


def _skill(skill: Skill) -> str:
    about = one_line(skill.about, _MOST_ABOUT_BYTES)
    name = one_line(skill.name, _MOST_NAME_BYTES)
    return f"- {name}: {about}" if about else f"- {name}"


def _user(text: str) -> str:
    said = plain(text, MOST_TEXT_BYTES)
    return f"{texts.USER}\n\n{framed('user-instructions', said)}" if said else ""


def _mode(given: Circumstances) -> str:
    match given.work:
        case Work.EXPLORE:
            return texts.EXPLORING
        case Work.PLAN if given.is_child:
            return texts.PLANNING_CHILD
        case Work.PLAN:
            own = plain(given.plan_instructions, MOST_TEXT_BYTES)
            return f"{texts.PLANNING}\n\n{own}" if own else texts.PLANNING
        case Work.DO:
            return ""


def _list(names: Iterable[str]) -> str:
    return one_line(", ".join(names), _MOST_ABOUT_BYTES)
