"""The keeper's course of events: Postgres starting, ready, restarted, failed, stopped; in one thread."""

import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from chatd.store.keeper.cluster import prepare
from chatd.store.keeper.files import KeeperError, reason_of
from chatd.store.keeper.leases import Leases
from chatd.store.keeper.options import KeeperOptions
from chatd.store.keeper.paths import PORT, DataDirectory
from chatd.store.keeper.postgres import Answer, Postgres, Question
from chatd.store.keeper.waiting import monotonic, timestamp, wait_until

_ASK_WHILE_STARTING = 0.02  # seconds; a warm start takes a few times that
_ASK_LESS_WHILE_STARTING = 0.1  # of the time already waited: Postgres logs each question during a long recovery
_TRY_AGAIN = 0.1  # seconds, to get a question into Postgres' full queue
_REASON_CHARACTERS = 4_000  # a line to a server stays far below a socket's buffer
_LEFT_WITHIN = 15.0  # seconds for what an earlier Postgres left to go, before each stronger signal


def log(text: str) -> None:
    """Into the keeper's log, which is where its standard error goes; every line says when and who."""
    prefix = f"{timestamp()} [{os.getpid()}]"
    sys.stderr.write("".join(f"{prefix} {line}\n" for line in text.splitlines()))
    sys.stderr.flush()


class Phase(Enum):
    STARTING = "starting"
    READY = "ready"
    PAUSING = "restarting"
    FAILED = "failed"
    STOPPING = "stopping"
    ENDED = "ended"


