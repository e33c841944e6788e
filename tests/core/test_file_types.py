"""What an uploaded file is: by its content, whatever it is called."""

import pytest

from chatd.core.errors import InvalidRequest
from chatd.core.file_types import ALLOWED, file_name, media_type

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20
CONTENTS = [
    ("a.png", PNG, "image/png"),
    ("a.jpg", b"\xff\xd8\xff\xe0" + b"\x00" * 9, "image/jpeg"),
    ("a.gif", b"GIF89a" + b"\x00" * 9, "image/gif"),
    ("a.webp", b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"),
    ("a.pdf", b"%PDF-1.7\n\xff", "application/pdf"),
    ("a.json", b'{"a": [1]}', "application/json"),
    ("a.json", b"{broken", "text/plain"),
    ("a.md", b"# Title", "text/markdown"),
    ("a.MARKDOWN", b"# Title", "text/markdown"),
    ("a.csv", b"a,b", "text/csv"),
    ("a.py", b"print(1)", "text/plain"),
    ("noending", "häuser".encode(), "text/plain"),
    ("bom.txt", b"\xef\xbb\xbfhello", "text/plain"),
    ("a.txt", PNG, "image/png"),
]
REFUSED = [
    ("a.svg", b"<svg onload='x()'/>"),
    ("a.txt", b"<?xml version='1.0'?>\n<!-- hi --><!DOCTYPE svg>\n  <SVG>"),
    ("a.txt", b"<x:svg xmlns:x='y'>"),
    ("a.bin", b"\x00\x01\x02"),
    ("a.zip", b"PK\x03\x04\xff\xfe"),
    ("a.txt", b"a\x00b"),
]


@pytest.mark.parametrize(("name", "data", "kind"), CONTENTS)
def test_the_content_says_what_it_is(name: str, data: bytes, kind: str):
    assert media_type(name, "application/octet-stream", data) == kind
    assert media_type(name, kind, data) == kind
    assert kind in ALLOWED


@pytest.mark.parametrize(("name", "data"), REFUSED)
@pytest.mark.parametrize("declared", ["", "text/plain", "image/svg+xml"])
def test_what_can_not_be_used_or_could_run_is_refused(name: str, data: bytes, declared: str):
    with pytest.raises(InvalidRequest):
        media_type(name, declared, data)


@pytest.mark.parametrize(
    ("declared", "kind"),
    [("text/plain", "text/plain"), ("text/markdown; charset=utf-8", "text/markdown"), ("text/x-python", "text/csv")],
)
def test_a_text_may_be_called_another_text(declared: str, kind: str):
    assert media_type("a.csv", declared, b"a,b") == kind


@pytest.mark.parametrize("declared", ["image/png", "application/pdf", "application/json", "video/mp4"])
def test_a_file_that_is_something_else_than_it_was_said_to_be_is_refused(declared: str):
    with pytest.raises(InvalidRequest, match="not what it was said"):
        media_type("a.txt", declared, b"hello")


def test_a_text_that_looks_like_a_drawing_for_very_long_is_a_text():
    assert media_type("a.txt", "", b" " * 1_000_000 + b"<!---->" * 100_000 + b"<!--") == "text/plain"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("a.txt", "a.txt"),
        ("/etc/passwd", "passwd"),
        ("C:\\Users\\a.txt", "a.txt"),
        (" a\x00b\n.txt ", "ab.txt"),
        ("gpj\u202e.exe", "gpj.exe"),
        ("ä" * 200, "ä" * 127),
        ("half\ud800.txt", "half.txt"),
    ],
)
def test_a_name_is_only_a_name(given: str, name: str):
    assert file_name(given) == name


@pytest.mark.parametrize("given", ["", " ", "/", "..", "\x00"])
def test_a_file_needs_a_name(given: str):
    with pytest.raises(InvalidRequest):
        file_name(given)
