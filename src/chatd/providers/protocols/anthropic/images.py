"""Images as Anthropic takes them: what they are by their own bytes, and how large they may be.

The vendor refuses a request for one image of another type than was said, or with too many bytes or pixels, and the
image would be in every later request too: the chat could never go on. A text stands for such an image instead.
"""

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, cast

Block = dict[str, Any]

_MOST_ENCODED: Final = 5 * 1024 * 1024  # characters of base64, which are what the vendor counts
_MOST_PIXELS: Final = 8000  # of a side
_MANY: Final = 20  # images in a request; with more of them, each may have fewer pixels
_MOST_PIXELS_OF_MANY: Final = 2000
_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # the segments that tell the size


def image_type(content: bytes) -> str:
    """Empty for what is none of the four types that the vendor takes."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else ""


def why_refused(content: bytes) -> str:
    """Empty if the vendor takes the image."""
    if not image_type(content):
        return "it is no PNG, JPEG, GIF or WebP image"
    if -(-len(content) // 3) * 4 > _MOST_ENCODED:
        return f"it is larger than {_MOST_ENCODED // 4 * 3} bytes"
    return f"it has more than {_MOST_PIXELS} pixels in a row or column" if longest_side(content) > _MOST_PIXELS else ""


def longest_side(content: bytes) -> int:
    """In pixels; 0 if the image does not say."""
    kind = image_type(content)
    if kind == "image/png":
        return max(_number(content, 16, 4, "big"), _number(content, 20, 4, "big"))
    if kind == "image/gif":
        return max(_number(content, 6, 2), _number(content, 8, 2))
    return _side_of_jpeg(content) if kind == "image/jpeg" else _side_of_webp(content)


def leave_out_large(messages: Sequence[Mapping[str, Any]], instead: Callable[[str], Block]) -> None:
    """Of many images, those that are too large beside so many others."""
    places = list(_images(messages))
    if len(places) <= _MANY:
        return
    why = f"beside more than {_MANY} others it may have {_MOST_PIXELS_OF_MANY} pixels in a row or column"
    for blocks, place in places:
        if longest_side(b64decode(blocks[place]["source"]["data"])) > _MOST_PIXELS_OF_MANY:
            blocks[place] = instead(why)


def _images(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[list[Block], int]]:
    """Each as the list that it is in, and its place there. Results of tools have lists of their own."""
    for message in messages:
        content = cast("list[Block]", message["content"])
        inner = [block["content"] for block in content if block["type"] == "tool_result"]
        for blocks in (content, *(cast("list[Block]", found) for found in inner if isinstance(found, list))):
            yield from ((blocks, place) for place, block in enumerate(blocks) if block["type"] == "image")


def _side_of_jpeg(content: bytes) -> int:
    at = 2
    while content[at : at + 1] == b"\xff" and at + 9 <= len(content):
        marker = content[at + 1]
        if marker in _JPEG_FRAMES:
            return max(_number(content, at + 5, 2, "big"), _number(content, at + 7, 2, "big"))
        at += 1 if marker == 0xFF else 2 + _number(content, at + 2, 2, "big")  # any number of 0xFF may come before
    return 0


def _side_of_webp(content: bytes) -> int:
    match content[12:16]:
        case b"VP8 ":
            return max(_number(content, 26, 2) & 0x3FFF, _number(content, 28, 2) & 0x3FFF)
        case b"VP8L":
            packed = _number(content, 21, 4)
            return max(packed & 0x3FFF, packed >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return max(_number(content, 24, 3), _number(content, 27, 3)) + 1
        case _:
            return 0


def _number(content: bytes, at: int, size: int, order: Literal["big", "little"] = "little") -> int:
    return int.from_bytes(content[at : at + size], order)
