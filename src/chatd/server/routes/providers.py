"""/api/experimental/chats/providers: where models come from, for owners (auditors read)."""

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Router, delete, get, patch, post
from litestar.params import FromPath, JSONBody, QueryParameter

from chatd.core.errors import InvalidRequest, NotFound, Validation
from chatd.core.provider_kind import ProviderKind
from chatd.providers.probe import ProbeResult
from chatd.server.routes.asking import TheAsk, problems
from chatd.server.routes.model_changes import note_change
from chatd.store.queries import GetProviderRow, ListProvidersRow
from chatd.wire import models as wire

_TAG = ["models"]
_AS_STORED = wire.TestSavedProvider()  # what a test without a body means
ProviderType = Annotated[ProviderKind | None, QueryParameter(description="The type of a provider.")]


def _shown(row: GetProviderRow | ListProvidersRow) -> wire.Provider:
    return wire.Provider(
        id=row.id,
        type=ProviderKind(row.kind),
        name=row.name,
        display_name=row.display_name,
        base_url=row.base_url,
        options=msgspec.json.decode(row.options),
        enabled=row.enabled,
        has_api_key=row.has_key,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _result(model: str, result: ProbeResult) -> wire.ProviderTest:
    failure = result.failure
    if failure is None:
        message = f"{model} answers; its first event came after {result.first_event_ms} ms."
        return wire.ProviderTest(ok=True, model=model, message=message, first_event_ms=result.first_event_ms)
    return wire.ProviderTest(
        ok=False,
        model=model,
        message=failure.message,
        kind=failure.kind,
        detail=failure.detail or None,
        status_code=failure.status_code,
    )


@get("/", tags=_TAG, responses=problems(401, 404))
async def list_providers(ask: TheAsk) -> list[wire.Provider]:
    """All providers, in the order of their creation. For owners and auditors."""
    return [_shown(row) for row in await ask.store.list_providers()]


@post("/", tags=_TAG, responses=problems(400, 401, 404, 409))
async def create_provider(data: JSONBody[wire.CreateProvider], ask: TheAsk) -> wire.Provider:
    """Add a provider. For owners. Its key is stored encrypted and never shown again."""
    row = await ask.providers.create(data)
    note_change(ask, "a provider was made", row.id, data)
    return _shown(row)


@get("/known-models", tags=_TAG, responses=problems(400, 401, 404))
async def list_known_models(ask: TheAsk, type: ProviderType = None) -> list[wire.KnownModel]:
    """What the catalogue knows of the models that a type of provider has, to choose from. For owners and auditors."""
    person = ask.person  # who has no token is told that first
    if type is None:
        needed = Validation("type", f"needed: one of {', '.join(ProviderKind)}")
        raise InvalidRequest("Name the type of provider.", validations=[needed])
    return ask.providers.known_models(type, person)


@post("/test", tags=_TAG, status_code=200, responses=problems(400, 401, 404))
async def test_new_provider(data: JSONBody[wire.TestNewProvider], ask: TheAsk) -> wire.ProviderTest:
    """Make one small real call with values that are not stored, and say what came of it. For owners."""
    return _result(*await ask.providers.test_unsaved(data, ask.person))


@get("/{provider:uuid}", tags=_TAG, responses=problems(401, 404))
async def get_provider(provider: FromPath[UUID], ask: TheAsk) -> wire.Provider:
    """One provider."""
    row = await ask.store.get_provider(id=provider)
    if row is None:
        raise NotFound("Provider")
    return _shown(row)


@patch("/{provider:uuid}", tags=_TAG, responses=problems(400, 401, 404, 409))
async def update_provider(provider: FromPath[UUID], data: JSONBody[wire.UpdateProvider], ask: TheAsk) -> wire.Provider:
    """Change a provider; what is left out stays, and `api_key: null` takes the key away. For owners."""
    row = await ask.providers.change(provider, data)
    note_change(ask, "a provider was changed", row.id, data)
    return _shown(row)


@delete("/{provider:uuid}", tags=_TAG, responses=problems(401, 404))
async def delete_provider(provider: FromPath[UUID], ask: TheAsk) -> None:
    """Remove a provider with its models; its key is forgotten. What was spent stays counted. For owners."""
    await ask.providers.delete(provider)
    note_change(ask, "a provider was deleted", provider)


@post("/{provider:uuid}/test", tags=_TAG, status_code=200, responses=problems(400, 401, 404))
async def test_provider(
    provider: FromPath[UUID],
    ask: TheAsk,
    data: JSONBody[wire.TestSavedProvider] = _AS_STORED,  # noqa: PT028 - a route, not a test
) -> wire.ProviderTest:
    """Make one small real call, with what is stored or is about to be, and say what came of it. For owners."""
    return _result(*await ask.providers.test(provider, data, ask.person))


providers_router = Router(
    "/api/experimental/chats/providers",
    route_handlers=[
        list_providers,
        create_provider,
        list_known_models,
        test_new_provider,
        get_provider,
        update_provider,
        delete_provider,
        test_provider,
    ],
)
