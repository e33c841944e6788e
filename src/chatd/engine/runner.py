"""Runs one owned chat until it rests: turns, interruptions and waits for the client, one after the other."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from chatd.core.failure import Failure, FailureKind
from chatd.core.interrupted import interrupted_messages
from chatd.core.labels import Ending
from chatd.core.messages import Message, NewMessage
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.core.times import iso
from chatd.engine.at_work import ChatAtWork
from chatd.engine.commits import AWAY
from chatd.engine.facts import ChatFacts, facts_of
from chatd.engine.flight import Flight
from chatd.engine.owned import Owned
from chatd.engine.parts import EngineParts
from chatd.engine.prepared import Prepared
from chatd.engine.titles import BegunChat
from chatd.engine.turn import Turn
from chatd.engine.turn_ends import EndedTurn
from chatd.engine.ways_out import Changed, LetGo, NotOurs, TurnFailed
from chatd.observe.logs import get_logger

_log = get_logger("chatd.runner")
_TIMED_OUT: Final = "The client did not answer this call in time."
_NO_DEADLINE: Final = "Nobody knows until when to wait for the answer to this call."
_ENDINGS: Final = {Status.RUNNING: Ending.WENT_ON, Status.REQUIRES_ACTION: Ending.AWAITS_CLIENT}


class ChatRunner:
    """The `Runner` of the worker."""

    def __init__(self, parts: EngineParts) -> None:
        self._parts = parts

    async def __call__(self, owned: Owned) -> None:
        parts = self._parts
        if owned.applied is not None:
            parts.histories.note(owned.applied)
        facts = await facts_of(owned, parts.store)
        if facts is None:
            return
        async with asyncio.TaskGroup() as tasks:
            await _Running(parts, facts, owned, tasks).run()


class _Running:
    def __init__(self, parts: EngineParts, facts: ChatFacts, owned: Owned, tasks: asyncio.TaskGroup) -> None:
        self._parts = parts
        self._chat = ChatAtWork(facts, owned, tasks, parts)
        self._flight: Flight | None = None

    async def run(self) -> None:
        chat = self._chat
        try:
            while chat.is_ours and await self._once():
                pass
        except (NotOurs, LetGo):
            pass
        finally:
            chat.close()
            self._parts.episodes.end(chat.chat_id)

    async def _once(self) -> bool:
        """Do what the status asks for; whether there may be more to do."""
        try:
            match self._chat.facts.status:
                case Status.RUNNING:
                    await self._turn()
                case Status.INTERRUPTING:
                    await self._finish_interruption()
                case Status.REQUIRES_ACTION:
                    await self._await_client()
                case _:
                    return False
        except Changed:
            await self._chat.look()
            if self._flight is not None and self._flight.history_version != self._chat.facts.history_version:
                self._flight = None
        return True

    async def _turn(self) -> None:
        parts, chat = self._parts, self._chat
        self._flight = None
        turn: Turn | None = None
        try:
            prepared = await parts.preparing.prepare(chat.facts)
            turn = Turn(chat, prepared, parts)
            self._begun(prepared, await chat.history())
            await turn.run()
            self._ended(_ENDINGS.get(chat.facts.status, Ending.FINISHED))
        except TurnFailed as failed:
            await self._fail(failed, turn and turn.flight)
        except (Changed, NotOurs, LetGo):
            self._flight = turn and turn.flight
            raise
        except AWAY:
            raise  # the chat goes on when the database is back
        except Exception as error:  # noqa: BLE001 - a chat never stays running without anyone to run it
            _log.error("a turn failed", chat_id=str(chat.chat_id), exc_info=error)
            await self._fail(TurnFailed(_unexpected()), turn and turn.flight)

    async def _fail(self, failed: TurnFailed, flight: Flight | None) -> None:
        """Park the chat on the error, with what there is of the step."""
        clock = self._parts.clock
        rows = flight.interrupted(iso(clock.now()), clock.monotonic()) if flight else []
        _log.warning(
            "a turn ended with an error",
            chat_id=str(self._chat.chat_id),
            kind=str(failed.failure.kind),
            provider=failed.failure.provider,
            detail=failed.failure.detail,
        )
        await self._chat.commit(lambda fence: self._parts.transitions.finish_error(fence, rows, error=failed.payload()))
        self._ended(Ending.FAILED)

    async def _finish_interruption(self) -> None:
        clock = self._parts.clock
        at = iso(clock.now())
        if self._flight is not None:
            rows = self._flight.interrupted(at, clock.monotonic())
        elif self._chat.facts.has_draft:
            rows = []  # the transition stores it
        else:
            rows = await self._from_checkpoint(at)
        await self._chat.commit(lambda fence: self._parts.transitions.finish_interruption(fence, rows))
        self._flight = None
        self._ended(Ending.INTERRUPTED)

    async def _from_checkpoint(self, at: str) -> list[NewMessage]:
        """What the runner before us had shown: all that is left of its step."""
        parts = await self._parts.preparing.checkpointed(self._chat.facts, at)
        answer = NewMessage(role=Role.ASSISTANT, parts=parts, model_config_id=self._chat.facts.last_model_config_id)
        return interrupted_messages(answer, {})

    async def _await_client(self) -> None:
        clock = self._parts.clock
        deadline = self._chat.facts.requires_action_deadline_at
        reason = _NO_DEADLINE
        if deadline is not None:
            reason = _TIMED_OUT
            async with self._chat.news.unless_changed():
                await clock.sleep(max(0.0, (deadline - clock.now()).total_seconds()), timer="requires action")
        await self._chat.commit(lambda fence: self._parts.transitions.cancel_requires_action(fence, reason=reason))
        self._ended(Ending.TIMED_OUT)

    # Those around it

    def _begun(self, prepared: Prepared, history: Sequence[Message]) -> None:
        facts = self._chat.facts
        chat = BegunChat(
            chat_id=facts.chat_id,
            owner_id=facts.owner_id,
            title=prepared.title,
            model_config_id=prepared.model.config_id,
            history=history,
        )
        self._tell(lambda: self._parts.around.begun(chat))

    def _ended(self, ending: Ending) -> None:
        facts = self._chat.facts
        turn = EndedTurn(
            chat_id=facts.chat_id,
            owner_id=facts.owner_id,
            is_child=facts.is_child,
            ending=ending,
            history_version=facts.history_version,
            model_config_id=facts.last_model_config_id,
            history=self._chat.known_history(),
        )
        self._tell(lambda: self._parts.around.ended(turn))

    def _tell(self, told: Callable[[], None]) -> None:
        try:
            told()
        except Exception as error:  # noqa: BLE001 - it can neither delay nor fail a turn
            _log.error("work around a turn failed", chat_id=str(self._chat.chat_id), exc_info=error)


def _unexpected() -> Failure:
    return Failure(
        kind=FailureKind.UNKNOWN,
        provider="",
        status_code=None,
        retryable=True,
        message="Something went wrong in the server. What was written is kept; send a message to go on.",
        detail="",
    )
