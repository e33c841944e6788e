"""Provider envelopes of content version 0: `{"type": ..., "data": {...}}`, one for each part."""

from typing import Final

import msgspec

from chatd.core.content_v0.fields import Fields, is_json
from chatd.core.parts import FilePart, Part, ReasoningPart, SourcePart, TextPart, ToolCallPart, ToolResultPart

_TEXT: Final = msgspec.json.Decoder(str)


def is_envelope(fields: Fields) -> bool:
    """Whether an object has the envelope's structure, which no part can take."""
    return fields.names() == {"type", "data"} and fields.holds_text("type") and fields.holds_object("data")


def read_envelope(envelope: Fields) -> Part:
    """The part in an envelope. Raises msgspec.ValidationError when it fits none."""
    kind = envelope.take_text("type")
    data = Fields(envelope.take("data") or b"{}")
    match kind:
        case "text":
            return TextPart(text=data.take_text("text"), provider_metadata=_metadata(data))
        case "reasoning":
            return ReasoningPart(text=data.take_text("text"), provider_metadata=_metadata(data))
        case "tool-call":
            return ToolCallPart(
                tool_call_id=data.take_text("tool_call_id"),
                tool_name=data.take_text("tool_name"),
                args=_input(data),
                provider_executed=data.take_flag("provider_executed"),
                provider_metadata=_metadata(data),
            )
        case "tool-result":
            return _read_result(data)
        case "source":
            return SourcePart(
                url=data.take_text("url"),
                source_id=data.take_text("id"),
                title=data.take_text("title"),
                provider_metadata=_metadata(data),
            )
        case "file":
            return FilePart(
                media_type=data.take_text("media_type"),
                name=data.take_text("filename"),
                data=data.take_text("data"),
                provider_metadata=_metadata(data),
            )
        case _:
            raise msgspec.ValidationError(f"no part for an envelope of type {kind}")


def _metadata(data: Fields) -> dict[str, str]:
    """Answers carry it under the first name, messages sent back to a provider under the second."""
    return data.take_metadata("provider_metadata", "provider_options")


def _input(data: Fields) -> str:
    """What the model wrote, even when it is not JSON: a string holds the text, anything else is the value itself."""
    raw = data.take("input")
    if raw is None:
        return ""
    return _TEXT.decode(raw) if raw.startswith(b'"') else raw.decode()


def _read_result(data: Fields) -> ToolResultPart:
    # Results that a provider made are under `result`, results sent back to it under `output`.
    raw = data.take("output") or data.take("result")
    result, kind = _read_output(raw) if raw is not None else ("{}", "")
    return ToolResultPart(
        tool_call_id=data.take_text("tool_call_id"),
        tool_name=data.take_text("tool_name"),
        result=result,
        is_error=kind == "error",
        is_media=kind == "media",
        provider_executed=data.take_flag("provider_executed"),
        provider_metadata=_metadata(data),
    )


def _read_output(raw: bytes) -> tuple[str, str]:
    """The result as JSON text and the kind of output; an output with anything unexpected is taken as it is."""
    as_it_is = raw.decode(), ""
    if not raw.startswith(b"{"):
        return as_it_is
    output = Fields(raw)
    if not output.holds_text("type"):
        return as_it_is
    kind = output.take_text("type")
    if output.names() == {"data"} and output.holds_object("data"):
        output = Fields(output.take("data") or b"{}")
    try:
        match kind:
            case "text":
                text = output.take_text("text")
                result = text if is_json(text) else _encode({"output": text})
            case "error":
                result = _encode({"error": output.take_text("error")})
            case "media":
                media = {
                    "data": output.take_text("data"),
                    "mime_type": output.take_text("media_type"),
                    "text": output.take_text("text"),
                }
                result = _encode(media)
            case _:
                return as_it_is
    except msgspec.ValidationError:
        return as_it_is
    return (result, kind) if output.is_empty() else as_it_is


def _encode(value: dict[str, str]) -> str:
    return msgspec.json.encode(value).decode()
