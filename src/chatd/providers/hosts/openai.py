"""OpenAI's API, Azure's copy of it, and everything that is compatible with its older half."""

from typing import Final, Literal
from urllib.parse import quote

import msgspec

from chatd.core.model import ModelRequest
from chatd.providers.framing.sse import SseFraming
from chatd.providers.hosts.access import (
    ProviderAccess,
    ProviderKind,
    json_headers,
    read_options,
    required_key,
    required_url,
    with_path,
)
from chatd.providers.protocols.openai.chat import OpenAIChat
from chatd.providers.protocols.openai.chat_dialect import MaxTokensField
from chatd.providers.protocols.openai.responses import OpenAIResponses
from chatd.providers.transport import OutboundRequest

_OPENAI_URL: Final = "https://api.openai.com/v1"
_URLS: Final = {
    ProviderKind.OPENROUTER: "https://openrouter.ai/api/v1",
    ProviderKind.VERCEL: "https://ai-gateway.vercel.sh/v1",
}

_Api = Literal["responses", "chat"]


class OpenAIHostOptions(msgspec.Struct, frozen=True):
    """`api` is which of the two to speak; organization and project are for accounts that have several."""

    api: _Api = "responses"
    organization: str = ""
    project: str = ""


class AzureHostOptions(msgspec.Struct, frozen=True):
    """`api_version` is for resources that do not have the versionless API yet; then the model is a deployment."""

    api: _Api = "responses"
    api_version: str = ""


class CompatibleHostOptions(msgspec.Struct, frozen=True):
    api: _Api = "chat"
    headers: dict[str, str] = {}  # what a gateway wants besides; not for keys, which belong into api_key


class _Speaker:
    framing = SseFraming

    def __init__(self, api: _Api, max_tokens_field: MaxTokensField = "max_tokens") -> None:
        self._protocol = OpenAIResponses() if api == "responses" else OpenAIChat(max_tokens_field)
        self._path = "/responses" if api == "responses" else "/chat/completions"

    def protocol(self, model: str) -> OpenAIResponses | OpenAIChat:
        return self._protocol


class OpenAIHost(_Speaker):
    def __init__(self, access: ProviderAccess) -> None:
        options = read_options(access, OpenAIHostOptions)
        super().__init__(options.api)
        self._url = with_path(access.base_url or _OPENAI_URL, "/v1")
        self._headers = json_headers(Authorization=f"Bearer {required_key(access)}")
        if options.organization:
            self._headers["OpenAI-Organization"] = options.organization
        if options.project:
            self._headers["OpenAI-Project"] = options.project

    async def prepare(self, request: ModelRequest) -> OutboundRequest:
        return OutboundRequest(self._url + self._path, self._protocol.body(request), self._headers)


class AzureHost(_Speaker):
    def __init__(self, access: ProviderAccess) -> None:
        self._options = read_options(access, AzureHostOptions)
        # Deployments have names of their own, and behind most of them are models that refuse the old name.
        super().__init__(self._options.api, "max_completion_tokens")
        self._url = required_url(access)
        self._headers = json_headers(**{"api-key": required_key(access)})

    async def prepare(self, request: ModelRequest) -> OutboundRequest:
        return OutboundRequest(self._address(request.model), self._protocol.body(request), self._headers)

    def _address(self, model: str) -> str:
        base = self._url.removesuffix("/openai/v1").removesuffix("/openai")
        if not self._options.api_version:
            return f"{base}/openai/v1{self._path}"
        place = f"/openai/deployments/{quote(model, safe='')}" if self._options.api == "chat" else "/openai"
        return f"{base}{place}{self._path}?api-version={self._options.api_version}"


class CompatibleHost(_Speaker):
    """vLLM, Ollama, LM Studio, OpenRouter, gateways. Some want no key."""

    def __init__(self, access: ProviderAccess) -> None:
        options = read_options(access, CompatibleHostOptions)
        super().__init__(options.api)
        self._url = access.base_url.rstrip("/") or _URLS.get(access.kind) or required_url(access)
        self._headers = json_headers(**options.headers)
        if access.api_key is not None and access.api_key.reveal():
            self._headers["Authorization"] = f"Bearer {access.api_key.reveal()}"

    async def prepare(self, request: ModelRequest) -> OutboundRequest:
        return OutboundRequest(self._url + self._path, self._protocol.body(request), self._headers)
