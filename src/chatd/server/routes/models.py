"""/api/experimental/chats/model-configs: the models that chats can use."""

from uuid import UUID

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath, JSONBody

from chatd.core.access import Action, Kind, Resource, may
from chatd.server.routes.asking import Ask, TheAsk, problems
from chatd.server.routes.model_changes import note_change
from chatd.wire import models as wire

_TAG = ["models"]


def _sees_all(ask: Ask) -> bool:
    """Which of two views to give; the store sees to it that nobody gets the other."""
    return may(ask.person, Action.READ, Resource(Kind.PROVIDER))


@get("/", tags=_TAG, responses=problems(401, 404))
async def list_model_configs(ask: TheAsk) -> list[wire.ModelConfig]:
    """The models one may choose. Owners and auditors see all, also what is switched off, and how they are called."""
    return await (ask.model_configs.list_all() if _sees_all(ask) else ask.model_configs.list_offered())


@post("/", tags=_TAG, responses=problems(400, 401, 404))
async def create_model_config(data: JSONBody[wire.CreateModelConfig], ask: TheAsk) -> wire.ModelConfig:
    """Add a model of a provider. For owners. The first one becomes the default."""
    made = await ask.model_configs.create(data)
    note_change(ask, "a model was added", made.id, data)
    return made


@get("/{model:uuid}", tags=_TAG, responses=problems(401, 404))
async def get_model_config(model: FromPath[UUID], ask: TheAsk) -> wire.ModelConfig:
    """One model that one may choose."""
    return await (ask.model_configs.get(model) if _sees_all(ask) else ask.model_configs.get_offered(model))


@patch("/{model:uuid}", tags=_TAG, responses=problems(400, 401, 404))
async def update_model_config(
    model: FromPath[UUID], data: JSONBody[wire.UpdateModelConfig], ask: TheAsk
) -> wire.ModelConfig:
    """Change a model; what is left out stays. Running chats use the change from their next call on. For owners."""
    changed = await ask.model_configs.change(model, data)
    note_change(ask, "a model was changed", changed.id, data)
    return changed


@delete("/{model:uuid}", tags=_TAG, responses=problems(401, 404))
async def delete_model_config(model: FromPath[UUID], ask: TheAsk) -> None:
    """Remove a model. If it was the default, another one is; what was spent stays counted. For owners."""
    await ask.model_configs.delete(model)
    note_change(ask, "a model was deleted", model)


models_router = Router(
    "/api/experimental/chats/model-configs",
    route_handlers=[
        list_model_configs,
        create_model_config,
        get_model_config,
        update_model_config,
        delete_model_config,
    ],
)
