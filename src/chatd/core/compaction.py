"""When a history is summarised, and what the summary leaves: pure policy, texts and rows.

After every step the tokens that the next prompt will hold are held against the model's window. What is summarised stays
for people; prompts begin at the newest summary.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from chatd.core.messages import Message, NewMessage
from chatd.core.model import PromptMessage
from chatd.core.parts import TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role, Visibility
from chatd.core.usage import Usage

TOOL_NAME: Final = "chat_summarized"
MOST_REENTRIES: Final = 3  # compactions after a final answer in one run; a fourth would only talk to itself
DEFAULT_THRESHOLD: Final = 70  # percent
NEVER: Final = 100  # a threshold that means "not by itself"
SUMMARY_SECONDS: Final = 90.0  # for the summary, all attempts together

INSTRUCTIONS: Final = """\
This is a context compaction. The conversation above has grown too long to go on with, and everything before this \
point will be replaced by what you write now. Write the notes that you need to carry on as if nothing had happened.

Cover, in this order, each under a short heading:
1. What the user said must or must not be done: wishes, corrections, prohibitions. Keep their words, and only theirs: \
rules that came from the system or from files are not the user's.
2. The goal of the whole work, and the task at hand.
3. Decisions that were taken, each with its reason.
4. Facts that you would have to find again: paths, names of functions, commands, interfaces, settings, versions.
5. Errors that came up and what exactly solved them. Do not turn one failure into a rule against a tool.
6. The state of the work: what is done, what is in progress, what remains.
7. The exact action that was under way when this request came.

Be dense and factual. Refer to what can be read again (a file, a command) instead of repeating it. Call no tools. \
Answer with the notes alone."""

# A test pins it: histories of years begin with this sentence.
LEAD_IN: Final = (
    "This is a summary of the earlier conversation, whose messages are no longer shown to you. You, the assistant, "
    "were at work when the context was compacted. Continue that work from where the summary ends."
)


class Window(msgspec.Struct, frozen=True):
    """A model's context in tokens (0: not known), and the share of it in percent from which on it is compacted."""

    limit: int
    threshold: int = DEFAULT_THRESHOLD

    def percent(self, tokens: int) -> float:
        return 100 * tokens / self.limit if self.limit > 0 else 0.0

    def is_over(self, tokens: int) -> bool:
        """Whether that many tokens should be compacted."""
        return self.limit > 0 and tokens > 0 and self.threshold < NEVER and self.percent(tokens) >= self.threshold


def prompt_tokens(usage: Usage) -> int:
    return (usage.input_tokens or 0) + (usage.cache_read_tokens or 0) + (usage.cache_creation_tokens or 0)


def held_tokens(usage: Usage) -> int:
    """What the next prompt will hold after a call that used this: its own prompt, and what was answered."""
    prompt = prompt_tokens(usage)
    return prompt + (usage.output_tokens or 0) if prompt else (usage.total_tokens or 0)


class Fits(msgspec.Struct, frozen=True):
    """Nothing is to be done."""


class Due(msgspec.Struct, frozen=True):
    tokens: int


class Futile(msgspec.Struct, frozen=True):
    """It was done, and even the first prompt after it was too long: doing it again would go on for ever."""

    tokens: int


def check(history: Sequence[Message | NewMessage], window: Window) -> Fits | Due | Futile:
    """After a step, whose answer is the last of the history."""
    rows = _since_summary(history)
    answers = _answers(rows)
    if not answers:
        return Fits()
    tokens = held_tokens(answers[-1])
    if not window.is_over(tokens):
        return Fits()
    # With a message of the user's since, it is that message, another model or another threshold that made it too much.
    first = prompt_tokens(answers[0])
    if len(rows) < len(history) and not any(map(_is_of_user, rows)) and window.is_over(first):
        # A low threshold is a wish to compact early, not to stop while there is room.
        roomy = Window(window.limit, max(window.threshold, DEFAULT_THRESHOLD))
        if roomy.is_over(first):
            return Futile(first)
        return Due(tokens) if roomy.is_over(tokens) else Fits()
    return Due(tokens)


