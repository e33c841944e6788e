"""What clients ask of chats."""

from typing import Annotated, Any, Final, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chatd.core import chat_checks, chat_input
from chatd.core.chat_input import GivenPart
from chatd.core.reasoning import ReasoningEffort
from chatd.wire.chats import ClientType, PlanMode
from chatd.wire.users import RULES

_LONGEST = 1 << 20  # as the largest body, so that core can say what is wrong


def _documented(**schema: object) -> Meta:
    """Rules that the API document states and core checks."""
    return Meta(extra_json_schema={RULES: schema})


class InputPart(GivenPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`text` has a text, `file` the id of an uploaded file, `file-reference` a piece of a file: its name, lines and
    code."""


InputContent = Annotated[list[InputPart], _documented(minItems=1, maxItems=chat_input.MOST_PARTS)]
Labels = Annotated[dict[str, str], _documented(maxProperties=chat_checks.MOST_LABELS)]
Title = Annotated[str, _documented(minLength=1, maxLength=chat_checks.TITLE_LONGEST)]
BusyBehavior = Literal["queue", "interrupt"]


class ClientTool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool that the client runs: when it is called the chat waits for the client to post the result."""

    name: str
    description: str = ""
    input_schema: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "object"})


ClientTools = Annotated[list[ClientTool], _documented(maxItems=chat_checks.MOST_CLIENT_TOOLS)]


class CreateChat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new chat runs at once. What is left out is the default."""

    content: InputContent
    organization_id: UUID | None = None
    system_prompt: Annotated[str, Meta(max_length=_LONGEST)] = ""
    workspace_id: UUID | None = None
    model_config_id: UUID | None = None
    reasoning_effort: ReasoningEffort | None = None
    mcp_server_ids: list[UUID] = []
    labels: Labels = {}
    unsafe_dynamic_tools: ClientTools = []
    plan_mode: PlanMode = ""
    client_type: ClientType = "api"


class SendMessage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """To a chat that is busy: it waits in the queue, or interrupts. `plan_mode` is the chat's from now on."""

    content: InputContent
    model_config_id: UUID | None = None
    reasoning_effort: ReasoningEffort | None = None
    busy_behavior: BusyBehavior = "queue"
    plan_mode: PlanMode | None = None
    mcp_server_ids: list[UUID] | None = None


class EditMessage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is left out is that of the message that is replaced."""

    content: InputContent
    model_config_id: UUID | None = None
    reasoning_effort: ReasoningEffort | None = None


class ForkChat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`message_id` is the last message of the copy, left out for all there is; results of its tools come with it.
    Without a `title` it is that of the source, marked as a fork."""

    message_id: Annotated[int, Meta(ge=1, le=2**63 - 1)] | None = None
    title: Title | None = None


class UpdateChat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays. `labels` replace all there are. `pin_order`: 0 unpins, else the place among the pinned;
    a chat that was not pinned becomes the last. `workspace_id`: null, or only zeros, is none."""

    title: Title | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET
    pin_order: Annotated[int, Meta(ge=0, le=2**31 - 1)] | UnsetType = UNSET
    plan_mode: PlanMode | UnsetType = UNSET
    workspace_id: UUID | UnsetType | None = UNSET


class ToolResult(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`output` is any JSON. It is kept as it was written: `outputs_as_written`."""

    tool_call_id: str
    output: Any
    is_error: bool = False


class SubmitToolResults(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One result for each call that waits for the client."""

    results: Annotated[list[ToolResult], _documented(minItems=1)]


class _Output(msgspec.Struct):
    output: msgspec.Raw


class _Outputs(msgspec.Struct):
    results: list[_Output]


_AS_WRITTEN: Final = msgspec.json.Decoder(_Outputs)


def outputs_as_written(body: bytes) -> list[str]:
    """The outputs in the body of a SubmitToolResults that is known to be one, as JSON: no digit of a long number is
    lost on the way to the model."""
    return [bytes(result.output).decode() for result in _AS_WRITTEN.decode(body).results]


class ReleaseQueued(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the editor made of the message; without `content` it stays as it was."""

    content: InputContent | None = None
    model_config_id: UUID | None = None
    reasoning_effort: ReasoningEffort | None = None


class ReorderQueue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The ids of all messages that wait, first to last."""

    ids: Annotated[list[int], Meta(max_length=1000)]


class MarkRead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything up to this message has been seen; without one, everything there is."""

    message_id: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
