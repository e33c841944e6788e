"""What a turn needs to know before it begins: the chat, its model, tools and sections. Looked up once per turn."""

from typing import Protocol
from uuid import UUID

import msgspec

from chatd.core.compaction import Window
from chatd.core.errors import ChatdError, NotFound
from chatd.core.failure import Failure, FailureKind
from chatd.core.model import ToolSpec
from chatd.core.parts import Part
from chatd.engine.at_work import ChatFacts
from chatd.engine.models import Models, ResolvedModel
from chatd.engine.step import TurnFailed
from chatd.engine.tools.tool import Tool
from chatd.engine.tools.toolset import Toolset
from chatd.engine.turn import Prepared
from chatd.observe.logs import get_logger
from chatd.store.queries import GetChatRow
from chatd.store.store import Store

_log = get_logger("chatd.preparing")


class ToolSource(Protocol):
    """Which tools a chat has, in their order."""

    async def tools_for(self, chat: GetChatRow) -> tuple[Tool, ...]: ...


class NoTools:
    async def tools_for(self, chat: GetChatRow) -> tuple[Tool, ...]:
        return ()


class _ClientTool(msgspec.Struct):
    name: str
    description: str = ""
    input_schema: msgspec.Raw = msgspec.Raw(b'{"type":"object"}')


class Preparing:
    def __init__(self, store: Store, models: Models, tools: ToolSource) -> None:
        self._store = store
        self._models = models
        self._tools = tools

    async def prepare(self, facts: ChatFacts) -> Prepared:
        """Raises TurnFailed when the chat has no model that can be used."""
        chat = await self._store.get_chat(id=facts.chat_id)
        if chat is None:
            raise NotFound("Chat")
        model = await self._model(facts.last_model_config_id)
        tools = await self._tools.tools_for(chat)
        active = [
            tool.spec.name
            for tool in tools
            if (not facts.is_child or not tool.traits.is_root_only) and (not chat.plan_mode or tool.traits.in_plan_mode)
        ]
        return Prepared(
            model=model,
            effort=model.effort(facts.last_reasoning_effort),
            organization_id=chat.organization_id,
            tools=Toolset(tools, active=active, client=() if chat.plan_mode else _client_tools(chat)),
            window=Window(model.context_limit, model.compression_threshold),
            origins=await self._models.origins(),
        )

    async def checkpointed(self, facts: ChatFacts, at: str) -> tuple[Part, ...]:
        return ()

    async def _model(self, config_id: UUID) -> ResolvedModel:
        try:
            model = await self._models.model_for(config_id)
        except NotFound:
            default = await self._models.default_model()
            if default is None:
                raise TurnFailed(_no_model("No model is configured. Ask an administrator to add one.")) from None
            model = default
        except ChatdError as error:
            raise TurnFailed(_no_model(error.message)) from error
        if not model.is_enabled:
            raise TurnFailed(_no_model(f"The model {model.model} is switched off. Choose another one."))
        return model


def _client_tools(chat: GetChatRow) -> tuple[ToolSpec, ...]:
    specs: list[ToolSpec] = []
    for tool in msgspec.json.decode(chat.dynamic_tools, type=list[_ClientTool]):
        try:
            specs.append(ToolSpec(tool.name, tool.description, bytes(tool.input_schema).decode()))
        except ValueError as error:
            _log.warning("a client's tool can't be offered", chat_id=str(chat.id), error=str(error))
    return tuple(specs)


def _no_model(message: str) -> Failure:
    return Failure(kind=FailureKind.CONFIG, provider="", status_code=None, retryable=False, message=message, detail="")
