"""What both OpenAI protocols make of a prompt's parts: plain texts, images, files, and results of tools."""

import base64
import binascii
from collections.abc import Iterable
from typing import Final, TypeVar

import msgspec

from chatd.core.errors import InvalidRequest
from chatd.core.model import Capabilities
from chatd.core.parts import ContextFilePart, FilePart, FileReferencePart, Part, TextPart, ToolResultPart

JsonObject = dict[str, object]

_IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_TEXT_TYPES: Final = frozenset(
    {
        "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/javascript",
        "application/typescript", "application/toml", "application/sql", "application/x-sh",
    }
)  # fmt: skip


class ImageContent(msgspec.Struct, frozen=True):
    url: str  # a data URL


class FileContent(msgspec.Struct, frozen=True):
    name: str
    url: str  # a data URL


Content = str | ImageContent | FileContent

_OptionsType = TypeVar("_OptionsType")


def read_options(text: str, kind: type[_OptionsType]) -> _OptionsType:
    """The options of a model or tool. Raises InvalidRequest, which says what is wrong with them."""
    try:
        return msgspec.json.decode(text or "{}", type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InvalidRequest(
            "The options of the model or of one of its tools can't be used.", detail=str(error)
        ) from error


def merge(body: JsonObject, extra: dict[str, msgspec.Raw], *, fixed: frozenset[str]) -> JsonObject:
    """`extra` wins, but for what chatd must decide itself."""
    body.update({name: value for name, value in extra.items() if name not in fixed})
    return body


def clean(text: str) -> str:
    """Vendors take UTF-8: what can't be written in it becomes `?`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def contents(parts: Iterable[Part], capabilities: Capabilities) -> list[Content]:
    """What a person or the system says. Blank texts are left out, and so is what only people see."""
    found: list[Content] = []
    for part in parts:
        match part:
            case TextPart(text=text) if text.strip():
                found.append(clean(text))
            case FileReferencePart():
                found.append(_file_reference(part))
            case ContextFilePart(context_file_content=text) if text.strip():
                found.append(clean(f"Context file {part.context_file_path}:\n{text}"))
            case FilePart():
                found.append(_attachment(part, capabilities))
            case _:
                pass
    return found


def joined_text(parts: Iterable[Part]) -> str:
    """The texts alone, for roles that take nothing else."""
    return "\n\n".join(text for text in contents(parts, Capabilities(images=False)) if isinstance(text, str))


def _file_reference(part: FileReferencePart) -> str:
    fence = "```"
    while fence in part.content:
        fence += "`"
    lines = f"{part.start_line}-{part.end_line}"
    return clean(f"[file-reference] {part.file_name}:{lines}\n{fence}\n{part.content}\n{fence}")


def _attachment(part: FilePart, capabilities: Capabilities) -> Content:
    media_type = part.media_type.partition(";")[0].strip().lower()
    name = clean(part.name) or "file"
    url = f"data:{media_type};base64,{part.data}"
    if not part.data:
        return f"[The file {name} is missing.]"
    if media_type in _IMAGE_TYPES:
        limit = capabilities.max_image_bytes
        if not capabilities.images:
            return f"[The image {name} was left out: this model takes no images.]"
        if limit is not None and len(part.data) * 3 // 4 > limit:
            return f"[The image {name} was left out: it is larger than the {limit} bytes that this model takes.]"
        return ImageContent(url)
    if media_type == "application/pdf":
        if capabilities.pdfs:
            return FileContent(name, url)
        return f"[The file {name} was left out: this model takes no PDF files.]"
    if media_type.startswith("text/") or media_type in _TEXT_TYPES or media_type.endswith(("+json", "+xml")):
        if capabilities.text_files:
            return FileContent(name, url)
        return f"File {name}:\n{_decoded(part.data)}"
    return f"[The file {name} was left out: this model takes no files of type {media_type}.]"


def _decoded(data: str) -> str:
    try:
        return base64.b64decode(data, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return "[its content can't be read]"


class _Error(msgspec.Struct, frozen=True):
    error: str


class _Media(msgspec.Struct, frozen=True):
    data: str
    mime_type: str
    text: str = ""


class ToolOutput(msgspec.Struct, frozen=True):
    """What a tool said; `media` beside the text where it showed something that the model takes."""

    text: str
    media: ImageContent | FileContent | None = None


def tool_output(part: ToolResultPart, capabilities: Capabilities) -> ToolOutput:
    """An error's own words, an image as one, else the JSON as it is. Nothing at all is `{}`."""
    result = clean(part.result)
    if part.is_media:
        return _media_output(result, capabilities)
    if part.is_error:
        try:
            return ToolOutput(msgspec.json.decode(result, type=_Error).error or result)
        except (msgspec.DecodeError, ValueError, RecursionError):
            pass
    return ToolOutput("{}" if result.strip() in ("", "null") else result)


def _media_output(result: str, capabilities: Capabilities) -> ToolOutput:
    try:
        media = msgspec.json.decode(result, type=_Media)
        base64.b64decode(media.data, validate=True)
    except (binascii.Error, msgspec.DecodeError, ValueError, RecursionError):
        return ToolOutput("[The tool returned media that can't be read.]")
    shown = _attachment(FilePart(media_type=media.mime_type, name="tool result", data=media.data), capabilities)
    if isinstance(shown, str):
        return ToolOutput(f"{media.text}\n{shown}" if media.text else shown)
    return ToolOutput(media.text, shown)


def arguments(args: str) -> str:
    """A call's arguments as the text of a JSON object, since servers that are compatible parse it."""
    text = clean(args)
    if not text.strip():
        return "{}"
    try:
        msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, ValueError, RecursionError):
        return msgspec.json.encode({"invalid_arguments": text}).decode()
    return text
