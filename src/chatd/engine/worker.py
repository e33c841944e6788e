"""The worker of a replica: takes chats that should run, runs them, and lets go in time."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.access import WORKER
from chatd.core.gave_up import gave_up_error
from chatd.core.lease import RECONCILE_SECONDS
from chatd.engine.owned import INTERRUPTIBLE_STATUSES, Owned, Runner, was_given_up
from chatd.engine.pauses import Pauses
from chatd.engine.reconcile import compare
from chatd.engine.runners import Runners
from chatd.minting import uuid7
from chatd.observe.logs import get_logger
from chatd.stoppable import Stoppable, Stopped
from chatd.store.actor import acting_as
from chatd.store.chat_hints import FREE_TOPIC
from chatd.store.heartbeat import Lease
from chatd.store.hints import Hints
from chatd.store.store import Store
from chatd.store.transitions import Applied, Take, Transitions

ACQUIRE_SECONDS: Final = 1.0  # how long a free chat waits when its hint was lost
MOST_AT_ONCE: Final = 1000  # chats that one statement takes or releases: it locks them all until it is done
CANCEL_SECONDS: Final = 5.0  # for cancelled runners to end: they shield a commit that is under way
MOST_HAND_OVERS: Final = 10  # tries in vain; a chat is left over only while someone else has it locked: milliseconds
HAND_OVER_SECONDS: Final = 0.1  # between two tries
_log = get_logger("chatd.worker")


class WorkerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Capacities count the chats that generate in the whole deployment; None is no limit."""

    replica_id: UUID
    batch_size: int = 10
    root_capacity: int | None = None
    child_capacity: int | None = None


