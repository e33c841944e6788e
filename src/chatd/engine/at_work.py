"""A chat that a runner works on: what is known of it, its fence, and the one way to change it."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

from chatd.core.messages import Message
from chatd.core.outcomes import Refusal, Refused
from chatd.engine.commits import AWAY, AnswerLost, committed
from chatd.engine.facts import ChatFacts
from chatd.engine.news import News
from chatd.engine.owned import Owned
from chatd.engine.parts import EngineParts
from chatd.engine.ways_out import Changed, LetGo, NotOurs
from chatd.observe.logs import get_logger
from chatd.store.transitions import Applied, Fence, Outcome, Transitions

AWAY_SECONDS: Final = 0.5  # between two looks at a database that is away; the lease ends such a runner in the end
_log = get_logger("chatd.runner")


# Told what is known of a chat before and now.
Landed = Callable[[ChatFacts, ChatFacts], bool]


class ChatAtWork:
    """While the block runs, others' changes end what is done under `news.unless_changed`."""

    def __init__(self, facts: ChatFacts, owned: Owned, tasks: asyncio.TaskGroup, parts: EngineParts) -> None:
        self.facts = facts
        self.runner_id = owned.runner_id
        # Every change of the owner is a transition, so that whoever comes next has a higher one.
        self.epoch = facts.snapshot_version
        self.needs_attempt = owned.is_taken_over  # what was streamed of this step is not ours to go on with
        self.news = News(owned.runner_id)
        self._draining = parts.draining
        self._tasks = tasks
        self._store = parts.store
        self._histories = parts.histories
        self._clock = parts.clock
        self._watching = parts.watch.watch(facts.chat_id, facts.snapshot_version, self.news.hear)
        self.news.rely_on(facts)

    @property
    def chat_id(self) -> UUID:
        return self.facts.chat_id

    @property
    def fence(self) -> Fence:
        return Fence(self.facts.chat_id, self.runner_id, self.facts.history_version)

    @property
    def call_keys(self) -> str:
        """What the keys of all calls of the step at this history begin with, and those of no other step."""
        return f"{self.facts.chat_id}:{self.facts.history_version}:"

    @property
    def is_ours(self) -> bool:
        return self.facts.runner_id == self.runner_id and not self.facts.archived

    def check_draining(self) -> None:
        """Between steps. Raises LetGo when the replica stops."""
        if self._draining.is_set():
            raise LetGo

    async def wait(self, seconds: float, *, timer: str) -> None:
        """Raises Changed, and LetGo when the replica stops: whoever takes the chat waits on."""
        with suppress(TimeoutError):
            async with self.news.unless_changed(), self._clock.timeout(seconds, timer=timer):
                await self._draining.wait()
                raise LetGo

    def close(self) -> None:
        self._watching.close()

    async def history(self) -> tuple[Message, ...]:
        return await self._histories.load(self.chat_id, self.facts.history_version)

    def known_history(self) -> tuple[Message, ...]:
        """As far as it is in memory."""
        return self._histories.known(self.chat_id, self.facts.history_version)

    async def begin_attempt(self, transitions: Transitions) -> None:
        """Raises as `commit`."""
        await self.commit(
            transitions.record_attempt,
            landed=lambda before, now: now.generation_attempt > before.generation_attempt,
        )

    async def commit(
        self, work: Callable[[Fence], Coroutine[Any, Any, Outcome]], *, landed: Landed | None = None
    ) -> None:
        """Carry a transition out. Raises Changed when the chat is no longer what it was decided on, or when nobody
        can tell whether this was it; NotOurs when the chat is not ours any more. `landed` tells from the chat before
        and now, while history and status are the same, whether a transition was carried out whose answer was lost."""
        while True:
            try:
                outcome = await committed(self._tasks, work(self.fence))
            except AnswerLost as lost:
                _log.warning("the answer to a commit was lost", chat_id=str(self.chat_id), error=str(lost))
                before = self.facts
                await self.look()
                if landed is not None and _is_same_turn(before, self.facts) and landed(before, self.facts):
                    return
                if self.facts.snapshot_version != before.snapshot_version:
                    raise Changed from lost
                continue
            if isinstance(outcome, Applied):
                self._accept(outcome)
                return
            raise _refusal(outcome)

    async def look(self) -> None:
        """Read the chat anew, for as long as the database is away. Raises NotOurs."""
        while True:
            try:
                row = await self._store.get_chat_state(chat_id=self.chat_id)
                break
            except AWAY as error:
                _log.warning(
                    "a chat can't be read", chat_id=str(self.chat_id), error=str(error) or type(error).__name__
                )
                await self._clock.sleep(AWAY_SECONDS, timer="database away")
        if row is None or row.runner_id != self.runner_id or row.archived:
            raise NotOurs
        self._know(row)

    def _accept(self, applied: Applied) -> None:
        self._know(applied.change)
        self._histories.note(applied)

    def _know(self, facts: ChatFacts) -> None:
        self.facts = facts
        self._watching.knows(facts.snapshot_version)
        self.news.rely_on(facts)


def _is_same_turn(before: ChatFacts, now: ChatFacts) -> bool:
    return (before.history_version, before.status) == (now.history_version, now.status)


def _refusal(refused: Refused) -> Exception:
    match refused.reason:
        case Refusal.NOT_OWNER | Refusal.NOT_FOUND:
            return NotOurs()
        case Refusal.HISTORY_MOVED | Refusal.NOT_ALLOWED:
            return Changed()
        case _:
            return RuntimeError(f"{refused.transition} is refused: {refused.reason} in {refused.state}")
