"""/api/experimental/chats/config: what admins set for all chats, and users for their own. Valid on the next turn."""

from uuid import UUID

import msgspec
from litestar import Router, delete, get, put
from litestar.params import FromPath, JSONBody

from chatd.core.chat_settings import Advisor
from chatd.core.turn_settings import ModelContext
from chatd.observe.logs import get_logger
from chatd.server.routes.asking import Ask, TheAsk, problems
from chatd.wire import chat_config as wire

_TAG = ["settings"]
_log = get_logger("chatd.server.settings")


@get("/system-prompt", tags=_TAG, responses=problems(401, 404))
async def get_system_prompt(ask: TheAsk) -> wire.SystemPrompt:
    """The prompt that every chat begins with. For owners."""
    return await ask.chat_config.system_prompt(ask.person)


@put("/system-prompt", tags=_TAG, status_code=204, responses=problems(400, 401, 404))
async def put_system_prompt(data: JSONBody[wire.SaveSystemPrompt], ask: TheAsk) -> None:
    """Set the prompt that every chat begins with. Characters that nobody sees are taken out. For owners."""
    await ask.chat_config.save_system_prompt(data)
    _changed(ask, "system-prompt", data)


@get("/plan-mode-instructions", tags=_TAG, responses=problems(401, 404))
async def get_plan_mode_instructions(ask: TheAsk) -> wire.PlanModeInstructions:
    """What chats that plan are told besides. For owners."""
    return await ask.chat_config.plan_mode_instructions(ask.person)


@put("/plan-mode-instructions", tags=_TAG, status_code=204, responses=problems(400, 401, 404))
async def put_plan_mode_instructions(data: JSONBody[wire.PlanModeInstructions], ask: TheAsk) -> None:
    """Set what chats that plan are told besides. For owners."""
    await ask.chat_config.save_plan_mode_instructions(data)
    _changed(ask, "plan-mode-instructions", data)


@get("/model-override/{context:str}", tags=_TAG, responses=problems(400, 401, 404))
async def get_model_override(context: FromPath[ModelContext], ask: TheAsk) -> wire.ModelOverride:
    """Which model does this side of the work. For owners."""
    return await ask.chat_config.model_override(ask.person, context)


@put("/model-override/{context:str}", tags=_TAG, status_code=204, responses=problems(400, 401, 404))
async def put_model_override(
    context: FromPath[ModelContext], data: JSONBody[wire.SaveModelOverride], ask: TheAsk
) -> None:
    """Give this side of the work a model of its own, or take it away. For owners."""
    await ask.chat_config.save_model_override(context, data)
    _changed(ask, f"model-override/{context}", data)


@get("/advisor", tags=_TAG, responses=problems(401))
async def get_advisor(ask: TheAsk) -> Advisor:
    """The second model that a chat's model may ask."""
    return await ask.chat_config.advisor()


@put("/advisor", tags=_TAG, status_code=204, responses=problems(400, 401, 404))
async def put_advisor(data: JSONBody[Advisor], ask: TheAsk) -> None:
    """Set the advisor. For owners."""
    await ask.chat_config.save_advisor(data)
    _changed(ask, "advisor", data)


@get("/workspace-ttl", tags=_TAG, responses=problems(401))
async def get_workspace_ttl(ask: TheAsk) -> wire.WorkspaceTtl:
    """How long the workspaces of agents may be idle."""
    return await ask.chat_config.workspace_ttl()


@put("/workspace-ttl", tags=_TAG, status_code=204, responses=problems(400, 401, 404))
async def put_workspace_ttl(data: JSONBody[wire.WorkspaceTtl], ask: TheAsk) -> None:
    """Set how long the workspaces of agents may be idle. For owners."""
    await ask.chat_config.save_workspace_ttl(data)
    _changed(ask, "workspace-ttl", data)


@get("/desktop-enabled", tags=_TAG, responses=problems(401))
async def get_desktop_enabled(ask: TheAsk) -> wire.DesktopEnabled:
    """Whether agents may use a virtual desktop."""
    return await ask.chat_config.desktop_enabled()


@put("/desktop-enabled", tags=_TAG, status_code=204, responses=problems(400, 401, 404))
async def put_desktop_enabled(data: JSONBody[wire.DesktopEnabled], ask: TheAsk) -> None:
    """Let agents use a virtual desktop, or not. For owners."""
    await ask.chat_config.save_desktop_enabled(data)
    _changed(ask, "desktop-enabled", data)


@get("/user-prompt", tags=_TAG, responses=problems(401))
async def get_user_prompt(ask: TheAsk) -> wire.UserPrompt:
    """What one wants every chat of one's own to know."""
    return await ask.chat_config.user_prompt(ask.person.user_id)


@put("/user-prompt", tags=_TAG, responses=problems(400, 401))
async def put_user_prompt(data: JSONBody[wire.UserPrompt], ask: TheAsk) -> wire.UserPrompt:
    """Set it; as it was stored comes back."""
    return await ask.chat_config.save_user_prompt(ask.person.user_id, data)


@get("/user-compaction-thresholds", tags=_TAG, responses=problems(401))
async def get_thresholds(ask: TheAsk) -> wire.CompactionThresholds:
    """From which share of a model's context on one's own chats are summarised."""
    return await ask.chat_config.thresholds(ask.person.user_id)


@put("/user-compaction-thresholds/{model:uuid}", tags=_TAG, responses=problems(400, 401, 404))
async def put_threshold(
    model: FromPath[UUID], data: JSONBody[wire.SaveCompactionThreshold], ask: TheAsk
) -> wire.CompactionThreshold:
    """Set it for one model."""
    return await ask.chat_config.save_threshold(ask.person.user_id, model, data)


@delete("/user-compaction-thresholds/{model:uuid}", tags=_TAG, responses=problems(401))
async def delete_threshold(model: FromPath[UUID], ask: TheAsk) -> None:
    """Go by the model's own again."""
    await ask.chat_config.delete_threshold(ask.person.user_id, model)


def _changed(ask: Ask, setting: str, given: msgspec.Struct) -> None:
    """Every replica notices, and the log says who did it. Not what: a prompt may be private."""
    ask.versions.changed("settings")
    fields = list(given.__struct_fields__)
    _log.info("a setting was changed", setting=setting, by=ask.person.username, fields=fields)


chat_config_router = Router(
    "/api/experimental/chats/config",
    route_handlers=[
        get_system_prompt,
        put_system_prompt,
        get_plan_mode_instructions,
        put_plan_mode_instructions,
        get_model_override,
        put_model_override,
        get_advisor,
        put_advisor,
        get_workspace_ttl,
        put_workspace_ttl,
        get_desktop_enabled,
        put_desktop_enabled,
        get_user_prompt,
        put_user_prompt,
        get_thresholds,
        put_threshold,
        delete_threshold,
    ],
)
