"""The head of a SKILL.md."""

import pytest

from chatd.agent.context.frontmatter import BadHead, head_of


@pytest.mark.parametrize(
    ("written", "description"),
    [
        ("description: plain text", "plain text"),
        ("description: plain # a comment", "plain"),
        ("description: a#b", "a#b"),
        ('description: "quoted: \\"yes\\" # no comment"', 'quoted: "yes" # no comment'),
        ("description: 'it''s'", "it's"),
        ("description: >-\n  over\n  lines", "over lines"),
        ("description: |\n  over\n  lines", "over\nlines"),
        ("description: first\n  and on", "first and on"),
        ("description:\n  below", "below"),
        ("metadata:\n  description: nested\nallowed-tools: [a, b]", ""),
        ("", ""),
    ],
)
def test_descriptions_are_read_as_people_write_them(written: str, description: str):
    head = head_of(f"---\nname: my-skill\n{written}\n---\nThe body.\n", "my-skill")

    assert (head.name, head.description, head.body) == ("my-skill", description, "The body.\n")


def test_a_mark_of_byte_order_and_endings_of_windows_do_not_matter():
    head = head_of("\ufeff---\r\nname: a\r\ndescription: b\r\n---\r\nbody\r\n", "a")

    assert (head.name, head.description, head.body) == ("a", "b", "body\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no head\n",
        "---\nname: a\n",
        "---\nname: b\n---\n",
        "---\nname: A\n---\n",
        "---\nname: a--b\n---\n",
        "---\nname: ../a\n---\n",
        "---\ndescription: a\n---\n",
        "---\nname:\n  - a\n---\n",
    ],
)
def test_a_head_that_is_none_is_refused_with_a_sentence(text: str):
    with pytest.raises(BadHead) as refused:
        head_of(text, "a")
    assert str(refused.value).endswith(".")
