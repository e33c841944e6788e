"""Runs one owned chat until it rests: turns, interruptions and waits for the client, one after the other."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import asyncpg

from chatd.core.failure import Failure, FailureKind
from chatd.core.gave_up import gave_up_error
from chatd.core.labels import Ending
from chatd.core.messages import Message, NewMessage
from chatd.core.runner import AwaitClient, GiveUp, Rest, RunTurn, StoreInterrupted, decide
from chatd.core.states import Status
from chatd.core.times import iso
from chatd.engine.at_work import ChatAtWork
from chatd.engine.commits import AWAY
from chatd.engine.facts import ChatFacts, facts_of
from chatd.engine.flight import Flight
from chatd.engine.left_behind import left_behind
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
# Times that a turn may fail with what may be a database that is away, though the chat can be read: two minutes in all.
MOST_STUMBLES: Final = 8
_FIRST_STUMBLE_SECONDS: Final = 0.5
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
        self._title = ""
        self._stumbles = (0, 0)  # of a history version, how many

    async def run(self) -> None:
        chat = self._chat
        try:
            while await self._once():
                pass
        except (NotOurs, LetGo):
            pass
        finally:
            chat.close()
            self._parts.episodes.end(chat.chat_id)

    async def _once(self) -> bool:
        """Do what is next; whether there may be more to do."""
        chat = self._chat
        facts, now = chat.facts, self._parts.clock.now()
        deadline = facts.requires_action_deadline_at
        try:
            match decide(facts.status, is_ours=chat.is_ours, takeovers=facts.takeovers, deadline=deadline, now=now):
                case RunTurn():
                    await self._turn()
                case GiveUp():
                    await self._give_up()
                case StoreInterrupted():
                    await self._finish_interruption()
                case AwaitClient(seconds):
                    await self._await_client(seconds)
                case Rest():
                    return False
        except Changed:
            await self._chat.look()
            if self._flight is not None and self._flight.history_version != self._chat.facts.history_version:
                self._flight = None
            # A step that begins anew at the same history must not be taken for the rest of what was streamed.
            self._chat.needs_attempt |= self._flight is not None
        return True

    async def _turn(self) -> None:
        parts, chat = self._parts, self._chat
        self._flight = None
        turn: Turn | None = None
        try:
            prepared = await parts.preparing.prepare(chat.facts)
            turn = Turn(chat, prepared, parts)
            self._title = prepared.title
            self._begun(prepared, await chat.history())
            await turn.run()
            if not turn.only_compacted:
                self._ended(_ENDINGS.get(chat.facts.status, Ending.FINISHED))
        except TurnFailed as failed:
            await self._fail(failed, turn and turn.flight)
        except (Changed, NotOurs, LetGo):
            self._flight = turn and turn.flight
            raise
        except AWAY as error:
            await self._stumble(error)
        except Exception as error:  # noqa: BLE001 - a chat never stays running without anyone to run it
            _log.error("a turn failed", chat_id=str(chat.chat_id), exc_info=error)
            await self._fail(TurnFailed(_unexpected()), turn and turn.flight)

    async def _stumble(self, error: BaseException) -> None:
        """The chat goes on when the database is back. If it never was away, that must not go on for ever."""
        chat = self._chat
        version, count = self._stumbles
        count = count + 1 if version == chat.facts.history_version else 1
        self._stumbles = (chat.facts.history_version, count)
        _log.warning("a turn can't go on", chat_id=str(chat.chat_id), times=count, exc_info=error)
        if count > MOST_STUMBLES:
            await self._fail(TurnFailed(_unexpected()), None)
            return
        chat.needs_attempt = True
        await chat.wait(_FIRST_STUMBLE_SECONDS * 2 ** (count - 1), timer="stumble")
        await chat.look()

    async def _give_up(self) -> None:
        """Those who ran this turn died of it, one after the other."""
        _log.error("a chat was taken over too often and is given up", chat_id=str(self._chat.chat_id))
        rows = await self._left_of(None)
        await self._park(rows, gave_up_error())

    async def _park(self, rows: Sequence[NewMessage], error: str) -> None:
        finish_error = self._parts.transitions.finish_error
        try:
            await self._chat.commit(lambda fence: finish_error(fence, rows, error=error))
        except asyncpg.PostgresError as refused:
            if not rows:
                raise
            # Rows that can't be stored would let it run, and be paid for, again and again.
            _log.error("what there is of a step can't be stored", chat_id=str(self._chat.chat_id), exc_info=refused)
            await self._chat.commit(lambda fence: finish_error(fence, [], error=error))
        self._ended(Ending.FAILED, error=error)

    async def _fail(self, failed: TurnFailed, flight: Flight | None) -> None:
        """Park the chat on the error, with what there is of the step."""
        rows = await self._left_of(flight)
        _log.warning(
            "a turn ended with an error",
            chat_id=str(self._chat.chat_id),
            kind=str(failed.failure.kind),
            provider=failed.failure.provider,
            detail=failed.failure.detail,
        )
        await self._park(rows, failed.payload())

    async def _finish_interruption(self) -> None:
        rows = await self._left_of(self._flight)
        await self._chat.commit(lambda fence: self._parts.transitions.finish_interruption(fence, rows))
        self._flight = None
        self._ended(Ending.INTERRUPTED)

    async def _left_of(self, flight: Flight | None) -> list[NewMessage]:
        """All that people have seen of a step that nobody will finish."""
        clock = self._parts.clock
        at = iso(clock.now())
        if flight is not None and (rows := flight.interrupted(at, clock.monotonic())):
            return rows
        # What the runner before us had shown, if we have not shown anything ourselves.
        facts = self._chat.facts
        return (await left_behind(facts, self._parts)).interrupted(at, facts.last_model_config_id)

    async def _await_client(self, seconds: float | None) -> None:
        reason = _NO_DEADLINE
        if seconds is not None:
            reason = _TIMED_OUT
            await self._chat.wait(seconds, timer="requires action")
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

    def _ended(self, ending: Ending, *, error: str | None = None) -> None:
        facts = self._chat.facts
        turn = EndedTurn(
            chat_id=facts.chat_id,
            owner_id=facts.owner_id,
            is_child=facts.is_child,
            ending=ending,
            history_version=facts.history_version,
            model_config_id=facts.last_model_config_id,
            history=self._chat.known_history(),
            title=self._title,
            error=error,
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
