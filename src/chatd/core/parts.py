"""What a message is made of: a tagged union of frozen parts, with internal fields that no client may see.

A tool's arguments and results are JSON *text*, never parsed here: key order, repeated keys, huge numbers and white
space survive, and prompt caches depend on that. The text may hold NUL, lone surrogates, and bytes as `surrogateescape`.
Times are ISO 8601 texts in UTC, kept as written because some writers count nanoseconds.
An optional field that is empty is not written; a required one always is.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeGuard, get_args
from uuid import UUID

import msgspec

# By provider name, what that provider wants to see again, as JSON text.
ProviderMetadata = Mapping[str, str]


class _Tagged(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", gc=False):
    """Parts hold texts, never each other, so they can't form a circle and need no garbage collector."""


class TextPart(_Tagged, frozen=True, tag="text"):
    text: str
    provider_metadata: ProviderMetadata = {}


class ReasoningPart(_Tagged, frozen=True, tag="reasoning"):
    text: str
    created_at: str = ""  # when it began
    completed_at: str = ""
    provider_metadata: ProviderMetadata = {}


class ToolCallPart(_Tagged, frozen=True, tag="tool-call"):
    """`parsed_commands` has [program] or [program, first argument] for each command of a shell text."""

    tool_call_id: str
    tool_name: str = ""
    mcp_server_config_id: UUID | None = None
    args: str = ""
    parsed_commands: tuple[tuple[str, ...], ...] = ()
    provider_executed: bool = False
    hook_rewritten: bool = False
    created_at: str = ""
    provider_metadata: ProviderMetadata = {}


class ToolResultPart(_Tagged, frozen=True, tag="tool-result"):
    tool_call_id: str
    tool_name: str = ""
    mcp_server_config_id: UUID | None = None
    result: str = ""
    is_error: bool = False
    is_media: bool = False
    provider_executed: bool = False
    created_at: str = ""
    provider_metadata: ProviderMetadata = {}


class SourcePart(_Tagged, frozen=True, tag="source"):
    url: str
    source_id: str = ""
    title: str = ""
    provider_metadata: ProviderMetadata = {}


class FilePart(_Tagged, frozen=True, tag="file"):
    """`data` is base64. With a `file_id` it is a copy that only the server uses."""

    media_type: str
    name: str = ""
    data: str = ""
    file_id: UUID | None = None
    provider_metadata: ProviderMetadata = {}


class FileReferencePart(_Tagged, frozen=True, tag="file-reference"):
    file_name: str
    start_line: int
    end_line: int
    content: str


class ContextFilePart(_Tagged, frozen=True, tag="context-file"):
    context_file_path: str
    context_file_truncated: bool = False
    context_file_agent_id: UUID | None = None
    context_file_content: str = ""
    context_file_os: str = ""
    context_file_directory: str = ""


class SkillPart(_Tagged, frozen=True, tag="skill"):
    skill_name: str
    skill_description: str = ""
    skill_dir: str = ""
    context_file_skill_meta_file: str = ""


Part = (
    TextPart
    | ReasoningPart
    | ToolCallPart
    | ToolResultPart
    | SourcePart
    | FilePart
    | FileReferencePart
    | ContextFilePart
    | SkillPart
)
PART_TYPES: Final[tuple[type[Part], ...]] = get_args(Part)


class UnknownPart(msgspec.Struct, frozen=True, gc=False):
    """A stored value that is no known part: `raw` is its JSON text as stored, and is written back unchanged.

    Made by `stored_parts.unknown`, which sees to it that `raw` is JSON that the database can hold.
    """

    raw: str


AnyPart = Part | UnknownPart


def is_known(part: AnyPart) -> TypeGuard[Part]:
    """Whether a prompt may use it. Unknown parts are left out, with a warning."""
    return not isinstance(part, UnknownPart)


# Fields that never leave the server.
INTERNAL_FIELDS: Final = frozenset(
    {
        "provider_metadata",
        "context_file_content",
        "context_file_os",
        "context_file_directory",
        "skill_dir",
        "context_file_skill_meta_file",
    }
)
_EMPTIED: Final[Mapping[type[Part], Mapping[str, Any]]] = {
    part_type: {
        field.name: field.default if field.default is not msgspec.NODEFAULT else {}
        for field in msgspec.structs.fields(part_type)
        if field.name in INTERNAL_FIELDS
    }
    for part_type in PART_TYPES
}
_TYPE_NAME_LONGEST: Final = 64  # thrice the longest name of a type; what is longer is content in the wrong place


def strip_internal(part: AnyPart) -> AnyPart:
    """The part as a client may see it, on every path: without internal fields, and without the copy of a stored file.

    Of an unknown part only the name of its type is left, since nobody can tell which of its fields are internal.
    """
    if isinstance(part, UnknownPart):
        name = unknown_type(part)[:_TYPE_NAME_LONGEST]
        return UnknownPart(msgspec.json.encode({"type": name} if name else {}).decode())
    emptied = _EMPTIED[type(part)]
    if isinstance(part, FilePart) and part.file_id is not None:
        emptied = {**emptied, "data": ""}
    return msgspec.structs.replace(part, **emptied) if emptied else part


class _TypeOnly(msgspec.Struct):
    type: str = ""


_TYPE_ONLY: Final = msgspec.json.Decoder(_TypeOnly)


def unknown_type(part: UnknownPart) -> str:
    """What the part calls its type; empty when it has none."""
    try:
        return _TYPE_ONLY.decode(part.raw).type
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ""
