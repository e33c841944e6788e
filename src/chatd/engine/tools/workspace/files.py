"""read_file, write_file and edit_files."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from chatd.core.cut import json_bytes
from chatd.engine.tools.tool import AfterCrash, ToolContext, ToolOutput, Traits, answered, failed
from chatd.engine.tools.typed import TypedTool
from chatd.engine.tools.workspace.telling import telling
from chatd.wire.agent.files import EditFiles, FileEdit, FileEdits, FileLines, LinesQuery

_BESIDE_BYTES: Final = 1024  # for all of a page that is not its lines
_PATH: Final = Meta(description="Absolute path of the file.")
_NOTHING: Final = "Nothing was changed."


class ReadArgs(msgspec.Struct, frozen=True):
    path: Annotated[str, _PATH]
    offset: Annotated[int, Meta(description="Number of the first line to read; the first line is 1.")] = 1
    limit: Annotated[int | None, Meta(description="How many lines to read; at most 2000, which is the default.")] = None


class WriteArgs(msgspec.Struct, frozen=True):
    path: Annotated[str, _PATH]
    content: Annotated[str, Meta(description="The whole new content of the file.")]


class Edit(msgspec.Struct, frozen=True):
    old_text: Annotated[str, Meta(description="The text that is there now, enough of it to be found only once.")]
    new_text: Annotated[str, Meta(description="What is to be there instead; empty to delete the old text.")]
    replace_all: Annotated[bool, Meta(description="Replace it wherever it is, not only once.")] = False


class EditedFile(msgspec.Struct, frozen=True):
    path: Annotated[str, _PATH]
    edits: Annotated[list[Edit], Meta(description="Made one after the other.", min_length=1)]


class EditArgs(msgspec.Struct, frozen=True):
    files: Annotated[list[EditedFile], Meta(description="The files to edit.", min_length=1)]


# What is understood besides: the names that agents themselves use, which models have seen elsewhere.


class _AnyEdit(msgspec.Struct, frozen=True):
    old_text: str = ""
    new_text: str = ""
    search: str = ""
    replace: str = ""
    replace_all: bool = False


class _AnyFile(msgspec.Struct, frozen=True):
    path: str
    edits: list[_AnyEdit]


class _AnyEdits(msgspec.Struct, frozen=True):
    files: list[_AnyFile]


async def _read(args: ReadArgs, context: ToolContext) -> ToolOutput:
    path = args.path.strip()
    if not path:
        return failed("The argument 'path' is empty. Call the tool again with an absolute path.")
    asked = LinesQuery(path=path, offset=args.offset, limit=args.limit)
    page = await _page(asked, context)
    room = context.budget - _BESIDE_BYTES
    while (size := json_bytes(page.content)) > room and page.lines_read > 1:
        # Fewer lines, instead of lines that are cut: the next page goes on where this one ends.
        fewer = max(1, min(page.lines_read - 1, page.lines_read * room // size))
        page = await _page(msgspec.structs.replace(asked, limit=fewer), context)
    return answered(page)


async def _page(asked: LinesQuery, context: ToolContext) -> FileLines:
    return await context.workspace.ask(lambda client: client.lines(asked), is_repeatable=True)


async def _write(args: WriteArgs, context: ToolContext) -> ToolOutput:
    path = args.path.strip()
    if not path:
        return failed(f"The argument 'path' is empty. {_NOTHING}")
    content = args.content.encode()
    written = await context.workspace.ask(lambda client: client.write(path, content), is_repeatable=False)
    return answered({"ok": True, "path": written.path, "size": written.size, "created": written.created})


async def _edit(args: _AnyEdits, context: ToolContext) -> ToolOutput:
    if not args.files:
        return failed(f"The argument 'files' is empty. {_NOTHING}")
    files: list[FileEdits] = []
    for place, file in enumerate(args.files):
        if not file.path.strip():
            return failed(f"files[{place}] has no path. {_NOTHING}")
        if not file.edits:
            return failed(f"There are no edits for {file.path.strip()}. {_NOTHING}")
        edits = [_understood(edit) for edit in file.edits]
        if (missing := next((number for number, edit in enumerate(edits) if not edit.search), None)) is not None:
            return failed(f"files[{place}].edits[{missing}] has no old_text. {_NOTHING}")
        files.append(FileEdits(path=file.path.strip(), edits=tuple(edits)))
    asked = EditFiles(files=tuple(files))
    edited = await context.workspace.ask(lambda client: client.edit(asked), is_repeatable=False)
    return answered({"ok": True, "files": [{"path": file.path, "diff": file.diff} for file in edited.files]})


def _understood(edit: _AnyEdit) -> FileEdit:
    if edit.old_text or edit.new_text:
        return FileEdit(search=edit.old_text, replacement=edit.new_text, replace_all=edit.replace_all)
    return FileEdit(search=edit.search, replacement=edit.replace, replace_all=edit.replace_all)


def read_file_tool() -> TypedTool[ReadArgs]:
    return TypedTool("read_file", ReadArgs, telling(_read), traits=Traits(after_crash=AfterCrash.RERUN))


def write_file_tool() -> TypedTool[WriteArgs]:
    """Not done again after a crash, though it would write the same: by then someone else may have written something
    newer, a command of the same step for one."""
    return TypedTool("write_file", WriteArgs, telling(_write, changes=True))


def edit_files_tool() -> TypedTool[_AnyEdits]:
    return TypedTool("edit_files", _AnyEdits, telling(_edit, changes=True), told=EditArgs)
