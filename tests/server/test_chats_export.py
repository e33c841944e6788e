"""A chat as a file: all that people see of it, in three formats, and nothing in it that does anything."""

import base64
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote
from uuid import UUID, uuid5

import msgspec
import pytest
from markdown_it import MarkdownIt

from chatd.core.messages import Message
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
    UnknownPart,
)
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.server.chats import exporting
from chatd.server.exports.as_html import html_pieces
from chatd.server.exports.as_markdown import markdown_pieces
from chatd.server.exports.safe_markdown import MOST_CHARACTERS, rendered, safe
from chatd.server.exports.steps import Export
from chatd.testing.vendors.script import Call, Say, Think, Turn
from chatd.wire.chats import Chat
from server.chat_api import CHATS, ChatApi, chat_api, text
from server.configured_models import wrong
from server.running import Answer
from server.test_files_api import PNG, upload

NOW = datetime(2030, 1, 2, 3, 4, tzinfo=UTC)
ID = UUID(int=7)
IMAGE = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'><iframe srcdoc='<script>alert(1)</script>'>",
    "</title></style></pre></details><script>alert(1)</script>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](java\nscript:alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "[a](vbscript:x)",
    "[a](//evil.example/x)",
    "![a](https://evil.example/pixel.png)",
    "![a](data:image/svg+xml;base64,PHN2Zz4=)",
    '![a"onerror="alert(1)](https://evil.example/x "t\\"onload=alert(1)")',
    '[a](https://ok.example/" onclick="alert(1))',
    "[a][r]\n\n[r]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "<https://ok.example/?a=1&b=2>",
    "```<script>\n</code></pre><script>alert(1)</script>\n```",
    "`</code><script>alert(1)</script>`",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "<style>@import url(https://evil.example/x.css)</style>",
    "<base href=https://evil.example/>",
    '<meta http-equiv=refresh content="0;url=https://evil.example/">',
    "<!-- --><script>alert(1)</script><!--",
    "<a href='https://ok.example' style='background:url(https://evil.example)'>x</a>",
    "a\0b\x1b[31m\x7f \ud800 \u202e",
]
TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "main",
        "article",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
    ),
    *("span", "time", "div", "p", "pre", "code", "details", "summary", "figure", "img", "figcaption", "a", "ul", "ol"),
    *("h6", "li", "em", "strong", "s", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "br", "hr"),
}
ATTRIBUTES = {
    *(
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "id",
        "dir",
        "datetime",
        "href",
        "rel",
        "src",
        "alt",
    ),
    *("start", "title"),
}


class Page(HTMLParser):
    """Everything that a browser would find."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def assert_does_nothing(page: Page) -> None:
    assert {tag for tag, _ in page.elements} <= TAGS
    for tag, attributes in page.elements:
        assert set(attributes) <= ATTRIBUTES, (tag, attributes)
        if "style" in attributes or tag == "table":
            assert "style" not in attributes
    for link in page.all("a"):
        assert re.match(r"(https?://|mailto:)", link["href"], re.IGNORECASE), link
        assert "noopener" in link["rel"]
    for image in page.all("img"):
        assert re.fullmatch(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+", image["src"]), image["src"][:80]
    assert [meta.get("http-equiv") for meta in page.all("meta") if "http-equiv" in meta] == ["Content-Security-Policy"]
    assert len(page.all("style")) == 1


def chat(title: str = "A chat", **fields: Any) -> Chat:
    made = Chat(
        id=ID,
        organization_id=ID,
        owner_id=ID,
        root_chat_id=ID,
        last_model_config_id=ID,
        title=title,
        status=Status.WAITING,
        last_turn_summary=None,
        summary=None,
        created_at=NOW,
        updated_at=NOW,
        archived=False,
        shared=False,
        pin_order=0,
        mcp_server_ids=[],
        labels={},
        has_unread=False,
        client_type="api",
        children=[],
        owner_username="mia",
    )
    return msgspec.structs.replace(made, **fields)


def message(role: Role, *parts: AnyPart, id: int = 1) -> Message:
    return Message(id=id, chat_id=ID, created_at=NOW, revision=1, role=role, parts=parts)


async def written(how: Any, of: Chat, *messages: Message, image: str | None = None) -> bytes:
    async def all_of_them() -> AsyncIterator[Message]:
        for one in messages:
            yield one

    async def read(part: FilePart) -> str | None:
        return image

    return b"".join([piece async for piece in how(Export(of, NOW, all_of_them(), read))])


def everywhere(attack: str) -> list[Message]:
    """The same text in every place that someone else can write to."""
    return [
        message(
            Role.USER,
            TextPart(text=attack),
            FilePart(media_type="image/png", name=attack, file_id=ID),
            FilePart(media_type=attack, name=attack),
            FileReferencePart(file_name=attack, start_line=1, end_line=2, content=attack),
            ContextFilePart(context_file_path=attack),
            SkillPart(skill_name=attack),
        ),
        message(
            Role.ASSISTANT,
            ReasoningPart(text=attack, created_at=attack, completed_at=attack),
            TextPart(text=f"before {attack} after\n\n> {attack}\n\n- {attack}"),
            ToolCallPart(tool_call_id="c", tool_name=attack, args=attack),
            SourcePart(url=attack, title=attack),
            SourcePart(url=f"https://ok.example/{attack}", title=attack),
            UnknownPart('{"type": "x"}'),
        ),
        message(
            Role.TOOL,
            ToolResultPart(tool_call_id="c", tool_name=attack, result=json.dumps(attack)),
            ToolResultPart(tool_call_id="d", tool_name=attack, result=attack, is_error=True),
        ),
    ]


@pytest.mark.parametrize("attack", ATTACKS)
async def test_a_page_does_nothing_whatever_was_written(attack: str):
    of = chat(attack.replace("\ud800", ""), owner_username=attack.replace("\ud800", ""))

    page = Page(await written(html_pieces, of, *everywhere(attack), image=IMAGE))

    assert_does_nothing(page)
    assert len(page.all("img")) >= 1


@pytest.mark.parametrize("attack", ATTACKS)
async def test_names_and_results_break_out_of_no_markdown(attack: str):
    """What is not a message's own text: rendered by anyone, it is text or code."""
    parts = [part for one in everywhere(attack) for part in one.parts if not isinstance(part, TextPart)]
    of = chat(attack.replace("\ud800", ""))
    pages = [await written(markdown_pieces, of, message(Role.ASSISTANT, part)) for part in parts]

    for page in pages:
        tokens = MarkdownIt("commonmark").parse(page.decode())
        raw = [token.content for token in tokens if token.type == "html_block"]
        inline = [child for token in tokens for child in token.children or ()]
        assert all(re.fullmatch(r"(<details>\n<summary>.*</summary>|</details>)\n?", html) for html in raw), raw
        assert not [html for html in raw if re.search(r"<(?!/?(details|summary)>)", html)], raw
        assert not [child for child in inline if child.type in ("html_inline", "image", "link_open")], page


