"""One client that watches the repositories of a chat's workspace.

The agent is asked for the next change when the client has taken the last one, so that nothing is queued.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.errors import ChatdError
from chatd.core.escaped_json import encode
from chatd.core.stream import Event
from chatd.observe.logs import get_logger
from chatd.server.stream.framing import Sink
from chatd.stoppable import Stoppable, Stopped
from chatd.wire.agent.git import DiffQuery, Repositories, Repository, RepositoryDiff, WatchRepositoriesQuery
from chatd.wire.git import GitEvent, LiveRepository
from chatd.workspaces.agents.client import AgentClient
from chatd.workspaces.agents.errors import AgentRefused

WAIT_SECONDS: Final = 25.0  # for the agent to answer that nothing has changed
LOOK_SECONDS: Final = 120.0  # that an agent takes at most to look
MOST_DIFF_BYTES: Final = 3 * 1024 * 1024  # of all repositories together
LEAST_DIFF_BYTES: Final = 64 * 1024  # of each
LOST: Final = "The workspace does not answer. Connect again."
NOT_YOURS: Final = "The session has ended. Sign in again."
_log = get_logger("chatd.git-stream")

Keep = Callable[[Repositories], Awaitable[None]]


class GitLoop:
    """`run` once. Kept like a stream."""

    def __init__(
        self,
        chat_id: UUID,
        client: AgentClient,
        keep: Keep,
        sink: Sink,
        clock: Clock,
        may_stay: Callable[[], Awaitable[bool]],
    ) -> None:
        self.subject = chat_id
        self.sending_since: float | None = None
        self._client = client
        self._keep = keep
        self._sink = sink
        self._clock = clock
        self._may_stay = may_stay
        self._block: Stoppable | None = None
        self._beats: asyncio.TaskGroup | None = None
        self._turn = asyncio.Lock()  # to say something
        self._poll: Stoppable | None = None
        self._told: dict[str, int] = {}  # what was last told of each repository, as a hash
        self._check_due = False
        self._closing: str | None = None

    async def run(self) -> None:
        """Until the client leaves, does not keep up, or the workspace is gone."""
        async with asyncio.TaskGroup() as tasks:
            writer = tasks.create_task(self._write(), name="git stream")
            self._block = Stoppable()
            self._beats = tasks
            try:
                with suppress(Stopped):
                    async with self._block:
                        await self._sink.gone()
            finally:
                self._block = self._beats = None
                writer.cancel()

    # Kept like a stream

    def beat(self) -> None:
        """Beside the loop, which may wait for an agent that looks for minutes."""
        if self._beats is not None and not self._turn.locked():
            self._beats.create_task(self._give_sign_of_life(), name="git stream beat")

    def recheck(self) -> None:
        self._check_due = True
        self._wake()

    def end(self, reason: str) -> None:
        self._closing = reason
        self._wake()

    def stop(self) -> None:
        if self._block is not None:
            self._block.stop()

    def _wake(self) -> None:
        if self._poll is not None:
            self._poll.stop()

    async def _write(self) -> None:
        reason = LOST
        try:
            reason = await self._follow()
        except OSError:
            pass  # the client is gone
        except ChatdError as error:
            _log.info("repositories can't be followed", chat_id=str(self.subject), error=str(error))
        except Exception as error:  # noqa: BLE001 - one client's stream is not the server's end
            _log.error("a stream of repositories failed", chat_id=str(self.subject), exc_info=error)
        self._beats = None  # nothing may be said after the goodbye
        with suppress(OSError):
            await self._sending(partial(self._sink.close, reason))
        self.stop()

    async def _follow(self) -> str:
        """Gives why it ends."""
        since: str | None = None
        while True:
            if self._check_due:
                self._check_due = False
                if not await self._may_stay():
                    return NOT_YOURS
            if self._closing is not None:
                return self._closing
            try:
                seen = await self._next(since)
            except Stopped:
                continue
            if seen.version == since:
                continue
            event = await self._event(seen, is_first=since is None)
            since = seen.version
            if event is not None:
                await self._sending(partial(self._sink.send, [Event(None, encode(event))]))
            await self._keep(seen)

    async def _next(self, since: str | None) -> Repositories:
        query = WatchRepositoriesQuery(chat=self.subject, since=since, wait_seconds=WAIT_SECONDS)
        self._poll = Stoppable()
        try:
            async with self._poll:
                wait = WAIT_SECONDS + LOOK_SECONDS
                return await self._client.get("/git/watch", query, Repositories, wait_seconds=wait)
        finally:
            self._poll = None

    async def _event(self, seen: Repositories, *, is_first: bool) -> GitEvent | None:
        most = max(LEAST_DIFF_BYTES, MOST_DIFF_BYTES // max(1, len(seen.repositories)))
        changed: list[LiveRepository] = []
        for repository in seen.repositories:
            live = await self._live(repository, most)
            mark = hash(encode(live))
            if self._told.get(live.root) != mark:
                self._told[live.root] = mark
                changed.append(live)
        roots = {repository.root for repository in seen.repositories}
        removed = [root for root in self._told if root not in roots]
        for root in removed:
            del self._told[root]
        if not is_first and not changed and not removed:
            return None
        return GitEvent(scanned_at=self._clock.now(), repositories=changed, removed=removed)

    async def _live(self, repository: Repository, most: int) -> LiveRepository:
        diff = RepositoryDiff(root=repository.root, base="", diff="", files=0, is_complete=True)
        if repository.error is None:
            try:
                query = DiffQuery(root=repository.root, most_bytes=most)
                diff = await self._client.get("/git/diff", query, RepositoryDiff)
            except AgentRefused:  # it is gone by now, or broken: the next look says so
                pass
        fields = {name: getattr(repository, name) for name in msgspec.structs.asdict(repository)}
        return LiveRepository(**fields, diff=diff.diff, is_diff_complete=diff.is_complete)

    async def _give_sign_of_life(self) -> None:
        try:
            await self._sending(self._beat_unless_over)
        except OSError:
            self.stop()  # the client is gone

    async def _beat_unless_over(self) -> None:
        if self._beats is not None:
            await self._sink.beat()

    async def _sending(self, send: Callable[[], Awaitable[None]]) -> None:
        async with self._turn:
            self.sending_since = self._clock.monotonic()
            await send()
            self.sending_since = None
