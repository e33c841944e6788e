"""What a turn needs to know before it begins: the chat, its model, tools and sections. Looked up once per turn."""

from collections.abc import Mapping
from typing import Final, Protocol
from uuid import UUID

import msgspec

from chatd.core.compaction import Window
from chatd.core.errors import ChatdError, NotFound
from chatd.core.failure import Failure, FailureKind
from chatd.core.model import PromptMessage, ToolSpec
from chatd.core.parts import TextPart
from chatd.core.system_prompt import Circumstances, Work, Workspace, deployment_prompt, system_messages
from chatd.core.turn_settings import ModelContext, TurnSettings
from chatd.engine.deployment_settings import DeploymentSettings
from chatd.engine.facts import ChatFacts
from chatd.engine.models import Models, ResolvedModel
from chatd.engine.prepared import Basis, Prepared
from chatd.engine.tools.registry import Need, Registry, seat_of
from chatd.engine.turn_workspace import TurnWorkspace
from chatd.engine.ways_out import TurnFailed
from chatd.observe.logs import get_logger
from chatd.store.queries import ChatMode, GetTurnContextRow
from chatd.store.store import Store
from chatd.wire.agent.context import ContextResource
from chatd.workspaces.agents.client import AgentClient
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable
from chatd.workspaces.contexts.contexts import Contexts
from chatd.workspaces.contexts.pinned import PinnedContext, told_skills
from chatd.workspaces.resolving import WorkspaceUnavailable

_log = get_logger("chatd.preparing")
_INFORM_SECONDS: Final = 30.0  # a sandbox is back within seconds; who waits for an answer shall not wait for more
_MOST_SECTIONS: Final = 100  # one for each person with a prompt of their own
_MOST_SECTIONS_CHARACTERS: Final = 16 * 1024 * 1024  # of all of them: the rules of workspaces may be long


class ToolSource(Protocol):
    """Which tools there are for a chat."""

    async def registry_for(self, chat: GetTurnContextRow) -> Registry: ...


class _ClientTool(msgspec.Struct):
    name: str
    description: str = ""
    input_schema: msgspec.Raw = msgspec.Raw(b'{"type":"object"}')


_CLIENT_TOOLS: Final = msgspec.json.Decoder(list[_ClientTool])


class _Sections(msgspec.Struct, frozen=True):
    """Without and with the deployment's prompt."""

    later: tuple[PromptMessage, ...]
    opening: tuple[PromptMessage, ...]


