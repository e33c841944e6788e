"""Amazon Bedrock: Anthropic's models, requests signed with AWS keys, answers in Amazon's event stream."""

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote

import msgspec

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.model import ModelRequest
from chatd.providers.framing.event_stream import EventStreamFraming
from chatd.providers.hosts.access import ProviderAccess, json_headers, read_options
from chatd.providers.hosts.rehost import rehosted
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from chatd.providers.protocols.anthropic.options import betas
from chatd.providers.transport import OutboundRequest

if TYPE_CHECKING:
    from botocore.credentials import Credentials

_VERSION: Final = "bedrock-2023-05-31"
_NOT_IN_BODY: Final = frozenset({"model", "stream"})


class BedrockOptions(msgspec.Struct, frozen=True):
    """`access_key_id` belongs to the secret key in api_key. Without it, api_key is a Bedrock API key; without that too,
    the machine's own credentials are used (environment, profile, instance role)."""

    region: str = "us-east-1"
    access_key_id: str = ""
    session_token: str = ""


class BedrockHost:
    framing = EventStreamFraming

    def __init__(self, access: ProviderAccess) -> None:
        self._access = access
        self._options = read_options(access, BedrockOptions)
        self._url = access.base_url.rstrip("/") or f"https://bedrock-runtime.{self._options.region}.amazonaws.com"
        self._protocol = AnthropicMessages()

    def protocol(self, model: str) -> AnthropicMessages:
        return self._protocol

    async def prepare(self, request: ModelRequest) -> OutboundRequest:
        body = rehosted(self._protocol.body(request), version=_VERSION, without=_NOT_IN_BODY, betas=betas(request))
        url = f"{self._url}/model/{quote(request.model, safe='')}/invoke-with-response-stream"
        headers = json_headers(Accept="application/vnd.amazon.eventstream")
        key = self._access.api_key.reveal() if self._access.api_key else ""
        if key and not self._options.access_key_id:
            return OutboundRequest(url, body, {**headers, "Authorization": f"Bearer {key}"})
        # Files, and for roles the network, are read for the machine's own credentials.
        return await asyncio.to_thread(self._signed, url, body, headers, key)

    def _signed(self, url: str, body: bytes, headers: dict[str, str], key: str) -> OutboundRequest:
        # Half a second and some memory to import: only for who uses it.
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        signed = AWSRequest(method="POST", url=url, data=body, headers=headers)
        signer = cast("Any", SigV4Auth)(self._credentials(key), "bedrock", self._options.region)
        signer.add_auth(signed)
        return OutboundRequest(url, body, dict(cast("dict[str, str]", signed.headers)))

    def _credentials(self, key: str) -> "Credentials":
        from botocore.credentials import Credentials
        from botocore.session import Session

        options = self._options
        if options.access_key_id:
            return Credentials(options.access_key_id, key, options.session_token or None)
        found = cast("Credentials | None", cast("Any", Session()).get_credentials())
        if found is None:
            raise InvalidRequest(
                f"There are no AWS credentials for the provider {self._access.name}.",
                detail="Set an API key, an access key, or run chatd with a profile or role.",
                validations=[Validation("api_key", "missing")],
            )
        return found
