"""What a workspace tells models about itself: instruction files, skills, and which MCP servers it names."""

from enum import StrEnum

import msgspec


class ContextKind(StrEnum):
    INSTRUCTION_FILE = "instruction_file"
    SKILL = "skill"
    MCP_CONFIG = "mcp_config"


class ContextStatus(StrEnum):
    OK = "ok"
    OVERSIZE = "oversize"
    UNREADABLE = "unreadable"
    INVALID = "invalid"


class McpTransport(StrEnum):
    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


class McpServer(msgspec.Struct, frozen=True):
    """All that is told of a server: the rest of its configuration may hold secrets."""

    name: str
    transport: McpTransport


class ContextResource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`id` is made of kind and source, `source` an absolute path. `hash` is of the whole file (of its beginning, when
    it is oversize) and empty where it could not be read.

    `content` is there when the status is ok: the text of an instruction file, the text below the head of a skill, never
    that of an MCP configuration. `name` and `description` are a skill's; `directory` is where its files are.
    """

    id: str
    kind: ContextKind
    source: str
    status: ContextStatus
    size: int = 0
    hash: str = ""
    content: str = ""
    error: str | None = None
    name: str = ""
    description: str = ""
    directory: str = ""
    servers: tuple[McpServer, ...] = ()


class WorkspaceContext(msgspec.Struct, frozen=True, kw_only=True):
    """`hash` is over all but MCP configurations; `version` over everything, to wait for another. `os` and `directory`
    are for the prompt. `left_out` counts what was found beyond the most that is told.

    Not `is_watched`: the system could not watch all of it, and changes are found some seconds later.
    """

    version: str
    hash: str
    os: str
    directory: str
    resources: tuple[ContextResource, ...]
    left_out: int = 0
    is_watched: bool = False


class WatchContextQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Answered once the version is another than `since`, and after `wait_seconds` at the latest."""

    since: str | None = None
    wait_seconds: float | None = None


class SkillQuery(msgspec.Struct, frozen=True, kw_only=True):
    skill: str


class SkillFileQuery(msgspec.Struct, frozen=True, kw_only=True):
    """`path` is relative to the skill's directory."""

    skill: str
    path: str


class SkillFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Relative paths without SKILL.md; directories end with a slash. Not `is_complete`: there are more."""

    skill: str
    directory: str
    files: tuple[str, ...]
    is_complete: bool = True


class SkillFile(msgspec.Struct, frozen=True, kw_only=True):
    """Not `is_complete`: the file is longer than what is told. `lossy`: U+FFFD stands for bytes that are no text."""

    skill: str
    path: str
    content: str
    size: int
    is_complete: bool = True
    lossy: bool = False
