"""A chat as Markdown: what was said as it was written, tools and their results folded away."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Final

from chatd.core.parts import (
    AnyPart,
    ContextFilePart,
    FilePart,
    FileReferencePart,
    ReasoningPart,
    SkillPart,
    SourcePart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatd.core.plain_text import one_line
from chatd.core.valid_text import valid_text
from chatd.server.exports.safe_markdown import safe
from chatd.server.exports.steps import Export, Step, steps_of
from chatd.server.exports.words import SUMMARISED, hint, is_summary, moment, readable, reference, speaker, thought

_TICKS: Final = re.compile("`+")
_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#|~!&])")
_LONGEST_NAME: Final = 1000  # bytes of a title, a tool's or a file's name: what is longer is none


async def markdown_pieces(export: Export) -> AsyncIterator[bytes]:
    chat = export.chat
    yield f"# {_inline(chat.title)}\n\n{_about(export)}\n".encode()
    async for step in steps_of(export.messages):
        heading = f"## {_inline(speaker(step.message, chat))} · {moment(step.message.created_at)}"
        yield "\n".join(("", heading, "", *_blocks(step))).encode()


def _about(export: Export) -> str:
    chat = export.chat
    return f"Begun {moment(chat.created_at)}, exported {moment(export.at)}. Chat `{chat.id}`."


def _blocks(step: Step) -> Iterator[str]:
    for part in step.message.parts:
        if not isinstance(part, ToolResultPart):
            yield from _block(part, step)
    for result in step.strays:
        yield _folded(f"Result of {result.tool_name}", _fenced(readable(result.result)))


def _block(part: AnyPart, step: Step) -> Iterator[str]:
    match part:
        case TextPart(text=text):
            yield f"{_closed(valid_text(text).strip())}\n"
        case ReasoningPart(text=text):
            if text.strip():
                yield _folded(thought(part), _fenced(valid_text(text).strip()))
        case ToolCallPart():
            yield _call(part, step.results.get(part.tool_call_id))
        case SourcePart(url=url, title=title):
            yield f"- Source: {_inline(title or url)} ({_code(url)})\n"
        case FilePart(name=name, media_type=media_type):
            yield f"- File: {_inline(name or 'without a name')} ({_code(media_type)})\n"
        case FileReferencePart(content=content):
            yield f"From {_inline(reference(part))}:\n\n{_fenced(valid_text(content))}"
        case ContextFilePart(context_file_path=path):
            yield f"- Context: {_code(path)}\n"
        case SkillPart(skill_name=name):
            yield f"- Skill: {_code(name)}\n"
        case _:
            return


def _call(call: ToolCallPart, result: ToolResultPart | None) -> str:
    body = _fenced(readable(call.args)) if call.args else ""
    name = SUMMARISED if is_summary(call) else f"{call.tool_name} {hint(call)}"
    if result is None:
        return _folded(f"{name} (no result)", body)
    said = "Failed" if result.is_error else "Result"
    return _folded(name, f"{body}\n{said}:\n\n{_fenced(readable(result.result))}")


def _folded(summary: str, body: str) -> str:
    """As HTML, which Markdown has no words of its own for: the summary is text of HTML."""
    return f"<details>\n<summary>{safe(one_line(summary, _LONGEST_NAME))}</summary>\n\n{body}\n</details>\n"


def _fenced(text: str) -> str:
    """In a block that the text can't end: its fence is longer than any in it."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}\n"


def _closed(text: str) -> str:
    """As it was written. Code that it leaves open, as an answer that was interrupted may, ends with it."""
    fence = ""
    for line in text.splitlines():
        if (found := _FENCE.fullmatch(line)) is None:
            continue
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text


def _inline(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", one_line(text, _LONGEST_NAME))


def _code(text: str) -> str:
    line = one_line(text, _LONGEST_NAME)
    ticks = "`" * (max((len(found) for found in _TICKS.findall(line)), default=0) + 1)
    return f"{ticks} {line} {ticks}" if len(ticks) > 1 else f"`{line}`"
