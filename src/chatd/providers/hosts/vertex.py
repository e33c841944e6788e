"""Google's Vertex AI: Gemini and Anthropic's models, with tokens of a service account or of the machine."""

import asyncio
from typing import Any, Final, cast
from urllib.parse import quote

import msgspec

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.model import ModelRequest
from chatd.providers.framing.sse import SseFraming
from chatd.providers.hosts.access import ProviderAccess, json_headers, not_installed, read_options, unreachable
from chatd.providers.hosts.outbound import Outbound
from chatd.providers.hosts.rehost import rehosted
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from chatd.providers.protocols.anthropic.options import betas
from chatd.providers.protocols.google.gemini import GoogleGemini
from chatd.providers.transport import OutboundRequest

_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_VERSION: Final = "vertex-2023-10-16"
_HOSTS: Final = {
    "global": "aiplatform.googleapis.com",
    "us": "aiplatform.us.rep.googleapis.com",
    "eu": "aiplatform.eu.rep.googleapis.com",
}


class VertexOptions(msgspec.Struct, frozen=True):
    """The project is that of the credentials unless it is named."""

    project: str = ""
    location: str = "global"


class VertexHost:
    """api_key is the JSON of a service account; without it the machine's own credentials are used."""

    framing = SseFraming

    def __init__(self, access: ProviderAccess, outbound: Outbound) -> None:
        self._access = access
        self._outbound = outbound
        self._options = read_options(access, VertexOptions)
        self._gemini = GoogleGemini(on_vertex=True)
        self._anthropic = AnthropicMessages()
        self._credentials: Any = None
        self._project = self._options.project
        self._lock = asyncio.Lock()

    def protocol(self, model: str) -> GoogleGemini | AnthropicMessages:
        return self._anthropic if _is_anthropic(model) else self._gemini

    async def prepare(self, request: ModelRequest) -> OutboundRequest:
        token = await self._token()
        headers = json_headers(Authorization=f"Bearer {token}")
        if _is_anthropic(request.model):
            body = rehosted(self._anthropic.body(request), version=_VERSION, without=frozenset({"model"}))
            if asked := betas(request):
                headers["anthropic-beta"] = ",".join(asked)  # in the body, as Bedrock has it, they are not seen
            return OutboundRequest(self._address("anthropic", request.model, "streamRawPredict"), body, headers)
        url = self._address("google", request.model, "streamGenerateContent?alt=sse")
        return OutboundRequest(url, self._gemini.body(request), headers)

    def _address(self, publisher: str, model: str, what: str) -> str:
        location = self._options.location
        host = _HOSTS.get(location) or f"{location}-aiplatform.googleapis.com"
        base = self._access.base_url.rstrip("/") or f"https://{host}/v1"
        place = f"projects/{self._project}/locations/{location}/publishers/{publisher}"
        return f"{base}/{place}/models/{quote(model, safe='@')}:{what}"

    async def _token(self) -> str:
        async with self._lock:  # one refresh for all that wait
            if self._credentials is None or not self._credentials.valid:
                await asyncio.to_thread(self._refresh)
            return cast("Any", self._credentials).token

    def _refresh(self) -> None:
        try:
            # Imported only for who uses it.
            import google.auth
            from google.auth import compute_engine
            from google.auth.exceptions import GoogleAuthError, TransportError
            from google.auth.transport.urllib3 import Request
            from google.oauth2 import service_account
        except ImportError as error:
            raise not_installed(self._access, "google-auth") from error

        try:
            if self._credentials is None:
                key = self._access.api_key.reveal() if self._access.api_key else ""
                if key:
                    self._credentials = cast("Any", service_account.Credentials).from_service_account_info(
                        msgspec.json.decode(key), scopes=[_SCOPE]
                    )
                    found: str | None = self._credentials.project_id
                else:
                    self._credentials, found = cast("Any", google.auth).default(scopes=[_SCOPE])
                self._project = self._project or found or ""
            # A machine's own come from the machine's own network, where no proxy leads.
            is_machine = isinstance(self._credentials, compute_engine.Credentials)
            self._credentials.refresh(cast("Any", Request)(self._outbound.pool(direct=is_machine)))
        except GoogleAuthError as error:
            passes = bool(cast("Any", error).retryable) or isinstance(error.__cause__, TransportError)
            if passes or isinstance(error, TransportError):
                raise unreachable(self._access, error) from error
            raise self._no_credentials(error) from error
        except (ValueError, TypeError, AttributeError) as error:  # a key that is no service account's JSON
            raise self._no_credentials(error) from error
        if not self._project:
            raise InvalidRequest(
                f"{self._access.subject} needs a project.", validations=[Validation("options", "project")]
            )

    def _no_credentials(self, error: Exception) -> InvalidRequest:
        self._credentials = None  # to look for them anew: a file may have been put right
        return InvalidRequest(
            f"There are no usable Google credentials for {self._access.called}.",
            detail="Set the JSON of a service account as its API key, or run chatd with default credentials.",
            validations=[Validation("api_key", type(error).__name__)],
        )


def _is_anthropic(model: str) -> bool:
    return model.startswith("claude")