class Worker:
    """Runs chats while `run` runs. All methods are for the main event loop."""

    def __init__(
        self,
        store: Store,
        transitions: Transitions,
        hints: Hints,
        lease: Lease,
        *,
        run: Runner,
        clock: Clock,
        options: WorkerOptions,
        draining: asyncio.Event | None = None,
    ) -> None:
        """`draining` is set when it drains: runners look at it between steps."""
        self._store = store
        self._transitions = transitions
        self._hints = hints
        self._lease = lease
        self._clock = clock
        self._options = options
        self._pauses = Pauses()
        self._runners = Runners(run, clock=clock, pauses=self._pauses)
        self._tasks: asyncio.TaskGroup | None = None
        self._loops: list[asyncio.Task[None]] = []
        self._context = contextvars.Context()
        self._free = asyncio.Event()
        self._look = asyncio.Event()
        self._draining = draining or asyncio.Event()
        self._patience: Stoppable | None = None  # while a drain waits for runners
        lease.on_change(self._lease_changed)

    @property
    def running(self) -> frozenset[UUID]:
        """The chats that have a runner now."""
        return frozenset(self._runners.running)

    async def run(self) -> None:
        """Until cancelled, which cancels all runners, or until drained."""
        subscription = self._hints.subscribe(FREE_TOPIC, lambda _: self._free.set())
        try:
            with acting_as(WORKER):
                # Runners get this context, whoever's request starts them.
                self._context = contextvars.copy_context()
                async with asyncio.TaskGroup() as tasks:
                    self._tasks = tasks
                    try:
                        self._loops = [
                            tasks.create_task(self._acquire_forever(), name="acquire chats"),
                            tasks.create_task(self._reconcile_forever(), name="reconcile chats"),
                        ]
                        await self._draining.wait()
                    except BaseException:
                        self._tasks = None
                        raise
        finally:
            self._tasks = None
            subscription.close()

    def new_take(self) -> Take | None:
        """For a transition that makes a chat run: this worker would run it. Then call `adopt` with the outcome."""
        if not self._may_work:
            return None
        options = self._options
        return Take(options.replica_id, self._new_runner_id(), options.root_capacity, options.child_capacity)

    def adopt(self, applied: Applied) -> None:
        """Run the chat at once if the transition gave it to this replica."""
        owned = Owned.after(applied, self._options.replica_id)
        if owned is not None:
            self._start(owned)

    def look_again(self) -> None:
        """Something about users has changed: whose chats may run is looked at now, not within seconds."""
        self._look.set()

    def hurry(self) -> None:
        """Who drains waits for no runner any more."""
        if self._patience is not None:
            self._patience.stop()

    async def drain(self, seconds: float, *, before_cancel: Callable[[], Awaitable[object]] | None = None) -> None:
        """Take nothing more, let runners end for so long, cancel the rest, and hand over what is still owned.

        `before_cancel` keeps what would be lost with those that are cancelled; it does not raise.
        """
        self._draining.set()
        self._free.set()
        self._look.set()
        try:
            await self._wait_patiently(seconds)
        except (TimeoutError, Stopped):
            if before_cancel is not None:
                await before_cancel()
            self._runners.cancel_all()
            try:
                async with self._clock.timeout(CANCEL_SECONDS, timer="drain"):
                    await self._wait_ended()
            except TimeoutError:
                _log.warning("runners do not end", chats=len(self._runners.running))
        try:
            with acting_as(WORKER):
                await self._hand_over()
        except Exception as error:  # noqa: BLE001 - the end of the lease frees them too
            _log.warning("chats can't be handed over; others take them", error=str(error) or type(error).__name__)

    async def _wait_patiently(self, seconds: float) -> None:
        """For all runners to end. Raises TimeoutError after so long, and Stopped when someone is in a hurry."""
        self._patience = Stoppable()
        try:
            async with self._clock.timeout(seconds, timer="drain"), self._patience:
                await self._wait_ended()
        finally:
            self._patience = None

    @property
    def _may_work(self) -> bool:
        return self._tasks is not None and self._lease.held and not self._draining.is_set()

    def _lease_changed(self, held: bool) -> None:
        if held:
            self._free.set()
            self._look.set()
        elif self._runners.running:
            _log.warning("the lease can't be counted on; all runners stop", chats=len(self._runners.running))
            self._runners.cancel_all()

    def _start(self, owned: Owned) -> None:
        if self._may_work and self._tasks is not None:
            self._runners.start(owned, self._tasks, self._context.copy(), later=lambda: self._start(owned))

    # Acquiring

    async def _acquire_forever(self) -> None:
        while not self._draining.is_set():
            self._free.clear()
            try:
                while self._may_work and await self._acquire_batch():
                    pass
            except Exception as error:  # noqa: BLE001 - a database that is away now is asked again
                _log.warning("chats can't be acquired", error=str(error) or type(error).__name__)
            await self._wait(self._free, ACQUIRE_SECONDS, timer="acquire")

    async def _acquire_batch(self) -> bool:
        """Whether there may be more."""
        options = self._options
        batch = min(options.batch_size, MOST_AT_ONCE)
        acquired = await self._transitions.acquire(
            options.replica_id,
            [self._new_runner_id() for _ in range(batch)],
            error=gave_up_error(),
            root_capacity=options.root_capacity,
            child_capacity=options.child_capacity,
        )
        for applied in acquired:
            if was_given_up(applied):
                _log.error("a chat was taken over too often and is given up", chat_id=str(applied.change.chat_id))
            else:
                self.adopt(applied)
        return len(acquired) >= batch

    def _new_runner_id(self) -> UUID:
        return uuid7(self._clock.now())

    # Reconciling

    async def _reconcile_forever(self) -> None:
        while not self._draining.is_set():
            self._look.clear()
            if self._may_work:
                await self._try("chats can't be reconciled", self._reconcile())
                await self._try("holds can't be ended", self._transitions.release_overdue(most_chats=MOST_AT_ONCE))
            await self._wait(self._look, RECONCILE_SECONDS, timer="stale-recovery")

    async def _reconcile(self) -> None:
        before = self._runners.running
        rows = await self._store.list_owned_chats(replica_id=self._options.replica_id)
        owned = [chat for row in rows if (chat := Owned.of(row))]
        difference = compare(owned, before, self._runners.running)
        self._pauses.keep({chat.chat_id for chat in owned} | set(self._runners.running))
        for chat_id in difference.cancel:
            _log.info("a chat is no longer ours; its runner stops", chat_id=str(chat_id))
        self._runners.cancel(difference.cancel)
        now = self._clock.monotonic()
        for chat in difference.start:
            if self._pauses.may_start(chat.chat_id, chat.history_version, now):
                self._start(chat)
        for chat in difference.abandon:
            await self._try("a chat can't be abandoned", self._transitions.abandon(chat.chat_id, chat.runner_id))
        for row in rows:
            if not row.is_owner_active and row.status in INTERRUPTIBLE_STATUSES:
                _log.info("a chat is interrupted: its owner is suspended or deleted", chat_id=str(row.chat_id))
                await self._try("a chat can't be interrupted", self._transitions.interrupt(row.chat_id))

    async def _try(self, failing: str, work: Awaitable[object]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - a database that is away now is asked again, and one chat is not all
            _log.warning(failing, error=str(error) or type(error).__name__)

    # Letting go

    async def _wait_ended(self) -> None:
        """Until nothing can take a chat any more and no runner is left."""
        if self._loops:
            await asyncio.wait(self._loops)
        await self._runners.wait_ended()

    async def _hand_over(self) -> None:
        replica_id = self._options.replica_id
        in_vain = 0
        while in_vain < MOST_HAND_OVERS:
            if await self._transitions.hand_over(replica_id, most_chats=MOST_AT_ONCE):
                continue
            if not await self._store.list_owned_chats(replica_id=replica_id):
                return
            in_vain += 1
            await self._clock.sleep(HAND_OVER_SECONDS, timer="hand-over")
        _log.warning("some chats are not handed over; others take them when the lease ends")

    async def _wait(self, event: asyncio.Event, seconds: float, *, timer: str) -> None:
        with suppress(TimeoutError):
            async with self._clock.timeout(seconds, timer=timer):
                await event.wait()
