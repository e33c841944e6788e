"""Anthropic's own API, or a gateway that speaks it."""

from typing import Final

from chatd.core.model import ModelRequest
from chatd.providers.framing.sse import SseFraming
from chatd.providers.hosts.access import ProviderAccess, json_headers, required_key
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from chatd.providers.protocols.anthropic.options import betas
from chatd.providers.transport import OutboundRequest

_URL: Final = "https://api.anthropic.com"
_VERSION: Final = "2023-06-01"  # what the readers of this protocol were written for


class AnthropicHost:
    framing = SseFraming

    def __init__(self, access: ProviderAccess) -> None:
        self._url = (access.base_url or _URL).rstrip("/").removesuffix("/v1")
        self._key = required_key(access)
        self._protocol = AnthropicMessages()

    def protocol(self, model: str) -> AnthropicMessages:
        return self._protocol

    async def prepare(self, request: ModelRequest) -> OutboundRequest:
        headers = json_headers(**{"x-api-key": self._key, "anthropic-version": _VERSION})
        if asked := betas(request):
            headers["anthropic-beta"] = ",".join(asked)
        return OutboundRequest(f"{self._url}/v1/messages", self._protocol.body(request), headers)