class Preparing:
    def __init__(
        self,
        store: Store,
        models: Models,
        settings: DeploymentSettings,
        tools: ToolSource,
        contexts: Contexts | None = None,
    ) -> None:
        """Without `contexts` no workspace is asked what it tells models."""
        self._store = store
        self._models = models
        self._settings = settings
        self._tools = tools
        self._contexts = contexts
        self._sections: dict[tuple[Circumstances, str, bool], _Sections] = {}
        self._sections_characters = 0

    async def prepare(self, facts: ChatFacts) -> Prepared:
        """With the default in place of a model that can't be used any more. Raises TurnFailed when there is neither,
        and for an owner who may not use chatd any more."""
        generation = self._models.generation
        model = await self._model(facts.last_model_config_id)
        chat = await self._store.get_turn_context(chat_id=facts.chat_id, model_config_id=model.config_id)
        if chat is None:
            raise NotFound("Chat")
        if not chat.is_owner_active:
            raise TurnFailed(_owner_gone())
        settings = await self._settings.load()
        registry = await self._tools.registry_for(chat)
        seat = seat_of(is_child=facts.is_child, is_planning=chat.plan_mode, mode=chat.mode)
        summarizer = await self._summarizer(settings, model)
        threshold = model.compression_threshold if chat.compaction_threshold is None else chat.compaction_threshold
        given = _circumstances(chat, facts, settings)
        sections = self._said(given, settings)
        return Prepared(
            title=chat.title,
            model=model,
            summarizer=summarizer,
            effort=model.effort(facts.last_reasoning_effort),
            organization_id=chat.organization_id,
            ancestors=tuple(dict.fromkeys(id for id in (chat.parent_chat_id, chat.root_chat_id) if id is not None)),
            tools=registry.toolset(seat, client=_client_tools(chat)),
            window=Window(min(model.context_limit, summarizer.context_limit), threshold),
            origins=await self._models.origins(),
            generation=generation,
            sections=sections.later,
            opening=sections.opening,
            basis=Basis(chat, seat, given, settings),
        )

    async def informed(self, prepared: Prepared, workspace: TurnWorkspace) -> Prepared:
        """With what the chat's workspace tells models: instruction files and skills. What the chat was given once is
        given again; in another workspace, or in its first, it is given what is there now.

        An agent that has left is brought back for this, if it comes soon: agents leave when nobody uses them, and a
        chat that begins in such a workspace must know its rules. One that does not answer tells nothing, and is asked
        again in the next turn.
        """
        generation, basis = workspace.generation, prepared.basis
        never_had_one = generation == 0 and basis.chat.workspace_id is None
        if self._contexts is None or never_had_one or prepared.informed_at == generation:
            return prepared
        if prepared.told_at == workspace.bindings:  # stopped or started since, and still the same
            return msgspec.structs.replace(prepared, informed_at=generation)
        pinned = await self._context(self._contexts, basis.chat, workspace)
        skills: Mapping[str, ContextResource] = {} if pinned is None else pinned.skills()
        told = Workspace() if pinned is None else pinned.workspace()
        given = msgspec.structs.replace(basis.given, workspace=told, skills=told_skills(skills))
        sections = self._said(given, basis.settings)
        registry = await self._tools.registry_for(basis.chat)
        has = (Need.SKILLS, Need.WORKSPACE_SKILLS) if skills else ()
        return msgspec.structs.replace(
            prepared,
            tools=registry.toolset(basis.seat, has=has, client=_client_tools(basis.chat)),
            sections=sections.later,
            opening=sections.opening,
            skills=skills,
            informed_at=generation,
            told_at=None if pinned is None else workspace.bindings,
        )

    async def _context(
        self, contexts: Contexts, chat: GetTurnContextRow, workspace: TurnWorkspace
    ) -> PinnedContext | None:
        if workspace.bindings == 0 and chat.workspace_id is not None and chat.context_hash is not None:
            pinned = await contexts.pinned(chat.id, chat.workspace_id, chat.context_hash)
            if pinned is not None:
                contexts.look_later(chat.id, chat.workspace_id)
                return pinned

        async def pin(client: AgentClient) -> PinnedContext:
            return await contexts.pin(chat.id, (await workspace.resolved()).workspace_id, client)

        try:
            return await workspace.ask_soon(pin, seconds=_INFORM_SECONDS)
        except (WorkspaceUnavailable, AgentRefused, AgentUnreachable, TimeoutError) as error:
            _log.info("a workspace tells models nothing", chat_id=str(chat.id), error=str(error))
            return None

    async def refreshed(self, prepared: Prepared, facts: ChatFacts) -> Prepared:
        """The same, for the next step of the turn; made anew if its model was deleted or switched off meanwhile. What
        else has changed is for the next turn."""
        generation = self._models.generation
        if prepared.generation == generation:
            return prepared
        if (await self._model(prepared.model.config_id)).config_id != prepared.model.config_id:
            return await self.prepare(facts)
        return msgspec.structs.replace(prepared, generation=generation)

    def _said(self, given: Circumstances, settings: TurnSettings) -> _Sections:
        """Made once for all turns in the same circumstances."""
        key = (given, settings.system_prompt, settings.includes_default)
        made = self._sections.get(key)
        if made is None:
            deployment = deployment_prompt(settings.system_prompt, with_default=settings.includes_default)
            opening = system_messages(msgspec.structs.replace(given, deployment=deployment, begins=True))
            made = _Sections(system_messages(given), opening)
            self._keep(key, made)
        return made

    def _keep(self, key: tuple[Circumstances, str, bool], made: _Sections) -> None:
        size = sum(
            len(part.text) for said in (*made.later, *made.opening) for part in said.parts if isinstance(part, TextPart)
        )
        self._sections_characters += size
        if len(self._sections) >= _MOST_SECTIONS or self._sections_characters > _MOST_SECTIONS_CHARACTERS:
            self._sections.clear()
            self._sections_characters = size
        self._sections[key] = made

    async def _model(self, config_id: UUID) -> ResolvedModel:
        """This one, or the default."""
        try:
            model = await self._models.model_for(config_id)
            if model.is_enabled:
                return model
            problem = _no_model(f"The model {model.model} is switched off. Choose another one.")
        except NotFound:
            problem = _no_model("No model is configured. Ask an administrator to add one.")
        except ChatdError as error:
            problem = _no_model(error.message, error.detail or "")
        try:
            default = await self._models.default_model()
        except ChatdError:
            default = None
        if default is None or not default.is_enabled:
            raise TurnFailed(problem)
        _log.info("the default takes the place of a chat's model", model_id=str(config_id), default=default.model)
        return default

    async def _summarizer(self, settings: TurnSettings, model: ResolvedModel) -> ResolvedModel:
        """The one that the deployment has set for compactions, if it can be used."""
        override = settings.overrides.get(ModelContext.COMPACTION)
        if override is None:
            return model
        try:
            other = await self._models.model_for(override.model_config_id)
        except ChatdError as error:
            _log.warning("the model for compactions can't be used", error=error.message)
            return model
        return other if other.is_enabled else model


def _circumstances(chat: GetTurnContextRow, facts: ChatFacts, settings: TurnSettings) -> Circumstances:
    """Of a turn. The deployment's prompt is not in it: chats begin with it, as it was then."""
    work = Work.PLAN if chat.plan_mode else Work.EXPLORE if chat.mode is ChatMode.EXPLORE else Work.DO
    return Circumstances(
        deployment="",
        user=chat.custom_prompt,
        work=work,
        is_child=facts.is_child,
        plan_instructions=settings.plan_mode_instructions,
        can_have_workspace=settings.offers_workspaces,
    )


def _client_tools(chat: GetTurnContextRow) -> tuple[ToolSpec, ...]:
    specs: list[ToolSpec] = []
    for tool in _CLIENT_TOOLS.decode(chat.dynamic_tools):
        try:
            specs.append(ToolSpec(tool.name, tool.description, bytes(tool.input_schema).decode()))
        except ValueError as error:
            _log.warning("a client's tool can't be offered", chat_id=str(chat.id), error=str(error))
    return tuple(specs)


def _owner_gone() -> Failure:
    return Failure(
        kind=FailureKind.CONFIG,
        provider="",
        status_code=None,
        retryable=False,
        message="The owner of this chat may not use chatd at the moment, so it does not go on.",
        detail="Once the account is active again, send a message to go on.",
    )


def _no_model(message: str, detail: str = "") -> Failure:
    return Failure(
        kind=FailureKind.CONFIG, provider="", status_code=None, retryable=False, message=message, detail=detail
    )
