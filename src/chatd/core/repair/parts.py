"""Each part of a message on its own: what a vendor gets of it, if anything."""

from typing import Final

import msgspec

from chatd.core.model import NO_METADATA, Capabilities, PromptMessage, ProtocolName
from chatd.core.parts import (
    FilePart,
    Part,
    ProviderMetadata,
    ReasoningPart,
    SourcePart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatd.core.prompt_files import file_as_text
from chatd.core.prompt_texts import as_text
from chatd.core.repair.warnings import Loss, RepairWarning
from chatd.core.roles import Role

UNKNOWN_TOOL: Final = "unknown_tool"  # for a call that has no name, which no vendor takes
_PROTOCOLS: Final = tuple(str(protocol) for protocol in ProtocolName)
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class _Media(msgspec.Struct, frozen=True):
    """The result of a tool that showed something."""

    data: str = ""
    mime_type: str = ""
    text: str = ""
    attachment_name: str = ""


_MEDIA: Final = msgspec.json.Decoder(_Media)


def repair_parts(
    place: int,
    message: PromptMessage,
    protocol: ProtocolName,
    provider: str,
    capabilities: Capabilities,
    warnings: list[RepairWarning],
) -> PromptMessage:
    """The message with the parts that are left; there may be none."""
    if all(map(_is_plain, message.parts)):
        return message
    repairs = _Repairs(place, message, protocol, provider, capabilities, warnings)
    parts = tuple(repaired for part in message.parts if (repaired := repairs.of(part)) is not None)
    return message if parts == message.parts else msgspec.structs.replace(message, parts=parts)


def _is_plain(part: Part) -> bool:
    """A text that everybody takes, as most parts are."""
    return isinstance(part, TextPart) and not part.provider_metadata and bool(part.text.strip())


class _Repairs:
    def __init__(
        self,
        place: int,
        message: PromptMessage,
        protocol: ProtocolName,
        provider: str,
        capabilities: Capabilities,
        warnings: list[RepairWarning],
    ) -> None:
        self._place = place
        self._role = message.role
        self._is_own = message.role is Role.ASSISTANT and message.origin == provider
        self._protocol = protocol
        self._capabilities = capabilities
        self._warnings = warnings

    def of(self, part: Part) -> Part | None:
        match part:
            case TextPart():
                return self._text(part)
            case ReasoningPart():
                return self._reasoning(part)
            case ToolCallPart():
                return self._call(part)
            case ToolResultPart():
                return self._result(part)
            case FilePart():
                return self._file(part)
            case SourcePart():
                return None  # for people
            case _:
                text = as_text(part)
                return TextPart(text=text) if text.strip() else None

    def _text(self, part: TextPart) -> TextPart | None:
        if part.text.strip():
            kept = self._kept(part.provider_metadata, "a text")
            return part if kept == part.provider_metadata else TextPart(text=part.text, provider_metadata=kept)
        if part.provider_metadata:
            self._warn(Loss.METADATA, "of an empty text")
        return None

    def _reasoning(self, part: ReasoningPart) -> ReasoningPart | None:
        if not self._is_own:
            self._warn(Loss.REASONING, "of another provider")
            return None
        kept = self._kept(part.provider_metadata, "reasoning")
        if not part.text.strip() and not kept:
            return None
        return part if kept == part.provider_metadata else msgspec.structs.replace(part, provider_metadata=kept)

    def _call(self, part: ToolCallPart) -> ToolCallPart | None:
        if self._role is not Role.ASSISTANT:
            self._warn(Loss.MISPLACED_PART, f"a call of {part.tool_name} in a message of role {self._role}")
            return None
        if part.provider_executed and not self._is_own:
            self._warn(Loss.VENDOR_CALL, f"{part.tool_name}: of another provider")
            return None
        return msgspec.structs.replace(
            part,
            tool_name=part.tool_name if part.tool_name.strip() else UNKNOWN_TOOL,
            args=_arguments(part.args),
            provider_metadata=self._kept(part.provider_metadata, f"a call of {part.tool_name}"),
        )

    def _result(self, part: ToolResultPart) -> ToolResultPart | None:
        if not part.provider_executed:
            # Results of our own tools are the same for every vendor; nothing of them is signed.
            plain = part if not part.provider_metadata else msgspec.structs.replace(part, provider_metadata=NO_METADATA)
            return self._media(plain) if plain.is_media else plain
        if not self._is_own:
            self._warn(Loss.VENDOR_CALL, f"a result of {part.tool_name}: of another provider")
            return None
        kept = self._kept(part.provider_metadata, f"a result of {part.tool_name}")
        return part if kept == part.provider_metadata else msgspec.structs.replace(part, provider_metadata=kept)

    def _media(self, part: ToolResultPart) -> ToolResultPart:
        """As it is, if the model takes what the tool showed; else what there is to say of it."""
        try:
            media = _MEDIA.decode(part.result)
        except (msgspec.DecodeError, ValueError, RecursionError):
            media = _Media()
        name = media.attachment_name or f"that {part.tool_name or 'a tool'} showed"
        file = FilePart(media_type=media.mime_type, name=name, data=media.data)
        instead = file_as_text(file, self._protocol, self._capabilities)
        if instead is None:
            return part
        if instead.is_left_out:
            self._warn(Loss.FILE, instead.text)
        said = "\n".join(text for text in (media.text, instead.text) if text.strip())
        said = said.encode("utf-8", "replace").decode()  # JSON has no lone surrogates
        return msgspec.structs.replace(part, result=msgspec.json.encode({"output": said}).decode(), is_media=False)

    def _file(self, part: FilePart) -> Part | None:
        if self._role is not Role.USER:
            if self._role is not Role.ASSISTANT:  # what an assistant made is for people
                self._warn(Loss.MISPLACED_PART, f"the file {part.name} in a message of role {self._role}")
            return None
        instead = file_as_text(part, self._protocol, self._capabilities)
        if instead is None:
            return part if not part.provider_metadata else msgspec.structs.replace(part, provider_metadata=NO_METADATA)
        if instead.is_left_out:
            self._warn(Loss.FILE, instead.text)
        return TextPart(text=instead.text)

    def _kept(self, metadata: ProviderMetadata, of_what: str) -> ProviderMetadata:
        """What this vendor gets back. Names that are no protocol's say nothing to anyone."""
        own = metadata.get(self._protocol, "") if self._is_own else ""
        lost = [
            name for name in metadata if name in _PROTOCOLS and metadata[name] and not (own and name == self._protocol)
        ]
        if lost:
            self._warn(Loss.METADATA, f"of {of_what}: {', '.join(lost)}")
        return {str(self._protocol): own} if own else NO_METADATA

    def _warn(self, loss: Loss, detail: str) -> None:
        self._warnings.append(RepairWarning(self._place, loss, detail))


def _arguments(args: str) -> str:
    """The text itself if it is a JSON object, else one that holds it."""
    if not args.strip():
        return "{}"
    try:
        _OBJECT.decode(args)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return msgspec.json.encode({"invalid_arguments": args.encode("utf-8", "replace").decode()}).decode()
    return args
