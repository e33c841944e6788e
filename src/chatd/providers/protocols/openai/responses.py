"""The OpenAI Responses API: how a request is written and its stream is read."""

from chatd.core.model import ModelRequest, ProtocolName
from chatd.providers.protocols.openai.responses_reader import ResponsesReader
from chatd.providers.protocols.openai.responses_request import OpenAIOptions, responses_body

__all__ = ["OpenAIOptions", "OpenAIResponses"]


class OpenAIResponses:
    """Options of a model are `OpenAIOptions`."""

    @property
    def name(self) -> ProtocolName:
        return ProtocolName.OPENAI_RESPONSES

    def body(self, request: ModelRequest) -> bytes:
        """Raises InvalidRequest for options that can't be used."""
        return responses_body(request)

    def reader(self) -> ResponsesReader:
        return ResponsesReader()
