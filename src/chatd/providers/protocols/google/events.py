"""What Gemini streams, as types: only the fields that we read, decoded once per chunk.

Numbers of tokens and what grounds an answer stay raw here: if they can't be read, the answer is still whole.
"""

from typing import Final

import msgspec

READ_ERRORS: Final = (msgspec.DecodeError, ValueError, RecursionError)
ABSENT: Final = msgspec.Raw()


def is_given(raw: msgspec.Raw) -> bool:
    return bytes(raw) not in (b"", b"null")


class _Camel(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    pass


class FunctionCall(_Camel, frozen=True):
    name: str = ""
    id: str | None = None
    args: msgspec.Raw = ABSENT


class InlineData(_Camel, frozen=True):
    mime_type: str = ""
    data: str = ""


class WirePart(_Camel, frozen=True):
    """One of these, most often, and whether it was a thought. What the vendor runs itself goes back as it came."""

    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: FunctionCall | None = None
    inline_data: InlineData | None = None
    executable_code: msgspec.Raw = ABSENT
    code_execution_result: msgspec.Raw = ABSENT
    tool_call: msgspec.Raw = ABSENT
    tool_response: msgspec.Raw = ABSENT


class _Content(_Camel, frozen=True):
    parts: tuple[WirePart, ...] | None = None


class Candidate(_Camel, frozen=True):
    index: int | None = None
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None
    grounding_metadata: msgspec.Raw = ABSENT
    citation_metadata: msgspec.Raw = ABSENT
    url_context_metadata: msgspec.Raw = ABSENT


class PromptFeedback(_Camel, frozen=True):
    block_reason: str | None = None
    block_reason_message: str | None = None


class ErrorBody(_Camel, frozen=True):
    code: int | None = None
    message: str | None = None
    status: str | None = None
    details: msgspec.Raw = ABSENT


class Chunk(_Camel, frozen=True):
    candidates: tuple[Candidate, ...] | None = None
    prompt_feedback: PromptFeedback | None = None
    usage_metadata: msgspec.Raw = ABSENT
    response_id: str | None = None
    error: ErrorBody | None = None


CHUNK: Final = msgspec.json.Decoder(Chunk)


class ExecutableCode(_Camel, frozen=True):
    language: str | None = None
    code: str | None = None
    id: str | None = None


class CodeExecutionResult(_Camel, frozen=True):
    outcome: str | None = None
    output: str | None = None
    id: str | None = None


class ToolCall(_Camel, frozen=True):
    """A call of a tool of the vendor's own, such as the search."""

    tool_type: str | None = None
    id: str | None = None
    args: msgspec.Raw = ABSENT


class ToolResponse(_Camel, frozen=True):
    tool_type: str | None = None
    id: str | None = None
    response: msgspec.Raw = ABSENT


EXECUTABLE_CODE: Final = msgspec.json.Decoder(ExecutableCode)
CODE_EXECUTION_RESULT: Final = msgspec.json.Decoder(CodeExecutionResult)
TOOL_CALL: Final = msgspec.json.Decoder(ToolCall)
TOOL_RESPONSE: Final = msgspec.json.Decoder(ToolResponse)
