"""OpenAI Chat Completions and everything compatible: how a request is written and its stream is read."""

from chatd.core.model import ModelRequest, ProtocolName
from chatd.providers.protocols.openai.chat_dialect import MaxTokensField
from chatd.providers.protocols.openai.chat_reader import ChatReader
from chatd.providers.protocols.openai.chat_request import OpenAIChatOptions, chat_body

__all__ = ["OpenAIChat", "OpenAIChatOptions"]


class OpenAIChat:
    """Options of a model are `OpenAIChatOptions`. `max_tokens_field` is for models whose name says nothing."""

    def __init__(self, max_tokens_field: MaxTokensField = "max_tokens") -> None:
        self._max_tokens_field: MaxTokensField = max_tokens_field

    @property
    def name(self) -> ProtocolName:
        return ProtocolName.OPENAI_CHAT

    def body(self, request: ModelRequest) -> bytes:
        """Raises InvalidRequest for options that can't be used."""
        return chat_body(request, self._max_tokens_field)

    def reader(self) -> ChatReader:
        return ChatReader()
