"""A chat as people read it: the answer as it comes, and beside it what the agent thinks and does.

At a terminal all of it is on one screen. Elsewhere standard output has the answers alone, so that they can be used, and
what is said beside them goes to standard error; thoughts are left out.
"""

from typing import Any, Final, TextIO

import msgspec

from chatd.cli.markdown_text import BOLD, DIM, PLAIN, MarkdownText
from chatd.cli.terminal_text import harmless, one_line
from chatd.client.events import (
    ActionRequired,
    Event,
    HistoryReset,
    MessageStored,
    PartCame,
    PreviewReset,
    QueueChanged,
    Retrying,
    StatusChanged,
    TurnFailed,
)
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.wire.chats import ChatMessage

ARGUMENTS_LONGEST: Final = 100  # characters: one line with the name of the tool
RESULT_LONGEST: Final = 200
QUEUED_LONGEST: Final = 100
_TEXTS: Final = ("text", "reasoning")


class _Piece:
    """A text that was shown as it came, and that a stored message will have."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.text = ""


class ChatScreen:
    def __init__(self, out: TextIO, aside: TextIO, *, is_terminal: bool, styled: bool) -> None:
        self._out = out
        self._aside = aside
        self._is_terminal = is_terminal
        self._styled = styled
        self._markdown = MarkdownText()
        self._live: list[_Piece] = []
        self._open: str | None = None  # the kind of text that the cursor stands in
        self._is_midline = False
        self._told: set[tuple[str, str]] = set()  # calls and results
        self._queued: set[int] = set()
        self._own: list[str] = []

    def typed(self, text: str) -> None:
        """The user has written this here, and need not see it again when it is stored."""
        self._is_midline = False
        self._own.append(text.strip())

    def not_yet(self, text: str) -> None:
        """It waits in the queue: what was typed is shown again in its place."""
        if text.strip() in self._own:
            self._own.remove(text.strip())

    def prompt(self) -> None:
        self._close()
        self._print(self._out, f"\n{self._style(BOLD)}>{self._style(PLAIN)} ")
        self._is_midline = True

    def note(self, text: str) -> None:
        """Something beside the chat."""
        if self._aside is self._out:
            self._close()
        self._print(self._aside, f"{self._style(DIM)}{harmless(text)}{self._style(PLAIN)}\n")

    def show(self, event: Event) -> None:
        match event:
            case PartCame(message_part=came) if came.seq is not None:
                self._part(came.part, is_live=True)
            case MessageStored(message=message):
                self.show_message(message)
            case QueueChanged(queued_messages=queued):
                for waits in queued:
                    if waits.id not in self._queued:
                        self.note(f"⧗ queued: {one_line(_text_of(waits.content), QUEUED_LONGEST)}")
                self._queued = {waits.id for waits in queued}
            case StatusChanged(status=status) if status.status is Status.INTERRUPTING:
                self.note("■ stopping")
            case TurnFailed(error=error):
                self.note(f"✗ {error.message}" + (f" {error.detail}" if error.detail else ""))
            case Retrying(retry=retry):
                self.note(f"… {retry.error} Trying again in {max(1, round(retry.delay_ms / 1000))} s.")
            case ActionRequired(action_required=asked):
                names = ", ".join(call.tool_name for call in asked.tool_calls)
                self.note(f"The chat waits for tools of another client: {names}.")
            case HistoryReset():
                self.note("— the chat was changed; it begins here again —")
            case PreviewReset() if self._live:
                self._live.clear()  # it was not stored
                self.note("— the answer begins anew —")
            case _:
                pass

    def show_message(self, message: ChatMessage) -> None:
        if message.role is Role.USER:
            self._said(_text_of(message.content))
            return
        for part in message.content:
            self._part(part, is_live=False)
        if message.role is Role.ASSISTANT:
            self._live.clear()  # all of it is stored by now
        self._close()

    def _said(self, text: str) -> None:
        if text.strip() in self._own:
            self._own.remove(text.strip())
            return
        self._close()
        if self._is_terminal:
            lines = harmless(text).splitlines()
            self._print(
                self._out, "\n" + "".join(f"{self._style(BOLD)}> {line}{self._style(PLAIN)}\n" for line in lines)
            )

    def _part(self, part: dict[str, Any], *, is_live: bool) -> None:
        if is_live and part.get("type") not in _TEXTS and self._live:
            self._live.append(_Piece(""))  # the next text is another one
        match part.get("type"):
            case "text" | "reasoning" as kind if part.get("text"):
                self._live_text(kind, part["text"]) if is_live else self._stored_text(kind, part["text"])
            case "tool-call" if "args_delta" not in part:
                self._tool("call", part, f"● {part.get('tool_name', '')} {_json(part.get('args'), ARGUMENTS_LONGEST)}")
            case "tool-result":
                mark = "✗" if part.get("is_error") else "✓"
                said = _json(part.get("result"), RESULT_LONGEST)
                self._tool("result", part, f"  {mark} {part.get('tool_name', '')} {said}")
            case "source":
                self._tool(
                    "source", {"tool_call_id": part.get("url", "")}, f"  ↗ {part.get('title') or ''} {part.get('url')}"
                )
            case _:
                pass

    def _tool(self, kind: str, part: dict[str, Any], line: str) -> None:
        """Once, whether it is seen live, stored, or both."""
        told = (kind, str(part.get("tool_call_id")))
        if told not in self._told:
            self._told.add(told)
            self.note(line.rstrip())

    def _live_text(self, kind: str, text: str) -> None:
        if not self._live or self._live[-1].kind != kind:
            self._live.append(_Piece(kind))
            self._begin(kind)
        elif self._open != kind:
            self._begin(kind)  # something was said in between
        self._live[-1].text += text
        self._write(kind, text)

    def _stored_text(self, kind: str, text: str) -> None:
        """What of it was not seen as it came."""
        place = next((place for place, piece in enumerate(self._live) if piece.kind == kind), None)
        if place is not None:
            shown = self._live[place].text
            del self._live[: place + 1]
            if text.strip() == shown.strip():
                return
            if text.startswith(shown):
                text = text[len(shown) :]
                if self._open == kind and not self._live:
                    self._write(kind, text)
                    return
        self._begin(kind)
        self._write(kind, text)

    def _begin(self, kind: str) -> None:
        self._close()
        if self._is_terminal:
            self._print(self._out, "\n")
        self._open = kind

    def _write(self, kind: str, text: str) -> None:
        text = harmless(text)
        if kind == "text":
            self._print(self._out, self._markdown.feed(text) if self._styled else text)
        elif self._is_terminal:
            self._print(self._out, f"{self._style(DIM)}{text}{self._style(PLAIN)}")
        else:
            return
        if text:
            self._is_midline = not text.endswith("\n")

    def _close(self) -> None:
        """The cursor stands at the begin of a line."""
        if self._open == "text" and self._styled:
            self._print(self._out, self._markdown.finish())
        if self._is_midline:
            self._print(self._out, "\n")
        self._open, self._is_midline = None, False

    def _style(self, code: str) -> str:
        return code if self._styled else ""

    def _print(self, to: TextIO, text: str) -> None:
        to.write(text)
        to.flush()


def _text_of(content: list[Any]) -> str:
    """What a person wrote, in words."""
    said = [part.get("text") or part.get("file_name") or part.get("name") or "" for part in content]
    return "\n".join(text for text in said if text) or "(a file)"


def _json(value: object, most: int) -> str:
    """As short as it takes: a text as itself."""
    if value is None:
        return ""
    return one_line(value if isinstance(value, str) else msgspec.json.encode(value).decode(), most)
