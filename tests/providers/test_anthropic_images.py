"""Images for Anthropic: told apart by their bytes, and left out where the vendor would refuse the whole request."""

import json
from base64 import b64encode
from typing import Any

import pytest

from chatd.core.parts import FilePart
from chatd.providers.protocols.anthropic.images import image_type, longest_side, why_refused
from providers.anthropic_images import gif, jpeg, png, webp
from providers.anthropic_prompts import assistant, call, messages_of, result, text, tool, user


def image(content: bytes, media_type: str = "image/png", name: str = "a") -> FilePart:
    return FilePart(media_type=media_type, name=name, data=b64encode(content).decode())


def sent(content: bytes, media_type: str = "image/png") -> Any:
    ((_, (block,)),) = messages_of(user(image(content, media_type)))
    return block


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (png(30, 40), "image/png"),
        (gif(40, 30), "image/gif"),
        (jpeg(30, 40), "image/jpeg"),
        (jpeg(40, 30, 0xC0), "image/jpeg"),
        (webp("VP8 ", 40, 30), "image/webp"),
        (webp("VP8L", 30, 40), "image/webp"),
        (webp("VP8L", 40, 30), "image/webp"),
        (webp("VP8X", 40, 30), "image/webp"),
    ],
)
def test_an_image_is_what_its_bytes_say_whatever_it_is_called(content: bytes, kind: str) -> None:
    assert sent(content, "image/bmp")["source"]["media_type"] == kind
    assert sent(content)["source"] == {
        "type": "base64",
        "media_type": kind,
        "data": b64encode(content).decode(),
    }
    assert longest_side(content) == 40


@pytest.mark.parametrize("content", [b"<html>", b"RIFF\0\0\0\0WAVE", b"\x89PNG", b"\xff\xd8"])
def test_what_is_no_image_is_left_out(content: bytes) -> None:
    assert image_type(content) == ""
    assert sent(content) == text("[file a (image/png) was left out: it is no PNG, JPEG, GIF or WebP image]")


@pytest.mark.parametrize("cut", range(2, 60))
def test_images_that_end_early_say_nothing_of_their_size_and_do_no_harm(cut: int) -> None:
    for whole in (png(9000, 9000), jpeg(9000, 9000), webp("VP8X", 9000, 9000), webp("????", 9000, 9000)):
        assert longest_side(whole[:cut]) in range(2**14 + 1)


def test_an_image_without_a_frame_has_no_size() -> None:
    assert longest_side(b"\xff\xd8\xff\xd9") == 0
    assert longest_side(b"\xff\xd8\xff\xfe\0\x02" + bytes(40)) == 0
    assert longest_side(webp("????", 9000, 9000)) == 0


def test_too_many_pixels_are_left_out() -> None:
    assert sent(png(8000, 8000))["type"] == "image"
    assert "more than 8000 pixels" in sent(png(8001, 1))["text"]
    assert "more than 8000 pixels" in sent(gif(1, 8001), "image/gif")["text"]


def test_an_image_may_have_five_mebibytes_when_encoded() -> None:
    most = 5 * 1024 * 1024 // 4 * 3
    whole = png(1, 1) + bytes(most - len(png(1, 1)))
    assert len(b64encode(whole)) == 5 * 1024 * 1024
    assert why_refused(whole) == ""
    assert why_refused(whole + b"x") == "it is larger than 3932160 bytes"


def test_beside_many_images_large_ones_are_left_out_wherever_they_are() -> None:
    large, small = png(2001, 10), png(2000, 10)
    shown = result(text=json.dumps({"data": b64encode(large).decode(), "mime_type": "image/png"}), is_media=True)
    few = messages_of(user(image(large), *([image(small)] * 18)), assistant(call()), tool(shown))
    assert [block["type"] for block in few[0][1]] == ["image"] * 19
    assert few[2][1][0]["content"][0]["type"] == "image"

    many = messages_of(user(image(large), *([image(small)] * 19)), assistant(call()), tool(shown))
    left_out = text("[an image was left out: beside more than 20 others it may have 2000 pixels in a row or column]")
    assert many[0][1][0] == left_out
    assert [block["type"] for block in many[0][1][1:]] == ["image"] * 19
    assert many[2][1][0]["content"] == [left_out]


def test_a_failed_result_is_told_in_words_only() -> None:
    shot = {"data": b64encode(png(1, 1)).decode(), "mime_type": "image/png", "text": "It crashed."}
    failed = result(text=json.dumps(shot), is_media=True, is_error=True)
    (block,) = messages_of(user("a"), assistant(call()), tool(failed))[2][1]
    left_out = text("[a file was left out: of a failure, the vendor takes only words]")
    assert (block["content"], block["is_error"]) == ([text("It crashed."), left_out], True)
