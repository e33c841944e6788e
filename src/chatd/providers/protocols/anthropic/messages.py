"""Anthropic's Messages API, as its own host, Bedrock and Vertex speak it."""

from chatd.core.model import ModelRequest, ProtocolName
from chatd.providers.protocols.anthropic.reader import AnthropicReader
from chatd.providers.protocols.anthropic.request import anthropic_body


class AnthropicMessages:
    """A VendorProtocol. What it wants in a header is in `anthropic_options.betas`."""

    @property
    def name(self) -> ProtocolName:
        return ProtocolName.ANTHROPIC_MESSAGES

    def body(self, request: ModelRequest) -> bytes:
        return anthropic_body(request)

    def reader(self) -> AnthropicReader:
        return AnthropicReader()