class Keeper:
    """One data directory's keeper; its caller holds the lock. Everything happens in `run`, in one thread."""

    def __init__(self, directory: DataDirectory, options: KeeperOptions) -> None:
        self._directory = directory
        self._options = options
        self._limits = options.limits
        self._selector = selectors.DefaultSelector()
        self._leases = Leases(directory, self._selector)
        self._postgres: Postgres | None = None
        self._question: Question | None = None
        self._phase = Phase.STARTING
        self._since = monotonic()  # the begin of the phase, or of the last sign of life in it
        self._waiting_since = self._started = monotonic()  # for the first server; the last start of Postgres
        self._next = 0.0  # when the next question, start or stronger signal is due
        self._asked = 0.0  # when the last question was begun
        self._missed = 0
        self._failures = 0
        self._first_failure = 0.0
        self._was_ready = False
        self._signals = [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL]
        self._told_to_stop = False

    def run(self, listening: Callable[[], None]) -> None:
        """Until Postgres has stopped. `listening` is called once servers can connect."""
        self._watch_signals()
        self._leases.open()
        listening()
        try:
            self._enter(Phase.STARTING)
            options = self._options
            cluster = prepare(self._directory, Path(options.binaries), options.postgres_version, options.settings)
            self._postgres = Postgres(self._directory, cluster, options.settings)
            self._start()
        except (KeeperError, OSError) as refusal:
            self._fail(reason_of(refusal))
        self._waiting_since = monotonic()  # until now nobody could be heard
        while self._phase is not Phase.ENDED:
            self._hear(max(0.0, self._next - monotonic()))
            try:
                self._step()
            except (KeeperError, OSError) as refusal:
                self._fail(reason_of(refusal))

    def _hear(self, within: float) -> None:
        for key, _ in self._selector.select(within):
            key.data()

    def _watch_signals(self) -> None:
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setblocking(False)
        signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        self._wakeup = (ours, theirs)
        self._selector.register(ours, selectors.EVENT_READ, lambda: ours.recv(4096))

        def stop(_signal: int, _frame: object) -> None:
            self._told_to_stop = True

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)

    def _step(self) -> None:
        if self._phase not in (Phase.STOPPING, Phase.ENDED) and (self._told_to_stop or self._nobody_left()):
            self._begin_stop()
        if self._phase is Phase.STOPPING:
            self._go_on_stopping()
        elif self._phase in (Phase.STARTING, Phase.READY) and self._postgres is not None:
            code = self._postgres.exit_code()
            if code is not None:
                self._after_end(f"Postgres ended with code {code}.")
            else:
                self._ask()
        elif self._phase is Phase.PAUSING and monotonic() >= self._next:
            self._start()
        elif self._phase is Phase.FAILED:
            if monotonic() >= self._since + self._limits.told_within:
                self._begin_stop()
            self._next = self._since + self._limits.told_within
        if not self._leases.ever_held:
            self._next = min(self._next, self._waiting_since + self._limits.first_server_within)

    def _nobody_left(self) -> bool:
        if self._leases.held or not self._may_be_unused():
            return False
        for _ in range(2):  # who is at the door is let in, then heard
            self._hear(0)
        return not self._leases.held and self._may_be_unused()

    def _may_be_unused(self) -> bool:
        return self._leases.ever_held or monotonic() >= self._waiting_since + self._limits.first_server_within

    def _enter(self, phase: Phase, **said: object) -> None:
        self._phase, self._since = phase, monotonic()
        state = {"state": phase.value, "keeper_pid": os.getpid(), **said}
        log(f"{phase.value} {said}")
        self._leases.tell(state)

    def _start(self) -> None:
        assert self._postgres is not None
        self._postgres.start(left_within=_LEFT_WITHIN)
        self._phase, self._missed, self._next = Phase.STARTING, 0, 0.0
        self._since = self._started = monotonic()

    def _ask(self) -> None:
        """Put the next question when it is due, or look for the answer to the open one."""
        assert self._postgres is not None
        now = monotonic()
        if self._question is None:
            if now < self._next:
                return
            self._postgres.bound_log()
            self._question, self._asked = Question(self._postgres.sockets), now
        answer, until = self._question.answer(), self._asked + self._limits.answer_within
        if answer is None and now < until:
            # A socket without a connection is always ready: nothing to wait on.
            if self._question.asked and self._question.socket not in self._selector.get_map():
                self._selector.register(self._question.socket, selectors.EVENT_READ, lambda: None)
            self._next = until if self._question.asked else min(until, now + _TRY_AGAIN)
            return
        self._close_question()
        starting = self._phase is Phase.STARTING
        waited = _ASK_WHILE_STARTING + _ASK_LESS_WHILE_STARTING * (now - self._started)
        self._next = now + min(waited if starting else self._limits.check_every, self._limits.check_every)
        if answer is Answer.ACCEPTS and starting:
            self._become_ready()
        elif answer in (Answer.ACCEPTS, Answer.NOT_YET):
            if self._missed:
                log("Postgres answers again.")
            self._missed, self._since = 0, (now if starting else self._since)
        elif starting:
            if now > self._since + self._limits.start_within:
                self._kill_hung(f"Postgres did not answer within {self._limits.start_within:g} seconds of its start.")
        else:
            self._missed += 1
            log(f"Postgres did not answer a check ({self._missed} of {self._limits.missed_checks}).")
            # At once after a question that stayed open; one refused at once is spaced like any other check.
            self._next = max(now, self._asked + self._limits.check_every)
            if self._missed >= self._limits.missed_checks:
                self._kill_hung(f"Postgres did not answer {self._missed} checks.")

    def _become_ready(self) -> None:
        assert self._postgres is not None
        self._was_ready, self._missed = True, 0
        self._next = monotonic() + self._limits.check_every
        self._enter(
            Phase.READY,
            socket_dir=str(self._postgres.sockets),
            port=PORT,
            postgres_pid=self._postgres.pid,
            notes=self._postgres.notes,
        )

    def _close_question(self) -> None:
        if self._question is not None:
            if self._question.socket in self._selector.get_map():
                self._selector.unregister(self._question.socket)
            self._question.close()
            self._question = None

    def _kill_hung(self, reason: str) -> None:
        assert self._postgres is not None
        self._postgres.send(signal.SIGKILL)
        wait_until(lambda: self._postgres is None or self._postgres.exit_code() is not None, limit=_LEFT_WITHIN)
        self._after_end(reason)

    def _after_end(self, reason: str) -> None:
        """It ended without being asked to: try again later, or give up after too many times."""
        assert self._postgres is not None
        self._close_question()
        now = monotonic()
        steady = self._phase is Phase.READY and now >= self._since + self._limits.steady_after
        if steady or not self._failures:
            self._failures, self._first_failure = 0, now
        # Backends of a killed Postgres go away by themselves: for a while that is no failure.
        passing = self._postgres.was_hindered_by_the_dying() and now < self._first_failure + self._limits.start_within
        self._failures += 0 if passing and self._failures else 1
        words = self._postgres.last_words()
        if self._failures >= self._limits.failures:
            self._fail(f"{reason} It was started {self._failures} times. Its last words:\n{words}")
            return
        delay = min(self._limits.first_delay * 2 ** (self._failures - 1), self._limits.longest_delay)
        log(words)
        self._enter(Phase.PAUSING, reason=reason)
        self._next = monotonic() + delay

    def _fail(self, reason: str) -> None:
        """Servers hear the reason and leave, which ends this keeper; a later one tries anew."""
        if self._phase is Phase.STOPPING:
            return
        self._close_question()
        self._enter(Phase.FAILED, reason=reason[:_REASON_CHARACTERS])
        self._next = self._since + self._limits.told_within

    def _begin_stop(self) -> None:
        self._close_question()
        self._enter(Phase.STOPPING)
        self._leases.close_door()
        self._next = 0.0

    def _go_on_stopping(self) -> None:
        if self._postgres is None or self._postgres.exit_code() is not None:
            if self._postgres is not None:
                self._postgres.forget()
            self._enter(Phase.ENDED)
        elif monotonic() >= self._next:
            sent = self._signals.pop(0) if len(self._signals) > 1 else self._signals[0]
            self._postgres.send(sent)
            limits = self._limits
            self._next = monotonic() + (limits.stop_within if sent is signal.SIGINT else limits.quit_within)
