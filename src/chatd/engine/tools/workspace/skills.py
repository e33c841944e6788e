"""read_skill and read_skill_file."""

from difflib import get_close_matches
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from chatd.engine.tools.tool import AfterCrash, ToolContext, ToolOutput, Traits, answered, failed
from chatd.engine.tools.typed import TypedTool
from chatd.engine.tools.workspace.telling import MISHAPS, telling
from chatd.wire.agent.context import ContextResource, SkillFile, SkillFileQuery, SkillFiles, SkillQuery

_NAME: Final = Meta(description="Name of the skill, as it is listed.")
_READS: Final = Traits(after_crash=AfterCrash.RERUN)


class SkillArgs(msgspec.Struct, frozen=True):
    name: Annotated[str, _NAME]


class SkillFileArgs(msgspec.Struct, frozen=True):
    name: Annotated[str, _NAME]
    path: Annotated[str, Meta(description="Path of the file, relative to the skill's directory.")]


async def _skill(args: SkillArgs, context: ToolContext) -> ToolOutput:
    """The text is the one that the chat was given, also while the workspace is down; its files are those of now."""
    skill = _found(args.name, context)
    if isinstance(skill, str):
        return failed(skill)
    said: dict[str, Any] = {"name": skill.name, "directory": skill.directory, "body": skill.content}
    try:
        query = SkillQuery(skill=skill.name)
        listed = await context.workspace.ask(
            lambda client: client.get("/context/skills/files", query, SkillFiles), is_repeatable=True
        )
    except MISHAPS:
        return answered({**said, "note": "Its files could not be listed: the workspace does not answer."})
    return answered({**said, "files": listed.files} | ({} if listed.is_complete else {"note": "There are more files."}))


async def _skill_file(args: SkillFileArgs, context: ToolContext) -> ToolOutput:
    skill = _found(args.name, context)
    if isinstance(skill, str):
        return failed(skill)
    query = SkillFileQuery(skill=skill.name, path=args.path.strip())
    file = await context.workspace.ask(
        lambda client: client.get("/context/skills/file", query, SkillFile), is_repeatable=True
    )
    note = {} if file.is_complete else {"note": f"Only the beginning of {file.size} bytes. Use read_file for the rest."}
    return answered({"content": file.content, **note})


def _found(name: str, context: ToolContext) -> ContextResource | str:
    """The skill, or why there is none."""
    asked = name.strip().removeprefix("workspace/")
    if (skill := context.skills.get(asked)) is not None:
        return skill
    close = get_close_matches(asked, context.skills, n=3)
    known = f"Did you mean {', '.join(close)}?" if close else "Use a name as it is listed in your instructions."
    return f"There is no skill called {asked!r}. {known}"


def read_skill_tool() -> TypedTool[SkillArgs]:
    return TypedTool("read_skill", SkillArgs, _skill, traits=_READS)


def read_skill_file_tool() -> TypedTool[SkillFileArgs]:
    return TypedTool("read_skill_file", SkillFileArgs, telling(_skill_file), traits=_READS)
