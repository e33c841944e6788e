"""The normal form of a model call: a request that every protocol can write, events that each of them reads into.

Texts that are JSON (arguments, schemas, metadata) stay text: key order and numbers survive, and prompt caches depend on
that. What a vendor wants to see again is *metadata* under the name of its protocol (`ProviderMetadata` of core/parts).
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from chatd.core.parts import Part
from chatd.core.reasoning import ReasoningEffort
from chatd.core.roles import Role
from chatd.core.usage import Usage


class ProtocolName(StrEnum):
    """How a vendor is spoken to; also the key of its metadata in parts."""

    ANTHROPIC_MESSAGES = "anthropic-messages"
    OPENAI_RESPONSES = "openai-responses"
    OPENAI_CHAT = "openai-chat"
    GOOGLE_GEMINI = "google-gemini"


class FinishReason(StrEnum):
    STOP = "stop"
    TOOL_CALLS = "tool-calls"
    LENGTH = "length"  # the output limit or the context window
    CONTENT_FILTER = "content-filter"
    PAUSE = "pause"  # the vendor wants to be called again with what it has said so far
    OTHER = "other"


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a model takes. Where it takes none, a text says what was left out."""

    images: bool = True
    pdfs: bool = False
    text_files: bool = False  # as files; else their text is put into the prompt
    tools: bool = True
    reasoning: bool = False
    temperature: bool = True  # reasoning models of some vendors refuse it
    system_messages: bool = True  # else instructions go to the first user message
    max_image_bytes: int | None = None


TOOL_NAME_LONGEST: Final = 64  # of OpenAI and Google, the smallest
TOOL_NAME_PATTERN: Final = rf"^[a-zA-Z0-9_-]{{1,{TOOL_NAME_LONGEST}}}$"  # what every vendor takes
_TOOL_NAME: Final = re.compile(TOOL_NAME_PATTERN)


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool that we run. `input_schema` is JSON Schema as text. Raises ValueError for a name that a vendor refuses:
    a call of a tool that was renamed on the way would find none."""

    name: str
    description: str
    input_schema: str

    def __post_init__(self) -> None:
        if not _TOOL_NAME.fullmatch(self.name):
            raise ValueError(
                f"The name of the tool {self.name!r} must have 1 to {TOOL_NAME_LONGEST} letters, digits, _ or -."
            )


class ProviderTool(msgspec.Struct, frozen=True):
    """A tool that the vendor runs or knows the shape of: `web_search`, `computer`. `options` is JSON for the vendor."""

    name: str
    options: str = "{}"


class ToolChoice(StrEnum):
    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


class PromptMessage(msgspec.Struct, frozen=True):
    """A message of a prompt. Files have their data. `origin` is the provider that wrote it, if one did.

    Between providers only what every vendor understands is carried over (core/repair).
    """

    role: Role
    parts: tuple[Part, ...]
    origin: str = ""


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One call. `provider` says to whom, as `PromptMessage.origin` does; `options` is JSON of the model's config."""

    model: str
    messages: tuple[PromptMessage, ...]
    provider: str = ""
    tools: tuple[ToolSpec, ...] = ()
    provider_tools: tuple[ProviderTool, ...] = ()
    tool_choice: ToolChoice = ToolChoice.AUTO
    parallel_tool_calls: bool | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    reasoning_effort: ReasoningEffort | None = None
    cache_prompt: bool = True  # mark what stays the same, where a vendor wants that said
    capabilities: Capabilities = Capabilities()
    options: str = "{}"


# What a stream is read into. `block` numbers the blocks of one answer; each begins once, gets deltas, and ends at most
# once: a stream that was cut short leaves blocks open.


class _Event(msgspec.Struct, frozen=True, gc=False, tag=True):
    pass


class TextStarted(_Event, frozen=True):
    block: int


class TextDelta(_Event, frozen=True):
    block: int
    text: str


class ReasoningStarted(_Event, frozen=True):
    block: int


class ReasoningDelta(_Event, frozen=True):
    block: int
    text: str


class ToolCallStarted(_Event, frozen=True):
    """`provider_executed`: the vendor answers the call itself, later in the stream."""

    block: int
    tool_call_id: str
    tool_name: str
    provider_executed: bool = False


class ToolCallDelta(_Event, frozen=True):
    """A piece of the arguments, which are JSON once the block has ended."""

    block: int
    text: str


class BlockEnded(_Event, frozen=True):
    """`metadata` is JSON that the same vendor gets back with this block (a signature, an item's id); empty for none."""

    block: int
    metadata: str = ""


class SourceFound(_Event, frozen=True):
    url: str
    title: str = ""
    source_id: str = ""


class ProviderResult(_Event, frozen=True):
    """The vendor's own answer to a call of its own. `result` is JSON for people, `metadata` JSON for the vendor."""

    tool_call_id: str
    tool_name: str
    result: str
    is_error: bool = False
    metadata: str = ""


class UsageReported(_Event, frozen=True):
    """All tokens so far; the last report is the one that counts."""

    usage: Usage


class Finished(_Event, frozen=True):
    """The terminal event. Without it no answer is whole, however the stream ended."""

    reason: FinishReason
    detail: str = ""  # why a vendor refused, in its words


class Ping(_Event, frozen=True):
    """The vendor is alive and has nothing to say."""


class VendorError(_Event, frozen=True):
    """The vendor reports a failure inside of a stream that began well."""

    text: str
    error_type: str = ""
    error_code: str = ""
    status_code: int | None = None
    retry_after_seconds: float | None = None


ModelEvent = (
    TextStarted
    | TextDelta
    | ReasoningStarted
    | ReasoningDelta
    | ToolCallStarted
    | ToolCallDelta
    | BlockEnded
    | SourceFound
    | ProviderResult
    | UsageReported
    | Finished
    | Ping
    | VendorError
)

NO_METADATA: Final[Mapping[str, str]] = {}