async def test_what_was_said_is_shown_as_markdown_and_tools_are_folded_away():
    said = "## Plan\n\n1. **bold**\n2. `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[here](https://ok.example/?a=1&b=2)"
    page = Page(
        await written(
            html_pieces,
            chat("Owls & <foxes>"),
            message(Role.USER, TextPart(text="look"), id=11),
            message(Role.ASSISTANT, TextPart(text=said), ToolCallPart(tool_call_id="c", tool_name="read", args="{}")),
            message(Role.TOOL, ToolResultPart(tool_call_id="c", tool_name="read", result='{"b": 1, "a": "x"}')),
        )
    )

    assert_does_nothing(page)
    assert {"h2", "ol", "strong", "table", "th"} <= {tag for tag, _ in page.elements}
    assert [link["href"] for link in page.all("a")] == ["https://ok.example/?a=1&b=2"]
    assert [found["id"] for found in page.all("article")] == ["message-11", "message-1"]
    assert len(page.all("details")) == 1
    assert '"b": 1' in page.text
    assert "Owls & <foxes>" in page.text


@pytest.mark.parametrize("begin", ["```python\nx = 1", "~~~~\n~~~", "a\n\n```\n`````\n```` b", "```\n```\n```js"])
async def test_code_that_was_cut_off_takes_in_nothing_of_the_next_message(begin: str):
    page = await written(
        markdown_pieces,
        chat("Owls"),
        message(Role.ASSISTANT, TextPart(text=begin)),
        message(Role.USER, TextPart(text="so?")),
    )

    headings = [token for token in MarkdownIt("commonmark").parse(page.decode()) if token.type == "heading_open"]
    assert len(headings) == 3


async def test_code_that_is_whole_is_written_as_it_was():
    said = "```md\n~~~\n```\n\nand ```so on``` and\n\n    ```"
    page = await written(markdown_pieces, chat("Owls"), message(Role.ASSISTANT, TextPart(text=said)))

    assert page.decode().endswith(f"{said}\n")


async def test_a_very_long_text_is_shown_as_it_is():
    html = rendered("**a** <b>" + "x" * MOST_CHARACTERS)

    assert html.startswith('<pre class="plain">**a** &lt;b&gt;xx')


