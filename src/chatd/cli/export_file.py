"""A whole chat as a file."""

from contextlib import aclosing
from pathlib import Path
from typing import Final
from uuid import UUID

from chatd.cli.saved_file import save
from chatd.client import Client
from chatd.core.errors import InvalidRequest
from chatd.wire.chats import ExportFormat

_BY_ENDING: Final[dict[str, ExportFormat]] = {".html": "html", ".htm": "html", ".json": "json"}


def format_of(path: Path) -> ExportFormat:
    """As its name says."""
    return _BY_ENDING.get(path.suffix.lower(), "markdown")


def path_typed(text: str) -> Path:
    """Nobody but a shell knows `~`, and this was not typed at one."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise InvalidRequest(f"{text} can't be written: {error}.") from error


async def save_export(client: Client, chat: UUID, format: ExportFormat, path: Path) -> None:
    async with aclosing(client.export(chat, format)) as pieces:
        await save(pieces, path)
