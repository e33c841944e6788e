"""Providers and models as an owner makes them over the API."""

from typing import Any

from server.running import Answer, Api

PROVIDERS = "/api/experimental/chats/providers"
MODELS = "/api/experimental/chats/model-configs"
KEY = "sk-very-secret-0123456789"


async def provider(api: Api, name: str = "main", **fields: Any) -> str:
    body = {"type": "anthropic", "name": name, "api_key": KEY, **fields}
    made = await api.post(PROVIDERS, body)
    assert made.status == 201, made
    return made.body["id"]


async def model(api: Api, provider_id: str, name: str = "claude-opus-5-5", **fields: Any) -> dict[str, Any]:
    made = await api.post(MODELS, {"ai_provider_id": provider_id, "model": name, **fields})
    assert made.status == 201, made
    return made.body


def wrong(answer: Answer) -> list[str]:
    assert answer.status == 400, answer
    return [validation["field"] for validation in answer.body["validations"]]


async def patch(api: Api, path: str, **fields: Any) -> Answer:
    return await api.call("PATCH", path, fields)
