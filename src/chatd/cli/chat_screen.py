"""A chat as people read it: the answer as it comes, and beside it what the agent thinks and does."""

from collections.abc import Sequence
from typing import Any, Final

from chatd.cli.terminal_page import Kind, TerminalPage
from chatd.cli.terminal_text import harmless, one_line
from chatd.cli.tool_lines import call_line, live_lines, result_lines
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
from chatd.core.retry import RetryPayload
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.wire.chats import ChatMessage, ChatQueuedMessage

QUEUED_LONGEST: Final = 100  # characters
_MOST_TOLD: Final = 10_000  # calls and results of a chat that are remembered; older ones are not sent again
_BUSY: Final = ("…",)


class _Piece:
    """A text that was shown as it came, and that a stored message will have."""

    def __init__(self, kind: Kind | None) -> None:
        self.kind = kind
        self.text = ""


class ChatScreen:
    """Events, in their order, onto a page."""

    def __init__(self, page: TerminalPage) -> None:
        self._page = page
        self._live: list[_Piece] = []
        self._told: dict[tuple[str, str], None] = {}  # calls and results
        self._names: dict[str, str] = {}  # of the tools that were called
        self._output: dict[str, str] = {}  # of those that run
        self._queued: set[int] = set()
        self._own: list[str] = []

    def begin_chat(self) -> None:
        """What is shown from now on is of another chat."""
        for known in (self._live, self._told, self._names, self._output, self._queued, self._own):
            known.clear()

    def typed(self, text: str) -> None:
        """The user has written this here, and need not see it again when it is stored."""
        self._own.append(text.strip())

    def not_yet(self, text: str) -> None:
        """It waits in the queue: what was typed is shown again in its place."""
        if text.strip() in self._own:
            self._own.remove(text.strip())

    def prompt(self) -> None:
        self._page.prompt()

    def entered(self) -> None:
        self._page.entered()

    def note(self, *lines: str) -> None:
        """Something beside the chat."""
        self._page.note(*lines)

    def busy(self) -> None:
        """The chat is at work, and nothing is to be seen of it."""
        if not self._output:
            self._page.passing(_BUSY)

    def count_down(self, retry: RetryPayload, seconds: int) -> None:
        self._page.passing([_retry_line(retry, seconds)])

    def show(self, event: Event) -> None:
        match event:
            case PartCame(message_part=came):
                self._came(came.part, is_numbered=came.seq is not None)
            case MessageStored(message=message):
                self.show_message(message)
            case QueueChanged(queued_messages=queued):
                self._waiting(queued)
            case StatusChanged(status=status) if status.status is Status.INTERRUPTING:
                self.note("■ stopping")
            case TurnFailed(error=error):
                advice = ["  Send a message to try again."] if error.retryable else []
                self.note(f"✗ {error.message}", *([f"  {error.detail}"] if error.detail else []), *advice)
            case Retrying(retry=retry) if not self._page.styled:
                self.note(_retry_line(retry, max(1, round(retry.delay_ms / 1000))))
            case ActionRequired(action_required=asked):
                names = ", ".join(call.tool_name for call in asked.tool_calls)
                self.note(f"The chat waits for tools of another client: {names}.")
            case HistoryReset():
                self._told.clear()
                self.note("— the chat was changed; it begins here again —")
            case PreviewReset():
                self._output.clear()
                if self._live:
                    self._live.clear()  # it was not stored
                    self.note("— the answer begins anew —")
            case _:
                pass

    def show_message(self, message: ChatMessage) -> None:
        if message.role is Role.USER:
            self._said(message)
            return
        for part in message.content:
            self._part(part, is_live=False)
        if message.role is Role.ASSISTANT:
            self._live.clear()  # all of it is stored by now
        self._page.close()

    def _said(self, message: ChatMessage) -> None:
        words = "\n".join(part["text"] for part in message.content if part.get("type") == "text").strip()
        if words in self._own:
            self._own.remove(words)
        else:
            self._page.said(text_of(message.content))

    def _waiting(self, queued: Sequence[ChatQueuedMessage]) -> None:
        for place, waits in enumerate(queued, 1):
            if waits.id not in self._queued:
                self.note(f"⧗ queued {place}: {one_line(text_of(waits.content), QUEUED_LONGEST)}")
        self._queued = {waits.id for waits in queued}

    def _came(self, part: dict[str, Any], *, is_numbered: bool) -> None:
        if is_numbered:
            self._part(part, is_live=True)
            return
        call = str(part.get("tool_call_id"))
        self._output.pop(call, None)  # the last one that spoke is shown last
        self._output[call] = str(part.get("result_delta") or "")
        self._page.close()
        self._page.passing(live_lines(self._output, self._names, self._page.width))

    def _part(self, part: dict[str, Any], *, is_live: bool) -> None:
        kind = part.get("type")
        if is_live and kind not in ("text", "reasoning") and self._live:
            self._live.append(_Piece(None))  # the next text is another one
        match kind:
            case "text" | "reasoning" if part.get("text"):
                self._live_text(kind, part["text"]) if is_live else self._stored_text(kind, part["text"])
            case "tool-call" if "args_delta" not in part:
                self._names[str(part.get("tool_call_id"))] = one_line(str(part.get("tool_name", "")), 40)
                self._tell("call", part.get("tool_call_id"), [call_line(part, self._page.width)])
            case "tool-result":
                self._output.pop(str(part.get("tool_call_id")), None)
                self._tell("result", part.get("tool_call_id"), result_lines(part, self._page.width))
            case "source":
                title = f"{part['title']} " if part.get("title") else ""
                self._tell("source", part.get("url"), [f"  ↗ {title}{part.get('url')}"])
            case "file" if not is_live:
                self._tell("file", part.get("file_id"), [f"  {_file(part)}"])
            case _:
                pass

    def _tell(self, kind: str, id: object, lines: Sequence[str]) -> None:
        """Once, whether it is seen live, stored, or both."""
        told = (kind, str(id))
        if told not in self._told:
            if len(self._told) >= _MOST_TOLD:
                del self._told[next(iter(self._told))]
            self._told[told] = None
            self.note(*lines)

    def _live_text(self, kind: Kind, text: str) -> None:
        if not self._live or self._live[-1].kind != kind:
            self._live.append(_Piece(kind))
            self._page.begin(kind)
        elif not self._page.is_in(kind):
            self._page.begin(kind, goes_on=True)  # something was said in between
        self._live[-1].text += text
        self._page.write(text)

    def _stored_text(self, kind: Kind, text: str) -> None:
        """What of it was not seen as it came."""
        place = next((place for place, piece in enumerate(self._live) if piece.kind == kind), None)
        if place is not None:
            shown = self._live[place].text
            del self._live[: place + 1]
            if text.strip() == shown.strip():
                return
            if text.startswith(shown):
                text = text[len(shown) :]
                if self._page.is_in(kind) and not self._live:
                    self._page.write(text)
                    return
        self._page.begin(kind)
        self._page.write(text)


def text_of(content: Sequence[Any]) -> str:
    """What a person wrote, in words."""
    said = [part["text"] if part.get("type") == "text" else _file(part) for part in content]
    return "\n".join(said)


def _file(part: dict[str, Any]) -> str:
    name = part.get("name") or part.get("file_name") or part.get("media_type") or part.get("type")
    return f"[{harmless(str(name))}]"


def _retry_line(retry: RetryPayload, seconds: int) -> str:
    attempt = f" (attempt {retry.attempt + 1})" if retry.attempt > 1 else ""
    return f"… {retry.error} Trying again in {seconds} s{attempt}."
