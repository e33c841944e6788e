"""What people may put into a message: text, files that they have uploaded, and pieces of files that they point at."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from chatd.core.errors import InvalidRequest, TooLarge, Validation
from chatd.core.parts import AnyPart, FilePart, FileReferencePart, Part, TextPart

MOST_PARTS: Final = 200  # more than anyone attaches to one message
MOST_CONTENT_BYTES: Final = 256 * 1024  # about 60,000 tokens; what is longer is a file
FILE_NAME_LONGEST: Final = 4096  # characters: a long path
LINES_MOST: Final = 2**31 - 1  # as many as any editor counts

Line = Annotated[int, Meta(ge=0, le=LINES_MOST)]


class GivenPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part as a client gives it. Which fields count depends on `type`."""

    type: Literal["text", "file", "file-reference"]
    text: str = ""
    file_id: UUID | None = None
    file_name: Annotated[str, Meta(max_length=FILE_NAME_LONGEST)] = ""
    start_line: Line = 0
    end_line: Line = 0
    content: str = ""


def input_parts(given: Sequence[GivenPart], *, field: str = "content") -> tuple[Part, ...]:
    """The parts to store. What a file part is called, and its type, is not known here and left empty.

    Raises InvalidRequest that names every wrong part, and TooLarge.
    """
    problems: list[Validation] = []
    if not given:
        problems.append(Validation(field, "at least one part"))
    if len(given) > MOST_PARTS:
        problems.append(Validation(field, f"at most {MOST_PARTS} parts"))
    for place, part in enumerate(given[:MOST_PARTS]):
        problems += _problems(part, f"{field}[{place}]")
    if problems:
        raise InvalidRequest(f"Check {field}.", validations=problems)
    size = sum(_size(part) for part in given)
    if size > MOST_CONTENT_BYTES:
        raise TooLarge("The message is too long. Attach the text as a file.", limit=MOST_CONTENT_BYTES)
    return tuple(_part(part) for part in given)


def file_ids_of(parts: Sequence[AnyPart]) -> list[UUID]:
    """Of the files in a message, each once."""
    return list(dict.fromkeys(part.file_id for part in parts if isinstance(part, FilePart) and part.file_id))


def _problems(part: GivenPart, at: str) -> list[Validation]:
    match part.type:
        case "text":
            return [] if part.text.strip() else [Validation(f"{at}.text", "needed")]
        case "file":
            return [] if part.file_id is not None else [Validation(f"{at}.file_id", "needed")]
        case "file-reference":
            found = [] if part.file_name.strip() else [Validation(f"{at}.file_name", "needed")]
            if part.end_line < part.start_line:
                found.append(Validation(f"{at}.end_line", "not before start_line"))
            return found


def _part(part: GivenPart) -> Part:
    match part.type:
        case "text":
            return TextPart(text=part.text.strip())
        case "file":
            return FilePart(media_type="", file_id=part.file_id)
        case "file-reference":
            return FileReferencePart(
                file_name=part.file_name, start_line=part.start_line, end_line=part.end_line, content=part.content
            )


def _size(part: GivenPart) -> int:
    return sum(len(text.encode(errors="surrogatepass")) for text in (part.text, part.file_name, part.content))