async def test_images_in_messages_are_shown_while_there_is_room_unless_they_could_be_programs(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(exporting, "MOST_IMAGE_BYTES", 9)
    images: Any = exporting._Images(cast("Any", None))

    async def shown(media_type: str, data: str) -> str | None:
        return await images.read(FilePart(media_type=media_type, name="x", data=data))

    assert await shown("image/svg+xml", "AAAA") is None
    assert await shown("text/html", "AAAA") is None
    assert await shown("image/png", "AAAAAAAA") == "data:image/png;base64,AAAAAAAA"
    assert await shown("image/png", "AAAAAAAA") is None, "there is no room for six bytes more"
    assert await shown("image/gif", "AAAA") == "data:image/gif;base64,AAAA"


def test_a_page_has_no_character_that_html_may_not_have():
    assert safe("a\x00b\x1b\x85\uffff<\t") == "a\ufffdb\ufffd\ufffd\ufffd&lt;\t"
    assert "\x1b" not in rendered("a \x1b[2J b")


def test_images_of_others_are_named_and_not_loaded():
    html = rendered("![an owl](https://evil.example/owl.png)")

    assert "<img" not in html
    assert '<a href="https://evil.example/owl.png" rel="noopener noreferrer nofollow">an owl</a>' in html


async def export(chats: ChatApi, of: dict[str, Any], query: str = "") -> Answer:
    return await chats.mia.raw("GET", f"{CHATS}/{of['id']}/export{query}")


async def test_all_that_people_see_is_in_every_format(database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exporting, "PAGE", 2)
    tool = {"name": "look", "description": "", "input_schema": {"type": "object"}}
    turns = [Turn(Think("hm"), Say("Let me look."), Call("look", '{"at": "it"}')), Turn(Say("An **owl**."))]
    async with chat_api(database.dsn, tmp_path, turns) as chats:
        file = (await upload(chats.mia, PNG, "owl.png")).body["id"]
        content = [text("What is this?"), {"type": "file", "file_id": file}]
        made = (await chats.mia.post(CHATS, {"content": content, "unsafe_dynamic_tools": [tool]})).body
        await chats.until(made, "requires_action")
        newest = (await chats.mia.get(f"{CHATS}/{made['id']}/messages")).body["messages"][0]
        call = next(part for part in newest["content"] if part["type"] == "tool-call")
        results = [{"tool_call_id": call["tool_call_id"], "output": {"seen": "feathers"}}]
        await chats.mia.post(f"{CHATS}/{made['id']}/tool-results", {"results": results})
        of = await chats.resting(made)
        await chats.mia.call("PATCH", f"{CHATS}/{made['id']}", {"title": 'Owls: "a/b" \N{OWL}'})
        markdown, as_json, html = [await export(chats, made, query) for query in ("", "?format=json", "?format=html")]
        messages = (await chats.mia.get(f"{CHATS}/{made['id']}/messages?limit=200")).body["messages"]
        of = (await chats.mia.get(f"{CHATS}/{made['id']}")).body
        bad = await chats.mia.get(f"{CHATS}/{made['id']}/export?format=pdf")

    page = Page(html.body)
    assert wrong(bad) == ["format"]
    assert [answer.headers["content-type"] for answer in (markdown, as_json, html)] == [
        "text/markdown; charset=utf-8",
        "application/json",
        "text/html; charset=utf-8",
    ]
    assert as_json.body["messages"] == messages[::-1]
    behind = {"last_turn_summary": None, "summary": None}  # they are made meanwhile
    assert as_json.body["chat"] | behind == of | behind
    assert (as_json.body["format"], as_json.body["version"]) == ("chatd-chat", 1)
    assert_does_nothing(page)
    for words in ("What is this?", "Let me look.", "look", "feathers", "owl.png"):
        assert words in page.text
        assert words in markdown.body.decode()
    assert "An owl." in page.text
    assert "An **owl**." in markdown.body.decode()
    assert [image["src"] for image in page.all("img")] == [IMAGE]
    names = [
        re.search(r"filename\*=UTF-8''(\S+)", answer.headers["content-disposition"]) for answer in (markdown, html)
    ]
    assert [unquote(name[1]) for name in names if name] == ["Owls a b \N{OWL}.md", "Owls a b \N{OWL}.html"]
    assert 'filename="Owls a b _.md"' in markdown.headers["content-disposition"]
    assert html.headers["content-security-policy"].startswith("sandbox")


async def test_images_beyond_what_a_page_can_hold_are_named(chats: ChatApi, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exporting, "MOST_IMAGE_BYTES", len(PNG) + 5)
    files = [(await upload(chats.mia, PNG, f"{name}.png")).body["id"] for name in ("one", "two")]
    made = await chats.create("look", content=[{"type": "file", "file_id": file} for file in files])
    await chats.resting(made)

    page = Page((await export(chats, made, "?format=html")).body)

    assert [image["alt"] for image in page.all("img")] == ["one.png"]
    assert "two.png" in page.text


async def test_a_chat_of_others_and_one_that_is_not_there_are_not_exported(chats: ChatApi):
    made = await chats.create()
    sam = await chats.running.add_user("sam")

    others = await sam.get(f"{CHATS}/{made['id']}/export")
    missing = await chats.mia.get(f"{CHATS}/{uuid5(ID, 'x')}/export")

    assert (others.status, missing.status) == (404, 404)
