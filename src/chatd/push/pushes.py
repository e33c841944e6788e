"""Messages on their way to browsers: in the background, bounded in number and time, of no consequence if they fail."""

import asyncio
import contextvars
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.access import PUSHER
from chatd.core.failure import Fault
from chatd.core.push_message import PushMessage
from chatd.observe.logs import get_logger
from chatd.observe.tallies import Tallies
from chatd.push.sender import Outcome, Said, Sender
from chatd.push.subscriptions import Subscription, Subscriptions
from chatd.store.actor import acting_as
from chatd.store.store import Store

MOST_ALIVE: Final = 1000  # messages under way; further ones are dropped, for nobody reads a thousand at once
_MOST_AT_ONCE: Final = 16  # requests
_MOST_OF_ORIGIN: Final = 4  # requests to one push service, so that a dead one leaves room for the others
_MOST_ATTEMPTS: Final = 3
_FIRST_PAUSE: Final = 2.0  # seconds, if nobody says how long; then four times as long
_LONGEST_PAUSE: Final = 60.0  # what a push service asks for beyond it is not waited for
_TOTAL_SECONDS: Final = 120.0  # for one browser, with everything
_WAITED_SECONDS: Final = 20.0  # for a message that someone waits for: one attempt, and a place in the queue
_DROPPED: Final = "dropped"
_log = get_logger("chatd.push")


class Pushes:
    """Of a replica. Messages leave while `run` does; its end cancels what is under way, and waits for nobody.

    `on_gone` is told after a subscription was removed.
    """

    def __init__(
        self,
        store: Store,
        subscriptions: Subscriptions,
        sender: Sender,
        *,
        clock: Clock,
        counted: Tallies,
        on_gone: Callable[[], None],
    ) -> None:
        self._store = store
        self._subscriptions = subscriptions
        self._sender = sender
        self._clock = clock
        self._counted = counted
        self._on_gone = on_gone
        self._slots = asyncio.Semaphore(_MOST_AT_ONCE)
        self._of_origin: dict[str, asyncio.Semaphore] = {}
        self._wanted: Counter[str] = Counter()
        self._alive = 0
        self._group: asyncio.TaskGroup | None = None
        self._context = contextvars.Context()

    @property
    def alive(self) -> int:
        """How many messages are under way."""
        return self._alive

    async def run(self) -> None:
        """Until it is cancelled."""
        with acting_as(PUSHER):
            self._context = contextvars.copy_context()
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                await asyncio.Event().wait()
            finally:
                self._group = None

    def start(self, user_id: UUID, message: PushMessage) -> None:
        """To all browsers of a user. Returns at once and never raises; for who is known to have none it is nothing."""
        known = self._subscriptions.known(user_id)
        if known is not None and not known:
            return
        if self._group is None or self._alive >= MOST_ALIVE:
            self._count(_DROPPED)
            _log.info("a push message is dropped", user_id=str(user_id), alive=self._alive)
            return
        # Not in the caller's context: messages are sent by the pusher, whoever's request began the turn.
        task = self._group.create_task(
            self._guarded(user_id, message), name=f"push to {user_id}", context=self._context.copy()
        )
        self._alive += 1
        task.add_done_callback(self._forget)

    async def send(self, user_id: UUID, message: PushMessage) -> list[Said]:
        """At once, to all browsers of a user, each once; what their push services said. Raises what the store does."""
        with acting_as(PUSHER):
            found = await self._subscriptions.of(user_id)
            try:
                async with self._clock.timeout(_WAITED_SECONDS, timer="push trial"), asyncio.TaskGroup() as group:
                    tasks = [group.create_task(self._once(one, message), name="push") for one in found]
            except TimeoutError:
                return [Said(Outcome.UNREACHABLE, text=str(Fault.TIMED_OUT))]
        return [task.result() for task in tasks]

    async def _guarded(self, user_id: UUID, message: PushMessage) -> None:
        try:
            found = await self._subscriptions.of(user_id)
            async with asyncio.TaskGroup() as group:
                for one in found:
                    group.create_task(self._deliver(one, message), name=f"push to {user_id}")
        except Exception as error:  # noqa: BLE001 - it must not matter to anyone
            _log.warning("a push message can't be sent", user_id=str(user_id), exc_info=error)

    async def _deliver(self, to: Subscription, message: PushMessage) -> None:
        try:
            async with self._clock.timeout(_TOTAL_SECONDS, timer="push in all"):
                await self._tried(to, message)
        except TimeoutError:
            self._count(_DROPPED)
            _log.info("a push message waited too long", origin=to.origin)

    async def _tried(self, to: Subscription, message: PushMessage) -> None:
        pause = _FIRST_PAUSE
        for attempt in range(1, _MOST_ATTEMPTS + 1):
            said = await self._once(to, message)
            wait = pause if said.retry_after is None else said.retry_after
            may_retry = said.outcome in (Outcome.BUSY, Outcome.UNREACHABLE)
            if not may_retry or attempt == _MOST_ATTEMPTS or wait > _LONGEST_PAUSE:
                return
            await self._clock.sleep(wait, timer="push retry")
            pause *= 4

    async def _once(self, to: Subscription, message: PushMessage) -> Said:
        async with self._room(to.origin):
            said = await self._sender.send(to, message)
        self._count(said.outcome)
        if said.outcome is Outcome.GONE:
            await self._drop(to)
        if said.outcome is not Outcome.SENT:
            _log.info(
                "a push message was not taken",
                origin=to.origin,
                outcome=str(said.outcome),
                status=said.status,
                reason=said.text,
                retry_after=said.retry_after,
            )
        return said

    async def _drop(self, gone: Subscription) -> None:
        try:
            await self._store.drop_push_subscription(id=gone.id)
        except Exception as error:  # noqa: BLE001 - the next message finds out again
            _log.warning("a push subscription can't be removed", origin=gone.origin, error=str(error))
            return
        self._on_gone()

    @asynccontextmanager
    async def _room(self, origin: str) -> AsyncGenerator[None]:
        slots = self._of_origin.setdefault(origin, asyncio.Semaphore(_MOST_OF_ORIGIN))
        self._wanted[origin] += 1
        try:
            async with slots, self._slots:
                yield
        finally:
            self._wanted[origin] -= 1
            if not self._wanted[origin]:
                del self._wanted[origin], self._of_origin[origin]

    def _count(self, outcome: str) -> None:
        self._counted.of(str(outcome)).value += 1

    def _forget(self, _: object) -> None:
        self._alive -= 1
