"""`chatd chat`: talk to a chat from a terminal, or from a script."""

import asyncio
import os
import re
import sys
from typing import Annotated, Final
from uuid import UUID

import msgspec
import typer

from chatd.cli.chat_composing import STANDARD_INPUT, Composing
from chatd.cli.chat_screen import ChatScreen
from chatd.cli.chat_talk import Talk
from chatd.cli.stored_login import current_login
from chatd.cli.terminal_page import TerminalPage
from chatd.cli.terminal_text import harmless
from chatd.cli.typed_lines import typed_lines
from chatd.client import Client, Missing
from chatd.client.client import PAGE
from chatd.client.events import Event, RawEvent
from chatd.clock import SystemClock
from chatd.core.chat_input import MOST_CONTENT_BYTES
from chatd.core.errors import ChatdError

_BROKEN_PIPE: Final = 141  # as a shell says of a command whose reader has left
_LOOKS_LIKE_AN_ID: Final = re.compile(r"[0-9a-fA-F-]{20,}")


def chat(
    words: Annotated[list[str] | None, typer.Argument(metavar="[ID] [MESSAGE]...", show_default=False)] = None,
    resume: Annotated[
        bool, typer.Option("--resume", "--continue", "-c", help="Go on with the chat that was last active.")
    ] = False,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="NAME", help="The model, or a part of its name.", show_default=False)
    ] = "",
    effort: Annotated[
        str, typer.Option("--effort", metavar="LEVEL", help="How hard it thinks: none to max.", show_default=False)
    ] = "",
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--file", "-f", metavar="FILE", help="Send a file along, `-` for standard input.", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the events of the stream, one a line.")] = False,
) -> None:
    """Talk to a new chat, or to the one with this ID. With a MESSAGE, or one on standard input, its answer is printed
    and that is all; without one, at a terminal, you talk until Ctrl-D. Ctrl-C stops the answer; again, it leaves."""
    chat_id, message = _asked(words or [])
    files = files or []
    if message is None and not sys.stdin.isatty() and STANDARD_INPUT not in files:
        message = _read_message()
    is_interactive = message is None and sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    if not (chat_id or resume or message or files or is_interactive):
        raise ChatdError("There is nothing to send.", detail="Give a message, as in `chatd chat hello`.")
    asked = _Asked(chat_id, message, resume, model, effort, files, as_json, is_interactive)
    try:
        code = asyncio.run(_talk(asked))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the interpreter complains at its end
        code = _BROKEN_PIPE
    raise typer.Exit(code)


class _Asked(msgspec.Struct, frozen=True):
    chat_id: UUID | None
    message: str | None
    resume: bool
    model: str
    effort: str
    files: list[str]
    as_json: bool
    is_interactive: bool


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
    given = sys.stdin.buffer.read(MOST_CONTENT_BYTES + 1)
    try:
        # The end may be in the middle of a character where more is there than a message may have.
        return given.decode(errors="strict" if len(given) <= MOST_CONTENT_BYTES else "replace").strip() or None
    except UnicodeDecodeError:
        raise ChatdError(
            "Standard input is no text in UTF-8.", detail="Send it as a file: chatd chat --file - 'What is this?'"
        ) from None


async def _talk(asked: _Asked) -> int:
    login = current_login(os.environ)
    is_terminal = sys.stdout.isatty() and not asked.as_json
    styled = is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM", "dumb") != "dumb"
    aside = sys.stdout if is_terminal else sys.stderr
    screen = ChatScreen(TerminalPage(sys.stdout, aside, is_terminal=is_terminal, styled=styled))
    is_seen = sys.stdout.isatty()

    def show(raw: RawEvent, event: Event) -> None:
        if asked.as_json:
            # JSON has its controls written as `\\u001b`, but for some that terminals know as well.
            line = harmless(raw.data.decode(errors="replace")).encode() if is_seen else raw.data
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()
        else:
            screen.show(event)

    async with Client(login.url, login.token) as client:
        chat_id = await _last_active(client) if asked.resume and asked.chat_id is None else asked.chat_id
        composing = Composing(client)
        if asked.model:
            await composing.choose_model(asked.model)
        if asked.effort:
            composing.choose_effort(asked.effort)
        for path in asked.files:
            await composing.attach(path)
        talk = Talk(client, screen, show, chat_id, composing=composing, clock=SystemClock())
        try:
            if asked.is_interactive:
                return await talk.interactively(typed_lines(sys.stdin.fileno()))
            return await talk.once(asked.message)
        except Missing:
            talk.chat_id = None  # nothing to come back to
            raise
        finally:
            if talk.chat_id is not None and not asked.as_json:
                if talk.is_at_work:
                    screen.note("The chat goes on by itself.")
                screen.note(f"{'Come back' if talk.is_at_work else 'Go on'}: chatd chat {talk.chat_id}")


async def _last_active(client: Client) -> UUID:
    """Pinned ones come first in the list, whenever they were active."""
    chats = await client.chats(limit=PAGE)
    if not chats:
        raise ChatdError("There is no chat to go on with.", detail="Begin one: chatd chat")
    return max(chats, key=lambda chat: chat.updated_at).id


def register(root: typer.Typer) -> None:
    root.command()(chat)
