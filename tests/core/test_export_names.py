"""Names of files that chats are written to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.export_names import ascii_name, export_name


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("A plan", "A plan.md"),
        ("../../etc/passwd", "etc passwd.md"),
        ("a/b\\c:d*e?f", "a b c d e f.md"),
        ("...", "chat.md"),
        ("", "chat.md"),
        ("con", "chat con.md"),
        ("Con.txt", "chat Con.txt.md"),
        (".hidden", "hidden.md"),
        ("a\nb\tc\0", "a b c.md"),
        ("gpj.\u202eexe", "gpj.exe.md"),
        ("\N{OWL}", "\N{OWL}.md"),
    ],
)
def test_a_name_is_made_of_the_title(title: str, name: str):
    assert export_name(title, "md") == name


@given(st.text(st.characters(), max_size=300))
def test_any_title_gives_a_harmless_name(title: str):
    name = export_name(title, "html")

    assert name.endswith(".html")
    assert len(name.encode()) <= 160
    assert not set(name) & set('<>:"/\\|?*\0\n\r')
    assert not name.startswith((".", " "))
    assert ascii_name(name).isascii()
    assert not set(ascii_name(name)) & set('"\\\r\n')
