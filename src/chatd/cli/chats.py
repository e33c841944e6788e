"""`chatd chats`: the chats one has, and copies of them as chats and as files."""

import asyncio
import os
import sys
from codecs import getincrementaldecoder
from contextlib import aclosing
from pathlib import Path
from typing import Annotated
from uuid import UUID

import msgspec
import typer

from chatd.cli.export_file import save_export
from chatd.cli.stored_login import current_login
from chatd.cli.tables import json_text, show
from chatd.cli.terminal_text import harmless, one_line
from chatd.client import Client
from chatd.client.client import PAGE
from chatd.wire.chats import Chat, ExportFormat

_TITLE_LONGEST = 60  # characters
ChatId = Annotated[UUID, typer.Argument(metavar="CHAT", help="The id of a chat, as `chatd chats` shows it.")]

app = typer.Typer(name="chats", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def chats(
    context: typer.Context,
    search: Annotated[
        str, typer.Option("--search", "-s", help='Words of titles and messages: `owl "night bird" -barn`.')
    ] = "",
    query: Annotated[
        str, typer.Option("--query", "-q", help="Terms such as `title:plan archived:true has_unread:true`.")
    ] = "",
    limit: Annotated[int, typer.Option(help="How many to list.", min=1, max=10_000)] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all there is to know.")] = False,
) -> None:
    """List your chats, pinned ones first, then the last active first; or search them, fork or export one."""
    if context.invoked_subcommand is not None:
        return
    found = asyncio.run(_find(query, search, limit))
    if search and not as_json:
        from chatd.cli.chat_hits import show_hits  # it takes longer to import than all else

        show_hits(found)
        return
    whole: list[dict[str, object]] = [msgspec.to_builtins(chat) for chat in found]
    rows = [
        {
            "id": str(chat.id),
            "title": one_line(chat.title, _TITLE_LONGEST),
            "status": chat.status.value,
            "unread": "yes" if chat.has_unread else "",
            "updated": chat.updated_at,
        }
        for chat in found
    ]
    columns = ["id", "title", "status", "unread", "updated"]
    show(whole if as_json else rows, columns=columns, as_json=as_json, empty="No chats. Begin one: chatd chat")


@app.command()
def fork(
    chat: ChatId,
    at: Annotated[
        int | None, typer.Option(metavar="MESSAGE", help="The id of the last message to copy; else all are.", min=1)
    ] = None,
    title: Annotated[str | None, typer.Option(help="Of the new chat.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the new chat as JSON.")] = False,
) -> None:
    """Begin a chat of your own with the history of another one."""

    async def act() -> Chat:
        login = current_login(os.environ)
        async with Client(login.url, login.token) as client:
            return await client.fork(chat, message_id=at, title=title)

    made = asyncio.run(act())
    if as_json:
        print(json_text(made))
    else:
        print(f"{made.id}  {one_line(made.title, _TITLE_LONGEST)}")
        print(f"Go on with it: chatd chat {made.id}", file=sys.stderr)


@app.command()
def export(
    chat: ChatId,
    format: Annotated[
        ExportFormat, typer.Option("--format", "-f", help="HTML is one page with all in it.")
    ] = "markdown",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file; else standard output.")] = None,
) -> None:
    """Write a whole chat to a file."""
    asyncio.run(_export(chat, format, output))


async def _export(chat: UUID, format: ExportFormat, output: Path | None) -> None:
    login = current_login(os.environ)
    async with Client(login.url, login.token) as client:
        if output is not None:
            await save_export(client, chat, format, output)
            return
        async with aclosing(client.export(chat, format)) as pieces:
            shown = getincrementaldecoder("utf-8")("replace")
            async for piece in pieces:
                # What others wrote commands no terminal; a file gets it as it is.
                sys.stdout.buffer.write(harmless(shown.decode(piece)).encode() if sys.stdout.isatty() else piece)
        sys.stdout.buffer.flush()


async def _find(query: str, search: str, limit: int) -> list[Chat]:
    login = current_login(os.environ)
    found: list[Chat] = []
    async with Client(login.url, login.token) as client:
        while len(found) < limit:
            asked = min(PAGE, limit - len(found))
            after = found[-1].id if found else None
            page = await client.chats(q=query, search=search, limit=asked, after_id=after)
            found += page
            if len(page) < asked:
                break
    return found


def register(root: typer.Typer) -> None:
    root.add_typer(app)
