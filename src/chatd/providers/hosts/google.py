"""Google's Gemini API."""

from typing import Final
from urllib.parse import quote

from chatd.core.model import ModelRequest
from chatd.providers.framing.sse import SseFraming
from chatd.providers.hosts.access import ProviderAccess, json_headers, required_key, with_path
from chatd.providers.protocols.google.gemini import GoogleGemini
from chatd.providers.transport import OutboundRequest

_URL: Final = "https://generativelanguage.googleapis.com"


class GoogleHost:
    framing = SseFraming

    def __init__(self, access: ProviderAccess) -> None:
        self._url = with_path(access.base_url or _URL, "/v1beta")
        # In a header, not in the address: addresses end up in logs.
        self._headers = json_headers(**{"x-goog-api-key": required_key(access)})
        self._protocol = GoogleGemini()

    def protocol(self, model: str) -> GoogleGemini:
        return self._protocol

    async def prepare(self, request: ModelRequest) -> OutboundRequest:
        model = quote(request.model.removeprefix("models/"), safe="")
        url = f"{self._url}/models/{model}:streamGenerateContent?alt=sse"
        return OutboundRequest(url, self._protocol.body(request), self._headers)
