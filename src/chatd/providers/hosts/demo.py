"""The demo model, which each replica serves itself: its address differs from replica to replica and start to start."""

from collections.abc import Awaitable, Callable
from typing import Final

from chatd.core.errors import InvalidRequest
from chatd.core.model import ModelRequest
from chatd.core.secret import Secret
from chatd.providers.framing.sse import SseFraming
from chatd.providers.hosts.access import ProviderAccess, json_headers
from chatd.providers.protocols.openai.chat import OpenAIChat
from chatd.providers.transport import OutboundRequest

# What is stored as the base URL of its provider. The name can't exist in any DNS, so it never leads elsewhere.
DEMO_URL: Final = "http://demo.invalid/v1"

# Gives the address on this machine and the key that is wanted there; starts the model when it is the first to ask.
FindDemo = Callable[[], Awaitable[tuple[str, Secret]]]


def is_demo(base_url: str) -> bool:
    return base_url.rstrip("/") == DEMO_URL


class DemoHost:
    framing = SseFraming

    def __init__(self, access: ProviderAccess, find: FindDemo | None) -> None:
        self._subject = access.subject
        self._find = find
        self._protocol = OpenAIChat()

    def protocol(self, model: str) -> OpenAIChat:
        return self._protocol

    async def prepare(self, request: ModelRequest) -> OutboundRequest:
        if self._find is None:
            raise InvalidRequest(
                f"{self._subject} is the demo model, which is switched off on this server.",
                detail="Start the server with --demo-model auto, or configure another provider.",
            )
        url, key = await self._find()
        headers = json_headers(Authorization=f"Bearer {key.reveal()}")
        return OutboundRequest(f"{url}/chat/completions", self._protocol.body(request), headers)
