"""What a search has found, on a terminal: each chat with the piece of text that has the words."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from chatd.cli.terminal_text import harmless, one_line
from chatd.wire.chats import Chat, ChatMatch

_TITLE_LONGEST = 100  # characters
_WIDE = 10_000


def show_hits(found: Sequence[Chat]) -> None:
    if not found:
        print("Nothing found. Words are matched whole; what was said is found about a second later.")
        return
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE)
    for chat in found:
        title = Text(one_line(chat.title, _TITLE_LONGEST), style="bold")
        console.print(title, f"· {chat.updated_at:%Y-%m-%d %H:%M}")
        if chat.match is not None and chat.match.message_id is not None:
            console.print(Padding(_snippet(chat.match), (0, 0, 0, 4), expand=False))
        at = f" --at {chat.match.message_id}" if chat.match and chat.match.message_id else ""
        console.print(Text(f"    {chat.id}{at}", style="dim"), soft_wrap=True)


def _snippet(match: ChatMatch) -> Text:
    """With its words marked; pieces are made harmless one by one, so that the marks stay where they are."""
    text, at = Text(), 0
    for start, end in match.marks:
        text.append(harmless(match.snippet[at:start]))
        text.append(harmless(match.snippet[start:end]), style="bold yellow")
        at = end
    text.append(harmless(match.snippet[at:]))
    return text
