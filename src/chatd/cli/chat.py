"""`chatd chat`: talk to a chat from a terminal, or from a script."""

import asyncio
import os
import re
import sys
from typing import Annotated, Final
from uuid import UUID

import typer

from chatd.cli.chat_screen import ChatScreen
from chatd.cli.chat_talk import Talk
from chatd.cli.stored_login import current_login
from chatd.cli.typed_lines import typed_lines
from chatd.client import Client
from chatd.client.events import Event, RawEvent
from chatd.core.chat_input import MOST_CONTENT_BYTES
from chatd.core.errors import ChatdError

_BROKEN_PIPE: Final = 141  # as a shell says of a command whose reader has left
_LOOKS_LIKE_AN_ID: Final = re.compile(r"[0-9a-fA-F-]{20,}")


def chat(
    words: Annotated[list[str] | None, typer.Argument(metavar="[ID] [MESSAGE]...", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the events of the stream, one a line.")] = False,
) -> None:
    """Talk to a new chat, or to the one with this ID. With a MESSAGE, or one on standard input, its answer is printed
    and that is all; without one, at a terminal, you talk until Ctrl-D. Ctrl-C stops the answer; again, it leaves."""
    chat_id, message = _asked(words or [])
    is_interactive = message is None and sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    if message is None and not sys.stdin.isatty():
        message = _read_message()
    if chat_id is None and message is None and not is_interactive:
        raise ChatdError("There is nothing to send.", detail="Give a message, as in `chatd chat hello`.")
    try:
        code = asyncio.run(_talk(chat_id, message, as_json=as_json, is_interactive=is_interactive))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the interpreter complains at its end
        code = _BROKEN_PIPE
    raise typer.Exit(code)


def _asked(words: list[str]) -> tuple[UUID | None, str | None]:
    first = words[0] if words else ""
    try:
        chat_id = UUID(first)
    except ValueError:
        if _LOOKS_LIKE_AN_ID.fullmatch(first):
            raise ChatdError(f"{first} is no id of a chat.", detail="`chatd chats` lists them.") from None
        chat_id = None
    return chat_id, " ".join(words[chat_id is not None :]).strip() or None


def _read_message() -> str | None:
    """All of standard input. What is longer than a message may be is refused by the server, which says so."""
    return sys.stdin.buffer.read(MOST_CONTENT_BYTES + 1).decode(errors="replace").strip() or None


async def _talk(chat_id: UUID | None, message: str | None, *, as_json: bool, is_interactive: bool) -> int:
    login = current_login(os.environ)
    is_terminal = sys.stdout.isatty() and not as_json
    styled = is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    aside = sys.stdout if is_terminal else sys.stderr
    screen = ChatScreen(sys.stdout, aside, is_terminal=is_terminal, styled=styled)

    def show(raw: RawEvent, event: Event) -> None:
        if as_json:
            sys.stdout.buffer.write(raw.data + b"\n")
            sys.stdout.buffer.flush()
        else:
            screen.show(event)

    async with Client(login.url, login.token) as client:
        talk = Talk(client, screen, show, chat_id)
        try:
            if is_interactive:
                return await talk.interactively(typed_lines(sys.stdin.fileno()))
            return await talk.once(message)
        finally:
            if talk.chat_id is not None and not as_json:
                goes_on = "The chat goes on by itself. Come back" if talk.is_at_work else "Go on"
                screen.note(f"{goes_on}: chatd chat {talk.chat_id}")


def register(root: typer.Typer) -> None:
    root.command()(chat)
