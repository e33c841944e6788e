"""A chat as one HTML page that needs nothing else: style and images are in it, nothing in it is active."""

import asyncio
from collections.abc import AsyncIterator
from importlib.resources import files
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
from chatd.core.roles import Role
from chatd.server.exports.safe_markdown import is_safe_link, rendered, safe
from chatd.server.exports.steps import Export, Step, steps_of
from chatd.server.exports.words import SUMMARISED, hint, is_summary, moment, readable, reference, speaker, thought

# A reader that knows of it does nothing that is not on the page, whatever is in it.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_NO_RESULT: Final = ' <span class="state">no result</span>'
_FAILED: Final = ' <span class="state error">✕ failed</span>'


async def html_pieces(export: Export) -> AsyncIterator[bytes]:
    chat = export.chat
    style = files("chatd.server.exports").joinpath("export.css").read_text("utf-8")
    title = safe(chat.title)
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{safe(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f'<header>\n<h1 dir="auto">{title}</h1>\n<p>{safe(_about(export))}</p>\n</header>\n<main>\n'
    ).encode()
    async for step in steps_of(export.messages):
        async for piece in _article(export, step):
            yield piece.encode()
    yield b"</main>\n</body>\n</html>\n"


def _about(export: Export) -> str:
    chat = export.chat
    whose = f"{chat.owner_username} · " if chat.owner_username else ""
    return f"{whose}begun {moment(chat.created_at)} · exported {moment(export.at)}"


async def _article(export: Export, step: Step) -> AsyncIterator[str]:
    """Block by block, since an image has megabytes; nothing for a message that has nothing to show."""
    is_begun = False
    async for block in _blocks(export, step):
        if not is_begun:
            is_begun = True
            yield _heading(export, step)
        yield f"{block}\n"
    if is_begun:
        yield "</article>\n"


def _heading(export: Export, step: Step) -> str:
    message = step.message
    role = "user" if message.role is Role.USER else "answer"
    return (
        f'<article class="{role}" id="message-{message.id}">\n'
        f'<h2><span dir="auto">{safe(speaker(message, export.chat))}</span> '
        f'<time datetime="{message.created_at.isoformat()}">{moment(message.created_at)}</time></h2>\n'
    )


async def _blocks(export: Export, step: Step) -> AsyncIterator[str]:
    for part in step.message.parts:
        if block := await _block(part, step, export):
            yield block
    for result in step.strays:
        yield _result(result)


async def _block(part: AnyPart, step: Step, export: Export) -> str:
    match part:
        case TextPart(text=text):
            # In a thread: a long text takes as long as a hundred requests.
            return (
                f'<div class="text" dir="auto">{await asyncio.to_thread(rendered, text)}</div>' if text.strip() else ""
            )
        case ReasoningPart(text=text):
            said = await asyncio.to_thread(rendered, text)
            return _folded("thought", safe(thought(part)), f'<div class="text">{said}</div>') if text.strip() else ""
        case ToolCallPart():
            return _call(part, step.results.get(part.tool_call_id))
        case SourcePart(url=url, title=title):
            return f'<p class="note">Source: {_link(url, title or url)}</p>'
        case FilePart():
            return await _file(part, export)
        case FileReferencePart(content=content):
            return f'<p class="note">From {safe(reference(part))}</p>\n<pre>{safe(content)}</pre>'
        case ContextFilePart(context_file_path=path):
            return f'<p class="note">Context: <code>{safe(path)}</code></p>'
        case SkillPart(skill_name=name):
            return f'<p class="note">Skill: <code>{safe(name)}</code></p>'
        case _:
            return ""


def _call(call: ToolCallPart, result: ToolResultPart | None) -> str:
    state = _NO_RESULT if result is None else _FAILED if result.is_error else ""
    given = f"<pre>{safe(readable(call.args))}</pre>" if call.args else ""
    gave = f"<p>Result</p>\n<pre>{safe(readable(result.result))}</pre>" if result else ""
    about = f" {safe(said)}" if (said := hint(call)) else ""
    name = SUMMARISED if is_summary(call) else f"<code>{safe(call.tool_name)}</code>{about}"
    return _folded("tool", f"{name}{state}", f"{given}\n{gave}")


def _result(result: ToolResultPart) -> str:
    name = f"Result of <code>{safe(result.tool_name)}</code>"
    return _folded("tool", name, f"<pre>{safe(readable(result.result))}</pre>")


async def _file(part: FilePart, export: Export) -> str:
    name = safe(part.name or "a file without a name")
    image = await export.image(part)
    if image is None:
        return f'<p class="note">File: {name} <code>{safe(part.media_type)}</code></p>'
    return f'<figure><img src="{safe(image)}" alt="{name}"><figcaption>{name}</figcaption></figure>'


def _folded(kind: str, summary: str, body: str) -> str:
    return f'<details class="{kind}">\n<summary>{summary}</summary>\n{body}\n</details>'


def _link(url: str, name: str) -> str:
    if not is_safe_link(url):
        return safe(name)
    return f'<a href="{safe(url)}" rel="noopener noreferrer nofollow">{safe(name)}</a>'