def has_answers(history: Sequence[Message | NewMessage]) -> bool:
    """Whether there is anything to summarise since the newest summary."""
    return any(message.role is Role.ASSISTANT and not message.compressed for message in history)


def context_tokens(history: Sequence[Message | NewMessage]) -> int:
    """What a prompt over this history holds, as far as the last answer tells."""
    answers = _answers(_since_summary(history))
    return held_tokens(answers[-1]) if answers else 0


def _since_summary(history: Sequence[Message | NewMessage]) -> Sequence[Message | NewMessage]:
    """All of it when there is none."""
    for place in range(len(history) - 1, -1, -1):
        if history[place].compressed:
            return history[place + 1 :]
    return history


def _answers(rows: Sequence[Message | NewMessage]) -> list[Usage]:
    return [row.usage for row in rows if row.role is Role.ASSISTANT and held_tokens(row.usage)]


def _is_of_user(row: Message | NewMessage) -> bool:
    return row.role is Role.USER and row.visibility is not Visibility.MODEL


_LEFT_OUT: Final = "[The beginning of this conversation is left out here: it did not fit any more.]"
_FEWEST: Final = 4  # messages of a history that can still be halved


def newer_half(messages: tuple[PromptMessage, ...]) -> tuple[PromptMessage, ...] | None:
    """The system messages and the newer half of the rest, for a history that is too long even to be summarised; None
    when there is nothing left to leave out."""
    leading = next((place for place, one in enumerate(messages) if one.role is not Role.SYSTEM), len(messages))
    rest = messages[leading:]
    if rest and rest[0].parts == (TextPart(text=_LEFT_OUT),):
        rest = rest[1:]
    if len(rest) < _FEWEST:
        return None
    note = PromptMessage(Role.USER, (TextPart(text=_LEFT_OUT),))
    return (*messages[:leading], note, *rest[len(rest) // 2 :])


class Compaction(msgspec.Struct, frozen=True, kw_only=True):
    """One that was carried out. `call_id` is the one that was announced."""

    call_id: str
    summary: str
    is_manual: bool
    window: Window
    tokens: int

    @property
    def source(self) -> str:
        return "manual" if self.is_manual else "automatic"

    def call(self) -> ToolCallPart:
        args = {"source": self.source, "threshold_percent": self.window.threshold}
        return ToolCallPart(tool_call_id=self.call_id, tool_name=TOOL_NAME, args=_json(args))

    def result(self, at: str) -> ToolResultPart:
        told = {
            "summary": self.summary,
            "source": self.source,
            "threshold_percent": self.window.threshold,
            "usage_percent": round(self.window.percent(self.tokens), 2),
            "context_tokens": self.tokens,
            "context_limit_tokens": self.window.limit,
        }
        return ToolResultPart(tool_call_id=self.call_id, tool_name=TOOL_NAME, result=_json(told), created_at=at)

    def messages(self, call: NewMessage, at: str) -> list[NewMessage]:
        """The hidden summary, the call that people see (with what it cost), and its result."""
        boundary = TextPart(text=f"{LEAD_IN}\n\n{self.summary}")
        return [
            NewMessage(role=Role.USER, parts=(boundary,), visibility=Visibility.MODEL, compressed=True),
            msgspec.structs.replace(
                call, role=Role.ASSISTANT, parts=(self.call(),), visibility=Visibility.USER, compressed=True
            ),
            NewMessage(role=Role.TOOL, parts=(self.result(at),), visibility=Visibility.BOTH, compressed=True),
        ]


def failed_result(call_id: str, reason: str, at: str) -> ToolResultPart:
    """So that nobody stays at "Summarizing…"."""
    return ToolResultPart(
        tool_call_id=call_id, tool_name=TOOL_NAME, result=_json({"error": reason}), is_error=True, created_at=at
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
