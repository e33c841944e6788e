"""What people do with a chat as it runs: stop it, have it summarised, answer its tools, repair it."""

from collections.abc import Awaitable, Sequence
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.access import Person
from chatd.core.errors import InvalidRequest, NotAuthorized, Validation
from chatd.core.failure import ErrorPayload
from chatd.core.messages import NewMessage
from chatd.core.parts import ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.server.chats.reading import Reading
from chatd.server.chats.refusals import applied_for_owner, not_yours
from chatd.server.chats.shown_chats import chat_after, shown_chat
from chatd.server.engine_room import Engine
from chatd.store.store import Store
from chatd.store.stored_messages import read_message
from chatd.store.transitions import Applied, Outcome
from chatd.wire import chats as wire
from chatd.wire.chat_requests import SubmitToolResults

_LATEST: Final = 50  # messages in which the calls are that a client answers: they are in the last answer
_REPAIRED: Final = msgspec.json.encode(
    ErrorPayload(
        message="The chat was in a state that it could not go on from, and was repaired. Send a message to go on.",
        kind="repaired",
        provider="",
        retryable=True,
    )
).decode()


class Steering:
    def __init__(self, store: Store, engine: Engine, reading: Reading) -> None:
        self._store = store
        self._engine = engine
        self._reading = reading

    async def interrupt(self, chat_id: UUID) -> wire.Chat:
        row = await self._reading.row(chat_id)
        stopped = await self._applied(self._engine.transitions.interrupt(chat_id), chat_id)
        return shown_chat(chat_after(row, stopped.change))

    async def compact(self, person: Person, chat_id: UUID) -> wire.Chat:
        row = await self._reading.row(chat_id)
        if row.owner_id != person.user_id:
            raise await not_yours(self._store, chat_id)
        await self._engine.spending.check(person.user_id)
        worker = self._engine.worker
        asked = await self._applied(
            self._engine.transitions.request_compaction(chat_id, take=worker.new_take()), chat_id
        )
        worker.adopt(asked)
        return shown_chat(chat_after(row, asked.change))

    async def reconcile(self, chat_id: UUID) -> wire.Chat:
        row = await self._reading.row(chat_id)
        repaired = await self._applied(self._engine.transitions.reconcile_invalid(chat_id, error=_REPAIRED), chat_id)
        return shown_chat(chat_after(row, repaired.change))

    async def submit_results(self, chat_id: UUID, asked: SubmitToolResults, outputs: Sequence[str]) -> None:
        """`outputs` are those of the results, as the client has written them."""
        if not asked.results:
            raise InvalidRequest("Check results.", validations=[Validation("results", "at least one")])
        names = await self._called(chat_id)
        messages = [
            NewMessage(
                role=Role.TOOL,
                parts=(
                    ToolResultPart(
                        tool_call_id=result.tool_call_id,
                        tool_name=names.get(result.tool_call_id, ""),
                        result=output,
                        is_error=result.is_error,
                    ),
                ),
            )
            for result, output in zip(asked.results, outputs, strict=True)
        ]
        done = await self._applied(self._engine.transitions.complete_requires_action(chat_id, messages), chat_id)
        self._engine.worker.adopt(done)

    async def _called(self, chat_id: UUID) -> dict[str, str]:
        """The tools that were called lately, by the ids of the calls."""
        rows = await self._store.list_messages_page(chat_id=chat_id, before_id=None, after_id=None, max_rows=_LATEST)
        parts = [part for row in reversed(rows) if row.role is Role.ASSISTANT for part in read_message(row).parts]
        return {part.tool_call_id: part.tool_name for part in parts if isinstance(part, ToolCallPart)}

    async def _applied(self, work: Awaitable[Outcome], chat_id: UUID) -> Applied:
        try:
            outcome = await work
        except NotAuthorized as error:
            outcome = error
        return await applied_for_owner(outcome, self._store, chat_id)
