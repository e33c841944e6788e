"""Hosts and the smallest request to them."""

import json
from typing import Any

from chatd.core.model import ModelRequest, PromptMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.providers.hosts import Host, ProviderAccess, ProviderKind, host_of


def request(model: str, options: str = "{}") -> ModelRequest:
    messages = (PromptMessage(Role.USER, (TextPart(text="hello"),)),)
    return ModelRequest(model=model, messages=messages, options=options)


def host(kind: ProviderKind, *, key: str = "", base_url: str = "", **options: Any) -> Host:
    return host_of(ProviderAccess(kind, "mine", base_url, Secret(key) if key else None, json.dumps(options)))
