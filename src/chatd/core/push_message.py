"""What a browser is told when a turn has ended, as its service worker gets it."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.chat_summary import report_snippet
from chatd.core.labels import Ending
from chatd.core.messages import Message
from chatd.core.plain_text import one_line
from chatd.core.said_text import clipped, is_from_user, last_answer
from chatd.core.titles import NO_TITLE, fallback_title

FINISHED: Final = "The agent has finished."
FAILED: Final = "The agent stopped with an error."
ICON: Final = "/favicon.ico"
# Push services take 4096 bytes, encrypted. In the widest script this is 2 KiB, and twice that if all of it is escaped.
_LONGEST_TITLE: Final = 120
_LONGEST_BODY: Final = 300
_MOST_BYTES: Final = 8 * 1024  # looked at, of a text that may be long


class PushMessage(msgspec.Struct, frozen=True, kw_only=True):
    """`url` is where a click leads. Of messages with one `topic` that a browser has not got yet, it gets the last."""

    title: str
    body: str
    url: str
    topic: str

    def encode(self) -> bytes:
        shown = {"title": self.title, "body": self.body, "icon": ICON, "data": {"url": self.url}}
        return msgspec.json.encode(shown)


class _Error(msgspec.Struct):
    message: str = ""


def is_told(ending: Ending) -> bool:
    """Whether anyone is told of such an end. Who interrupted a turn knows, and one that goes on has not ended."""
    return ending in (Ending.FINISHED, Ending.FAILED)


def turn_message(
    ending: Ending, *, chat_id: UUID, title: str, history: Sequence[Message], label: str | None, error: str | None
) -> PushMessage:
    """`title` may be empty when it was never known. `label` is a model's, if it made one; `error` that of the chat."""
    body = _failure(error) if ending is Ending.FAILED else label or report_snippet(last_answer(history))
    asked = next((row for row in history if is_from_user(row)), None)
    known = one_line(title, _MOST_BYTES) or (fallback_title(asked.parts) if asked else NO_TITLE)
    return PushMessage(
        title=clipped(known, _LONGEST_TITLE),
        body=clipped(one_line(body or "", _MOST_BYTES), _LONGEST_BODY)
        or (FAILED if ending is Ending.FAILED else FINISHED),
        url=f"/agents/{chat_id}",
        topic=str(chat_id),
    )


def trial_message() -> PushMessage:
    """What a user gets who wants to see whether it works."""
    return PushMessage(
        title="Notifications work", body="You are told here when an agent has finished.", url="/agents", topic="trial"
    )


def _failure(error: str | None) -> str:
    try:
        return msgspec.json.decode(error or "{}", type=_Error).message
    except msgspec.MsgspecError:
        return ""
