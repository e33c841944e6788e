"""Amazon Bedrock: Anthropic's models, requests signed with AWS keys, answers in Amazon's event stream."""

import asyncio
import os
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote

import msgspec

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.model import ModelRequest
from chatd.providers.framing.event_stream import EventStreamFraming
from chatd.providers.hosts.access import ProviderAccess, json_headers, not_installed, read_options, unreachable
from chatd.providers.hosts.rehost import rehosted
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from chatd.providers.protocols.anthropic.options import betas
from chatd.providers.transport import OutboundRequest

if TYPE_CHECKING:
    from botocore.credentials import Credentials

_VERSION: Final = "bedrock-2023-05-31"
_NOT_IN_BODY: Final = frozenset({"model", "stream"})
_BEARER_VARIABLE: Final = "AWS_BEARER_TOKEN_BEDROCK"  # where Amazon's tools look for a Bedrock API key


class BedrockOptions(msgspec.Struct, frozen=True):
    """`access_key_id` belongs to the secret key in api_key. Without it, api_key is a Bedrock API key; without that too,
    the machine's own credentials are used (environment, profile, instance role). `profile` names one of several."""

    region: str = "us-east-1"
    access_key_id: str = ""
    session_token: str = ""
    profile: str = ""


class BedrockHost:
    framing = EventStreamFraming

    def __init__(self, access: ProviderAccess) -> None:
        self._access = access
        self._options = read_options(access, BedrockOptions)
        self._url = access.base_url.rstrip("/") or f"https://bedrock-runtime.{self._options.region}.amazonaws.com"
        self._protocol = AnthropicMessages()
        self._found: Credentials | None = None
        self._lock = asyncio.Lock()

    def protocol(self, model: str) -> AnthropicMessages:
        return self._protocol

    async def prepare(self, request: ModelRequest) -> OutboundRequest:
        body = rehosted(self._protocol.body(request), version=_VERSION, without=_NOT_IN_BODY, betas=betas(request))
        url = f"{self._url}/model/{quote(request.model, safe='')}/invoke-with-response-stream"
        headers = json_headers(Accept="application/vnd.amazon.eventstream")
        key = self._access.api_key.reveal() if self._access.api_key else ""
        bearer = key or ("" if self._options.profile else os.environ.get(_BEARER_VARIABLE, ""))
        if bearer and not self._options.access_key_id:
            return OutboundRequest(url, body, {**headers, "Authorization": f"Bearer {bearer}"})
        # One at a time: files, and for roles the network, are read for the machine's own credentials, and threads are
        # few.
        async with self._lock:
            credentials = await asyncio.to_thread(self._credentials, key)
        return await asyncio.to_thread(self._signed, url, body, headers, credentials)

    def _signed(self, url: str, body: bytes, headers: dict[str, str], credentials: Any) -> OutboundRequest:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        signed = AWSRequest(method="POST", url=url, data=body, headers=headers)
        cast("Any", SigV4Auth)(credentials, "bedrock", self._options.region).add_auth(signed)
        return OutboundRequest(url, body, dict(cast("dict[str, str]", signed.headers)))

    def _credentials(self, key: str) -> Any:
        """Key, secret and token of one moment: those of a role are renewed, and must not be mixed."""
        try:
            # Half a second and some memory to import: only for who uses it.
            from botocore.credentials import Credentials
            from botocore.exceptions import BotoCoreError, CredentialRetrievalError, HTTPClientError
            from botocore.session import Session
        except ImportError as error:
            raise not_installed(self._access, "botocore") from error

        options = self._options
        if options.access_key_id:
            return Credentials(options.access_key_id, key, options.session_token or None)
        try:
            if self._found is None:  # kept, for they renew themselves
                self._found = cast("Any", Session)(profile=options.profile or None).get_credentials()
            if self._found is None:
                raise self._no_credentials("missing")
            return cast("Any", self._found).get_frozen_credentials()
        except (HTTPClientError, CredentialRetrievalError) as error:
            raise unreachable(self._access, error) from error
        except BotoCoreError as error:
            raise self._no_credentials(type(error).__name__) from error

    def _no_credentials(self, why: str) -> InvalidRequest:
        return InvalidRequest(
            f"There are no usable AWS credentials for {self._access.called}.",
            detail="Set an API key, an access key, or run chatd with a profile or role.",
            validations=[Validation("api_key", why)],
        )
