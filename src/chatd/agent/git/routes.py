"""The routes of git repositories."""

from typing import Final
from uuid import UUID

from chatd.agent.files.disk import on_disk
from chatd.agent.files.mishaps import telling
from chatd.agent.files.paths import path_of, resolved, shown
from chatd.agent.git.finding import is_root
from chatd.agent.git.repository import Looking
from chatd.agent.git.running import Git, GitFailed
from chatd.agent.git.watching import RepositoryWatches
from chatd.agent.refusals import Refused
from chatd.agent.request import Request
from chatd.agent.response import Response, answer
from chatd.agent.routes import Route
from chatd.clock import Clock
from chatd.core.errors import InvalidRequest
from chatd.wire.agent.git import DiffQuery, RepositoriesQuery, WatchRepositoriesQuery

WAIT_SECONDS: Final = 300.0  # the longest one request waits; who watches asks again
LOOK_SECONDS: Final = 120.0  # to look at all repositories of a chat
DIFF_BYTES: Final = 1024 * 1024
MOST_DIFF_BYTES: Final = 4 * 1024 * 1024
LEAST_DIFF_BYTES: Final = 1024  # below that nothing but notes would fit


class GitRoutes:
    def __init__(self, git: Git, watches: RepositoryWatches, clock: Clock) -> None:
        self._git = git
        self._watches = watches
        self._clock = clock

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", "/git/repositories", self._repositories, deadline_seconds=LOOK_SECONDS),
            Route("GET", "/git/diff", self._diff),
            Route("GET", "/git/watch", self._watch, deadline_seconds=WAIT_SECONDS + LOOK_SECONDS),
        )

    async def _repositories(self, request: Request) -> Response:
        chat = _chat(request, request.query(RepositoriesQuery).chat)
        async with request.while_connected():
            seen = await self._watches.current(chat)
        return answer(seen)

    async def _watch(self, request: Request) -> Response:
        query = request.query(WatchRepositoriesQuery)
        chat = _chat(request, query.chat)
        seconds = WAIT_SECONDS if query.wait_seconds is None else query.wait_seconds
        if not 0 <= seconds <= WAIT_SECONDS:
            raise InvalidRequest(f"wait_seconds must be from 0 to {WAIT_SECONDS:g}.")
        async with request.while_connected():
            try:
                async with self._clock.timeout(seconds, timer="git watch"):
                    seen = await self._watches.changed(chat, query.since)
            except TimeoutError:
                seen = await self._watches.current(chat)
        return answer(seen)

    async def _diff(self, request: Request) -> Response:
        query = request.query(DiffQuery)
        path = path_of(query.root)
        most = DIFF_BYTES if query.most_bytes is None else query.most_bytes
        if not LEAST_DIFF_BYTES <= most <= MOST_DIFF_BYTES:
            raise InvalidRequest(f"most_bytes must be from {LEAST_DIFF_BYTES} to {MOST_DIFF_BYTES}.")
        root = await on_disk(_root, path)
        async with request.while_connected():
            try:
                diff = await Looking(self._git, root).diff(query.base, most)
            except GitFailed as failed:
                raise Refused(
                    f"{shown(root)} can't be looked at.", status=409, detail=str(failed), kind="git_failed"
                ) from failed
        return answer(diff)


def _chat(request: Request, asked: UUID | None) -> UUID | None:
    """A person asks for any chat; a chat for itself."""
    mine = request.caller.chat_id
    if asked is not None and mine is not None and asked != mine:
        raise InvalidRequest("A chat can ask for its own repositories only.")
    return asked or mine


def _root(path: bytes) -> bytes:
    with telling(path):
        real = resolved(path)
    if not real.exists or not is_root(real.path):
        raise Refused(f"{shown(path)} is not the root of a repository.", status=404, kind="no_repository")
    return real.path
