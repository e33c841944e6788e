"""`chatd chats`: the chats one has."""

import asyncio
import os
from typing import Annotated

import msgspec
import typer

from chatd.cli.stored_login import current_login
from chatd.cli.tables import show
from chatd.cli.terminal_text import one_line
from chatd.client import Client
from chatd.client.client import PAGE
from chatd.wire.chats import Chat

_TITLE_LONGEST = 60  # characters


def chats(
    search: Annotated[
        str, typer.Option("--search", "-s", help="Terms such as `title:plan archived:true has_unread:true`.")
    ] = "",
    limit: Annotated[int, typer.Option(help="How many to list.", min=1, max=10_000)] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all there is to know.")] = False,
) -> None:
    """List your chats, pinned ones first, then the last active first."""
    found = asyncio.run(_find(search, limit))
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


async def _find(search: str, limit: int) -> list[Chat]:
    login = current_login(os.environ)
    found: list[Chat] = []
    async with Client(login.url, login.token) as client:
        while len(found) < limit:
            asked = min(PAGE, limit - len(found))
            page = await client.chats(q=search, limit=asked, after_id=found[-1].id if found else None)
            found += page
            if len(page) < asked:
                break
    return found


def register(root: typer.Typer) -> None:
    root.command()(chats)
