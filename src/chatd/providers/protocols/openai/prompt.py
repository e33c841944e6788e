"""What both OpenAI protocols make of a prompt's parts: plain texts, images, files, and results of tools."""

import base64
import binascii
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from chatd.core.errors import InvalidRequest
from chatd.core.parts import FilePart, Part, TextPart, ToolResultPart

JsonObject = dict[str, object]


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


def contents(parts: Iterable[Part], *, text_files: bool) -> list[Content]:
    """What a person or the system says; repair has left only what the model takes. Blank texts are left out here too.

    Without `text_files` a file of text is told in words.
    """
    found: list[Content] = []
    for part in parts:
        match part:
            case TextPart(text=text) if text.strip():
                found.append(clean(text))
            case FilePart():
                found.append(_attachment(part, text_files=text_files))
            case _:
                pass
    return found


def joined_text(parts: Iterable[Part]) -> str:
    """The texts alone, for roles that take nothing else."""
    return "\n\n".join(clean(part.text) for part in parts if isinstance(part, TextPart) and part.text.strip())


def _attachment(part: FilePart, *, text_files: bool) -> Content:
    media_type = part.media_type.partition(";")[0].strip().lower()
    name = clean(part.name) or "file"
    url = f"data:{media_type};base64,{part.data}"
    if media_type.startswith("image/"):
        return ImageContent(url)
    if media_type == "application/pdf" or text_files:
        return FileContent(name, url)
    return f"File {name}:\n{_decoded(part.data)}"


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


def tool_output(part: ToolResultPart, *, text_files: bool) -> ToolOutput:
    """An error's own words, an image as one, else the JSON as it is. Nothing at all is `{}`."""
    result = clean(part.result)
    if part.is_media:
        return _media_output(result, text_files=text_files)
    if part.is_error:
        try:
            return ToolOutput(msgspec.json.decode(result, type=_Error).error or result)
        except (msgspec.DecodeError, ValueError, RecursionError):
            pass
    return ToolOutput("{}" if result.strip() in ("", "null") else result)


def _media_output(result: str, *, text_files: bool) -> ToolOutput:
    try:
        media = msgspec.json.decode(result, type=_Media)
        base64.b64decode(media.data, validate=True)
    except (binascii.Error, msgspec.DecodeError, ValueError, RecursionError):
        return ToolOutput("[The tool returned media that can't be read.]")
    shown = _attachment(
        FilePart(media_type=media.mime_type, name="tool result", data=media.data), text_files=text_files
    )
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
