"""New chats: what a request asks for becomes the first messages of a chat that runs at once."""

from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.chat_checks import check_client_tools, check_labels
from chatd.core.chat_input import file_ids_of
from chatd.core.errors import ChatdError, InvalidRequest, Validation
from chatd.core.messages import NewMessage
from chatd.core.outcomes import Refused
from chatd.core.parts import Part, TextPart
from chatd.core.request_keys import chat_id_of, check_key
from chatd.core.roles import Role, Visibility
from chatd.core.system_prompt import Circumstances, Workspace, deployment_prompt, sections
from chatd.core.titles import fallback_title
from chatd.engine.models import Models
from chatd.minting import uuid7
from chatd.server.chats.choosing import chosen_model, given_parts
from chatd.server.chats.refusals import error_of
from chatd.server.chats.shown_chats import chat_just_made, shown_chat
from chatd.server.engine_room import Engine
from chatd.store.queries import ChatClient
from chatd.store.store import Store
from chatd.store.transitions import NewChat
from chatd.wire import chats as wire
from chatd.wire.chat_requests import CreateChat


class Creating:
    def __init__(
        self,
        store: Store,
        engine: Engine,
        models: Models,
        clock: Clock,
        organization_id: UUID,
    ) -> None:
        self._store = store
        self._engine = engine
        self._models = models
        self._clock = clock
        self._organization_id = organization_id

    async def create(self, person: Person, asked: CreateChat, *, key: str | None) -> wire.Chat:
        """With a key that has made a chat already, that chat as it is now; nothing is added, whatever is asked."""
        if key is not None:
            check_key(key)
        id = uuid7(self._clock.now()) if key is None else chat_id_of(person.user_id, key)
        try:
            return await self._create(person, asked, id)
        except ChatdError:
            # Also what would be refused by now, as when the first one has spent what was left.
            made = None if key is None else await self._store.get_chat(id=id)
            if made is None:
                raise
            return shown_chat(made)

    async def _create(self, person: Person, asked: CreateChat, id: UUID) -> wire.Chat:
        self._check(asked)
        parts = await given_parts(self._store, asked.content)
        model = await chosen_model(self._models, asked.model_config_id)
        await self._engine.spending.check(person.user_id)
        chat = NewChat(
            id=id,
            organization_id=self._organization_id,
            owner_id=person.user_id,
            model_config_id=model.config_id,
            title=fallback_title(parts),
            labels=asked.labels,
            plan_mode=asked.plan_mode == "plan",
            client=ChatClient(asked.client_type),
            dynamic_tools=msgspec.json.encode(asked.unsafe_dynamic_tools).decode(),
            reasoning_effort=asked.reasoning_effort,
            workspace_id=asked.workspace_id,
        )
        rows = await self._first_rows(asked, parts, person.user_id, model.config_id)
        worker = self._engine.worker
        made = await self._engine.transitions.create_chat(
            chat, rows, file_ids=file_ids_of(parts), take=worker.new_take()
        )
        if isinstance(made, Refused):
            raise error_of(made)
        worker.adopt(made)
        return shown_chat(chat_just_made(chat, made.change, person.username))

    def _check(self, asked: CreateChat) -> None:
        if asked.organization_id not in (None, self._organization_id):
            raise _wrong("organization_id", "the id of the one organization")
        if asked.mcp_server_ids:
            raise _wrong("mcp_server_ids", "there are no such servers here")
        check_labels(asked.labels)
        check_client_tools([tool.name for tool in asked.unsafe_dynamic_tools], field="unsafe_dynamic_tools")

    async def _first_rows(
        self, asked: CreateChat, parts: tuple[Part, ...], user_id: UUID, model_id: UUID
    ) -> list[NewMessage]:
        """What stands before every prompt of this chat, as it is today, then what the user wrote."""
        settings = await self._engine.deployment.load()
        deployment = deployment_prompt(settings.system_prompt, with_default=settings.includes_default)
        said = sections(
            Circumstances(
                deployment=deployment,
                chat=asked.system_prompt,
                begins=True,
                can_have_workspace=settings.offers_workspaces,
                workspace=None if asked.workspace_id is None else Workspace(),
            )
        )
        rows = [
            NewMessage(role=Role.SYSTEM, parts=(TextPart(text=section.text),), visibility=Visibility.MODEL)
            for section in said
        ]
        user = NewMessage(
            role=Role.USER,
            parts=parts,
            created_by=user_id,
            model_config_id=model_id,
            reasoning_effort=asked.reasoning_effort,
        )
        return [*rows, user]


def _wrong(field: str, rule: str) -> InvalidRequest:
    return InvalidRequest(f"Check {field}.", validations=[Validation(field, rule)])
