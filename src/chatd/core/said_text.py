"""What was said in messages, as text: without tools, thoughts and files."""

import re
from collections.abc import Sequence
from typing import Final

from chatd.core.messages import Message
from chatd.core.parts import TextPart
from chatd.core.plain_text import one_line, plain
from chatd.core.roles import Role, Visibility

_SENTENCE_END: Final = re.compile(r"[.!?]+(?=\s|$)|[\u3002\uff01\uff1f]+")  # and those of CJK
# Quotes and emphasis, by their beginning.
_PAIRS: Final = {
    '"': '"', "'": "'", "`": "`", "*": "*", "\u201c": "\u201d", "\u2018": "\u2019", "\xab": "\xbb", "\u201e": "\u201c"
}  # fmt: skip
_TRAILING: Final = ".,;:!\u2026\u3002\uff01\uff0c\uff1b\uff1a "  # of Latin and of CJK
_MOST_ANSWER_BYTES: Final = 8 * 1024  # of an answer that should be a line or a paragraph; more is no such answer


def text_of(message: Message) -> str:
    return "\n\n".join(part.text.strip() for part in message.parts if isinstance(part, TextPart) and part.text.strip())


def is_from_user(message: Message) -> bool:
    """Whether a person wrote it, and it still counts."""
    return message.role is Role.USER and message.visibility is not Visibility.MODEL and not message.deleted


def last_answer(history: Sequence[Message]) -> str:
    """What the model said last, in words."""
    answers = (text_of(row) for row in reversed(history) if row.role is Role.ASSISTANT and not row.compressed)
    return next((text for text in answers if text), "")


def only_line(answer: str) -> str:
    """The one line of an answer, without quotes, marks and final stops around it; empty when there are more lines."""
    lines = [line for line in plain(answer, _MOST_ANSWER_BYTES).splitlines() if line.strip()]
    if len(lines) != 1:
        return ""
    line, before = one_line(lines[0], _MOST_ANSWER_BYTES), None
    while line != before:
        before, line = line, _unwrapped(line.lstrip("# ").rstrip(_TRAILING))
    return line


def _unwrapped(line: str) -> str:
    """Without a pair of marks around all of it, and only then: "Fix 'login'" keeps its own."""
    end = _PAIRS.get(line[:1], "")
    inner = line[1:-1]
    if (
        len(line) > 1
        and end
        and line.endswith(end)
        and not any(mark in inner.strip(line[0]) for mark in (line[0], end))
    ):
        return inner.strip()
    return line


def sentences(text: str) -> list[str]:
    """With their ends."""
    found: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        found.append(text[start : end.end()].strip())
        start = end.end()
    return [sentence for sentence in (*found, text[start:].strip()) if sentence]


def clipped(text: str, most: int) -> str:
    """At most so many characters, at the end of a word if there is one near, with a mark where it was cut."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    word_end = head.rfind(" ")
    return f"{head[:word_end] if word_end > most // 2 else head}…"
