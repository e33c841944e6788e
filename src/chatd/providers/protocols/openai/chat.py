"""OpenAI Chat Completions and everything compatible: how a request is written and its stream is read."""

from chatd.core.model import ModelRequest, ProtocolName
from chatd.providers.protocols.openai.chat_reader import ChatReader
from chatd.providers.protocols.openai.chat_request import OpenAIChatOptions, chat_body

__all__ = ["OpenAIChat", "OpenAIChatOptions"]


class OpenAIChat:
    """Options of a model are `OpenAIChatOptions`."""

    @property
    def name(self) -> ProtocolName:
        return ProtocolName.OPENAI_CHAT

    def body(self, request: ModelRequest) -> bytes:
        """Raises InvalidRequest for options that can't be used."""
        return chat_body(request)

    def reader(self) -> ChatReader:
        return ChatReader()
