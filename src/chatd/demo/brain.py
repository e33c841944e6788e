"""What the demo model says: a few rules over plain words, pure. It says itself that it is a demo."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from chatd.core import chat_summary, compaction, labels, titles
from chatd.demo.workspace_steps import next_step, said_by_tool

MODEL: Final = "demo"
_GUIDE: Final = "`docs/models.md`"  # comes with chatd
_MOST_SHOWN: Final = 1200  # characters of a tool's result that are quoted back
_MOST_CALLS: Final = 6  # for one wish: look for a template, make a workspace, do it, and some that fail

_COMMAND: Final = re.compile(r"\b(?:run|execute)\b[:\s]+(?:`([^`]+)`|\"([^\"]+)\"|([^\n]+))", re.IGNORECASE)
_READ: Final = re.compile(
    r"\b(?:read|show|open)\b[:\s]+(?:the file\s+)?`?([\w./~-]*[\w/]\.[\w-]+|/[\w./-]+)`?", re.IGNORECASE
)
_TAGS: Final = re.compile(r"</?[\w-]+>")  # around what a title is made of
_TITLE_WORDS: Final = 6
_THINK: Final = re.compile(r"\b(?:think|reason|why|how)\b", re.IGNORECASE)
_COUNT: Final = re.compile(r"\bcount to (\d{1,3})\b", re.IGNORECASE)


class Heard(msgspec.Struct, frozen=True):
    """One message of the conversation, as far as the demo understands it."""

    role: str
    text: str


class ToolUse(msgspec.Struct, frozen=True):
    name: str
    arguments: dict[str, str]


class Said(msgspec.Struct, frozen=True):
    text: str
    reasoning: str = ""
    tool: ToolUse | None = None


def answer(conversation: Sequence[Heard], tools: frozenset[str], *, system: str = "") -> Said:
    """The next thing to say, given what was said and which tools there are. `system` is what it was told to be."""
    if beside := _beside(system, conversation[-1].text if conversation else ""):
        return Said(beside)
    if not conversation:
        return Said(_WELCOME)
    last = conversation[-1]
    if last.role == "tool":
        return _after_tools(conversation, tools)
    return _to_user(last.text, tools)


def _beside(system: str, text: str) -> str:
    """What chatd itself asks about a chat: its title, the label of a turn, a summary. Empty: that is not it."""
    if titles.PROMPT in system:
        words = " ".join(_TAGS.sub(" ", text).split()).removeprefix("User: ").partition(" Assistant: ")[0].split()
        return titles.title_of(" ".join(words[:_TITLE_WORDS]).rstrip(".,;:!?")) or "A demo chat"
    if labels.PROMPT in system:
        return "Demo has answered"
    if chat_summary.PROMPT in system:
        return "A chat with the demo model, which shows what a turn looks like."
    if text.startswith(compaction.INSTRUCTIONS):
        return "The user has been talking to the demo model. Nothing that it said needs to be remembered."
    return ""


def _to_user(text: str, tools: frozenset[str]) -> Said:
    if wish := _wish(text):
        return _use(wish, tools)
    if found := _COUNT.search(text):
        return Said(", ".join(str(number) for number in range(1, int(found[1]) + 1)) + ".")
    if _THINK.search(text):
        return Said(
            "I have thought about it, and I am still the demo model: I can't really answer that. Connect a model "
            f"provider, as {_GUIDE} says, and ask again.",
            reasoning=f"The user wants reasons. I have rules, not reasons. I will say so and point at {_GUIDE}.",
        )
    return Said(_WELCOME)


class _Wish(msgspec.Struct, frozen=True):
    """What the user wants done, and in words."""

    tool: ToolUse
    doing: str


def _wish(text: str) -> _Wish | None:
    if found := _COMMAND.search(text):
        command = next(group for group in found.groups() if group).strip().rstrip(".")
        return _Wish(ToolUse("execute", {"command": command}), f"run `{command}`")
    if found := _READ.search(text):
        return _Wish(ToolUse("read_file", {"path": found[1]}), f"read {found[1]}")
    return None


def _use(wish: _Wish, tools: frozenset[str]) -> Said:
    name = wish.tool.name
    if name not in tools:
        return Said(f"I would {wish.doing} if this chat had the tool `{name}`. It has not.")
    return Said(
        f"I'll {wish.doing}.",
        reasoning=f"The user wants something done that the tool {name} can do.",
        tool=wish.tool,
    )


def _after_tools(conversation: Sequence[Heard], tools: frozenset[str]) -> Said:
    """Goes on towards the user's wish while a workspace is missing; else shows what came back."""
    asked = max((place for place, heard in enumerate(conversation) if heard.role == "user"), default=0)
    results = [heard.text for heard in conversation[asked:] if heard.role == "tool"]
    wish = _wish(conversation[asked].text)
    if wish is not None and len(results) < _MOST_CALLS:
        step = next_step(results[-1], tools)
        if step == "again":
            return Said(f"There it is. Now I'll {wish.doing}.", tool=wish.tool)
        if step is not None:
            return Said(step.saying, tool=ToolUse(step.name, step.arguments))
    return _shown(results[-1])


def _shown(result: str) -> Said:
    text = said_by_tool(result)
    shown = text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "\n…"
    fence = "```" if "```" not in shown else "~~~~"
    return Said(f"Done. This is what came back:\n\n{fence}\n{shown}\n{fence}\n\nThe tool was real; I am only the demo.")


_WELCOME: Final = (
    "Hello! I am **the demo model** that comes with chatd: a few rules, no intelligence. Everything around me is real, "
    "so you can watch a turn stream, stop it, queue messages and edit them.\n\n"
    "Try:\n"
    "- run `ls -la`\n"
    "- read /etc/os-release\n"
    "- count to 100, and stop me\n"
    "- think about something\n\n"
    f"For real answers, an admin adds a model provider under Settings, Providers; {_GUIDE} says how."
)
