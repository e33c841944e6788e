"""Markdown as HTML that does nothing: no raw HTML, links to the web and to mail addresses alone, no remote images."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from chatd.core.valid_text import valid_text

MOST_CHARACTERS: Final = 32_768  # of a text that is rendered: a second for the worst there is; longer ones stay text
_DEEPEST: Final = 60  # lists in lists and the like; what is deeper is left out by the parser
_LINK: Final = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x20]+", re.IGNORECASE)
_UNSEEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")  # what HTML may not hold


def safe(text: str) -> str:
    """Text as HTML shows it, also within an attribute's quotes."""
    return escape(_UNSEEN.sub("\ufffd", valid_text(text)))


def is_safe_link(url: str) -> bool:
    return _LINK.fullmatch(url) is not None


def rendered(markdown: str) -> str:
    if len(markdown) > MOST_CHARACTERS:
        return f'<pre class="plain">{safe(markdown)}</pre>'
    return _RENDERER.render(_UNSEEN.sub("\ufffd", valid_text(markdown)))


def _link_open(renderer: Any, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    href = str(tokens[place].attrGet("href") or "")
    return f'<a href="{safe(href)}" rel="noopener noreferrer nofollow">' if is_safe_link(href) else "<a>"


def _image(renderer: Any, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    """A link in its place: to show it would tell its server who reads this."""
    token = tokens[place]
    source = str(token.attrGet("src") or "")
    name = safe(token.content or source)
    link = f'<a href="{safe(source)}" rel="noopener noreferrer nofollow">{name}</a>' if is_safe_link(source) else name
    return f'<span class="image-link">Image: {link}</span>'


def _made() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    made.validateLink = is_safe_link
    made.add_render_rule("link_open", _link_open)
    made.add_render_rule("image", _image)
    return made


_RENDERER: Final = _made()  # it keeps nothing of what it renders
