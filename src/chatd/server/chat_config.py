"""What admins set for all chats and users for their own: read and written with the requester's rights."""

from typing import Any
from uuid import UUID

import asyncpg
import msgspec
from msgspec import UNSET

from chatd.core import chat_settings
from chatd.core.access import Action, Kind, Person, Resource, may
from chatd.core.chat_settings import Advisor, check_workspace_ttl, read_setting
from chatd.core.custom_prompt import checked_prompt
from chatd.core.errors import InvalidRequest, NotFound, Validation
from chatd.core.reasoning import ReasoningEffort
from chatd.core.spend import Period
from chatd.core.system_texts import DEFAULT_PROMPT
from chatd.core.turn_settings import (
    INCLUDE_DEFAULT_PROMPT,
    KEYS,
    PLAN_MODE_INSTRUCTIONS,
    SYSTEM_PROMPT,
    ModelContext,
    ModelOverride,
    TurnSettings,
    read_turn_settings,
)
from chatd.server.model_configs import ModelConfigs
from chatd.store.store import Store
from chatd.wire import chat_config as wire


class ChatConfig:
    def __init__(self, store: Store, models: ModelConfigs) -> None:
        self._store = store
        self._models = models

    # For admins, both ways: prompts say how the deployment works

    async def system_prompt(self, person: Person) -> wire.SystemPrompt:
        settings = await self._for_admin(person)
        return wire.SystemPrompt(settings.system_prompt, settings.includes_default, DEFAULT_PROMPT)

    async def save_system_prompt(self, asked: wire.SaveSystemPrompt) -> None:
        prompt = checked_prompt(asked.system_prompt, field="system_prompt")
        async with self._store.transaction() as tx:
            await tx.upsert_site_setting(key=SYSTEM_PROMPT, value=_json(prompt))
            if asked.include_default_system_prompt is not UNSET:
                await tx.upsert_site_setting(
                    key=INCLUDE_DEFAULT_PROMPT, value=_json(asked.include_default_system_prompt)
                )

    async def plan_mode_instructions(self, person: Person) -> wire.PlanModeInstructions:
        return wire.PlanModeInstructions((await self._for_admin(person)).plan_mode_instructions)

    async def save_plan_mode_instructions(self, asked: wire.PlanModeInstructions) -> None:
        prompt = checked_prompt(asked.plan_mode_instructions, field="plan_mode_instructions")
        await self._store.upsert_site_setting(key=PLAN_MODE_INSTRUCTIONS, value=_json(prompt))

    async def model_override(self, person: Person, context: ModelContext) -> wire.ModelOverride:
        settings = await self._for_admin(person)
        override = settings.overrides.get(context)
        return wire.ModelOverride(
            context=context,
            model_config_id=override and override.model_config_id,
            reasoning_effort=override and override.reasoning_effort,
            is_malformed=context.key in settings.unreadable,
        )

    async def save_model_override(self, context: ModelContext, asked: wire.SaveModelOverride) -> None:
        if asked.model_config_id is None:
            if asked.reasoning_effort is not None:
                raise _wrong("reasoning_effort", "needs a model_config_id")
            await self._store.delete_site_setting(key=context.key)
            return
        await self._check_model(asked.model_config_id, asked.reasoning_effort)
        override = ModelOverride(asked.model_config_id, asked.reasoning_effort)
        await self._store.upsert_site_setting(key=context.key, value=_json(override))

    # For anyone to read, for admins to set

    async def advisor(self) -> Advisor:
        return read_setting(await self._store.get_site_setting(key=chat_settings.ADVISOR), Advisor())

    async def save_advisor(self, asked: Advisor) -> None:
        if asked.model_config_id is not None:
            await self._check_model(asked.model_config_id, asked.reasoning_effort)
        elif asked.reasoning_effort is not None:
            raise _wrong("reasoning_effort", "needs a model_config_id")
        await self._store.upsert_site_setting(key=chat_settings.ADVISOR, value=_json(asked))

    async def workspace_ttl(self) -> wire.WorkspaceTtl:
        return wire.WorkspaceTtl(read_setting(await self._store.get_site_setting(key=chat_settings.WORKSPACE_TTL), 0))

    async def save_workspace_ttl(self, asked: wire.WorkspaceTtl) -> None:
        check_workspace_ttl(asked.workspace_ttl_ms)
        await self._store.upsert_site_setting(key=chat_settings.WORKSPACE_TTL, value=_json(asked.workspace_ttl_ms))

    async def desktop_enabled(self) -> wire.DesktopEnabled:
        stored = await self._store.get_site_setting(key=chat_settings.DESKTOP_ENABLED)
        return wire.DesktopEnabled(read_setting(stored, False))

    async def save_desktop_enabled(self, asked: wire.DesktopEnabled) -> None:
        await self._store.upsert_site_setting(key=chat_settings.DESKTOP_ENABLED, value=_json(asked.enable_desktop))

    # A user's own

    async def user_prompt(self, user_id: UUID) -> wire.UserPrompt:
        return wire.UserPrompt(await self._store.get_custom_prompt(user_id=user_id) or "")

    async def save_user_prompt(self, user_id: UUID, asked: wire.UserPrompt) -> wire.UserPrompt:
        prompt = checked_prompt(asked.custom_prompt, field="custom_prompt")
        await self._store.upsert_custom_prompt(user_id=user_id, custom_prompt=prompt)
        return wire.UserPrompt(prompt)

    async def thresholds(self, user_id: UUID) -> wire.CompactionThresholds:
        rows = await self._store.list_compaction_thresholds(user_id=user_id)
        return wire.CompactionThresholds(
            [wire.CompactionThreshold(row.model_config_id, row.threshold_percent) for row in rows]
        )

    async def save_threshold(
        self, user_id: UUID, model_config_id: UUID, asked: wire.SaveCompactionThreshold
    ) -> wire.CompactionThreshold:
        await self._models.get_offered(model_config_id)
        await self._store.upsert_compaction_threshold(
            user_id=user_id, model_config_id=model_config_id, threshold_percent=asked.threshold_percent
        )
        return wire.CompactionThreshold(model_config_id, asked.threshold_percent)

    async def delete_threshold(self, user_id: UUID, model_config_id: UUID) -> None:
        await self._store.delete_compaction_threshold(user_id=user_id, model_config_id=model_config_id)

    # Limits

    async def usage_limits(self) -> wire.UsageLimits:
        rows = await self._store.list_usage_limits()
        return wire.UsageLimits(
            [wire.UsageLimit(row.user_id, row.group_id, row.period, row.microdollars) for row in rows]
        )

    async def save_usage_limit(self, asked: wire.SaveUsageLimit) -> None:
        if asked.user_id is not None and asked.group_id is not None:
            raise _wrong("group_id", "can't be given with a user_id")
        try:
            await self._store.upsert_usage_limit(
                user_id=asked.user_id, group_id=asked.group_id, period=asked.period, microdollars=asked.limit_micros
            )
        except asyncpg.ForeignKeyViolationError as error:
            raise NotFound("User" if asked.user_id is not None else "Group") from error

    async def delete_usage_limit(self, period: Period, *, user_id: UUID | None, group_id: UUID | None) -> None:
        if not await self._store.delete_usage_limit(user_id=user_id, group_id=group_id, period=period):
            raise NotFound("Limit")

    async def _for_admin(self, person: Person) -> TurnSettings:
        """404 for others: a prompt may tell what is nobody's business, and so may which models do what."""
        if not may(person, Action.UPDATE, Resource(Kind.SETTING)):
            raise NotFound("Setting")
        rows = await self._store.list_site_settings(keys=KEYS)
        return read_turn_settings({row.key: row.value for row in rows})

    async def _check_model(self, id: UUID, effort: ReasoningEffort | None) -> None:
        try:
            model = await self._models.get_offered(id)
        except NotFound:
            raise _wrong("model_config_id", "is not a model that can be used") from None
        if effort is not None and effort not in model.reasoning_efforts:
            allowed = ", ".join(model.reasoning_efforts) or "none at all"
            raise _wrong("reasoning_effort", f"can't be asked of this model; possible are {allowed}")


def _wrong(field: str, detail: str) -> InvalidRequest:
    return InvalidRequest(f"Check {field}.", validations=[Validation(field, detail)])


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
