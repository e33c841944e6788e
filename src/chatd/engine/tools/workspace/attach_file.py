"""attach_file: give the user a file of the workspace, kept with the chat."""

import hashlib
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from chatd.core.call_ids import id_of_call
from chatd.core.chat_limits import MOST_FILES
from chatd.core.errors import Forbidden, InvalidRequest, TooLarge
from chatd.core.file_types import MOST_BYTES, file_name, media_type
from chatd.core.parts import FilePart
from chatd.engine.acting_for import owner_of
from chatd.engine.tools.tool import AfterCrash, ToolContext, ToolOutput, Traits, answered, failed
from chatd.engine.tools.typed import TypedTool
from chatd.engine.tools.workspace.telling import telling
from chatd.store.actor import acting_as
from chatd.store.store import Store

_FULL: Final = f"This chat has {MOST_FILES} files already, the most that a chat can have. Nothing was attached."


class AttachArgs(msgspec.Struct, frozen=True):
    path: Annotated[str, Meta(description="Absolute path of the file.")]
    name: Annotated[str | None, Meta(description="What to call it for the user; its own name if left out.")] = None


class AttachFile:
    """The file is the chat owner's own. Its id is made from the call's key, so that it is stored once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def run(self, args: AttachArgs, context: ToolContext) -> ToolOutput:
        path = args.path.strip()
        try:
            name = file_name(args.name or path)
            data = await context.workspace.ask(
                lambda client: client.content(path, most_bytes=MOST_BYTES), is_repeatable=True
            )
            if not data:
                return failed(f"{path} is empty. Nothing was attached.")
            kind = media_type(name, "", data)
        except TooLarge:
            return failed(f"{path} is larger than {MOST_BYTES // 2**20} MiB, the most that can be attached.")
        except InvalidRequest as error:
            return failed(f"{error.message} {error.detail or ''}".strip())
        id = id_of_call(context.key)
        try:
            with acting_as(await owner_of(self._store, context.owner_id)):
                outcome = await self._store.attach_file(
                    chat_id=context.chat_id,
                    id=id,
                    organization_id=context.organization_id,
                    owner_id=context.owner_id,
                    name=name,
                    media_type=kind,
                    sha256=hashlib.sha256(data).digest(),
                    data=data,
                    most_files=MOST_FILES,
                )
        except Forbidden as error:
            return failed(error.message)
        if outcome == "attached":
            return _attached(FilePart(media_type=kind, name=name, file_id=id), path, len(data))
        return failed(_FULL if outcome == "too_many_files" else "This chat is not there any more.")

    async def settle(self, args: AttachArgs, context: ToolContext) -> ToolOutput:
        """What the call stored before its server died, or else what is there now."""
        try:
            with acting_as(await owner_of(self._store, context.owner_id)):
                stored = await self._store.get_file_metadata(id=id_of_call(context.key))
        except Forbidden as error:
            return failed(error.message)
        if stored is None:
            return await self.run(args, context)
        part = FilePart(media_type=stored.media_type, name=stored.name, file_id=stored.id)
        return _attached(part, args.path.strip(), stored.size)


def _attached(part: FilePart, path: str, size: int) -> ToolOutput:
    told = {"ok": True, "path": path, "name": part.name, "media_type": part.media_type, "size": size}
    return answered({**told, "file_id": part.file_id}, files=(part,))


def attach_file_tool(store: Store) -> TypedTool[AttachArgs]:
    tool = AttachFile(store)
    traits = Traits(after_crash=AfterCrash.KEYED)
    return TypedTool("attach_file", AttachArgs, telling(tool.run), settle=telling(tool.settle), traits=traits)
