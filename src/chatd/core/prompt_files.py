"""What a model gets of a file: the file itself, its text, or a text that says what was left out and why."""

import re
from base64 import b64decode
from collections.abc import Mapping
from string import ascii_letters, digits
from typing import Final

import msgspec

from chatd.core.model import Capabilities, ProtocolName
from chatd.core.parts import FilePart

_EVERYWHERE: Final = frozenset(("image/png", "image/jpeg", "image/webp"))
_IMAGES: Final[Mapping[ProtocolName, frozenset[str]]] = {
    ProtocolName.ANTHROPIC_MESSAGES: _EVERYWHERE | {"image/gif"},
    ProtocolName.OPENAI_RESPONSES: _EVERYWHERE | {"image/gif"},
    ProtocolName.OPENAI_CHAT: _EVERYWHERE | {"image/gif"},
    ProtocolName.GOOGLE_GEMINI: _EVERYWHERE | {"image/heic", "image/heif"},
}
_TEXTS: Final = frozenset(
    (
        "application/json",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/javascript",
        "application/typescript",
        "application/sql",
        "application/x-sh",
    )
)
_ALPHABET: Final = (ascii_letters + digits + "+/").encode()
_PASTE: Final = re.compile(r"pasted-text-\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d\.txt")  # what clients call a long pasted text
_MOST_PASTED_BYTES: Final = 131_072  # of a pasted text; as the reference has it


class FileText(msgspec.Struct, frozen=True):
    """What stands for a file, never blank: its own text, or why it was left out."""

    text: str
    is_left_out: bool = False


def is_text_type(media_type: str) -> bool:
    kind = _kind(media_type)
    return kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))


def file_as_text(part: FilePart, protocol: ProtocolName, capabilities: Capabilities) -> FileText | None:
    """None if the model takes the file itself."""
    kind = _kind(part.media_type)
    if not part.data:
        return _left_out(part, "it is empty or no longer stored")
    if not _is_base64(part.data):
        return _left_out(part, "its content can't be read")
    if kind.startswith("image/"):
        return _image(part, protocol, capabilities)
    if kind == "application/pdf":
        return None if capabilities.pdfs else _left_out(part, "this model takes no PDF files")
    if not is_text_type(kind):
        return _left_out(part, f"this model takes no files of type {kind or 'unknown'}")
    if _PASTE.fullmatch(part.name):
        return _pasted(b64decode(part.data))
    if capabilities.text_files:
        return None
    content = b64decode(part.data)
    return FileText(f"[file] {part.name or 'without a name'}\n{content.decode('utf-8', 'replace')}")


def _kind(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _is_base64(data: str) -> bool:
    """Without decoding it, which costs several times as much."""
    stripped = data[:-2] + data[-2:].rstrip("=")
    return len(data) % 4 == 0 and data.isascii() and not stripped.encode().translate(None, _ALPHABET)


def _image(part: FilePart, protocol: ProtocolName, capabilities: Capabilities) -> FileText | None:
    if not capabilities.images:
        return _left_out(part, "this model takes no images")
    if _kind(part.media_type) not in _IMAGES[protocol]:
        return _left_out(part, f"this model takes no images of type {_kind(part.media_type)}")
    limit = capabilities.max_image_bytes
    if limit is not None and len(part.data) // 4 * 3 - part.data[-2:].count("=") > limit:
        return _left_out(part, f"it is larger than the {limit} bytes that this model takes")
    return None


def _pasted(content: bytes) -> FileText:
    text = content[:_MOST_PASTED_BYTES].decode("utf-8", "replace")
    if len(content) > _MOST_PASTED_BYTES:
        text += f"\n[The text was cut here, after {_MOST_PASTED_BYTES} of {len(content)} bytes.]"
    return FileText(text if text.strip() else "[an empty pasted text]")


def _left_out(part: FilePart, why: str) -> FileText:
    return FileText(f"[The file {part.name or 'without a name'} was left out: {why}.]", is_left_out=True)
