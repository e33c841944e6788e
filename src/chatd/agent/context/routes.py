"""The routes of context."""

from typing import Final

from chatd.agent.context.skills import file_of, files_of
from chatd.agent.context.watching import ContextWatch
from chatd.agent.files.disk import on_disk
from chatd.agent.request import Request
from chatd.agent.response import Response, answer
from chatd.agent.routes import Route
from chatd.clock import Clock
from chatd.core.errors import InvalidRequest, NotFound
from chatd.wire.agent.context import (
    ContextKind,
    ContextResource,
    ContextStatus,
    SkillFileQuery,
    SkillQuery,
    WatchContextQuery,
)

WAIT_SECONDS: Final = 300.0  # the longest one request waits; who watches asks again
ANSWER_SECONDS: Final = 60.0  # to read the files and to send them


class ContextRoutes:
    def __init__(self, watch: ContextWatch, clock: Clock) -> None:
        self._watched = watch
        self._clock = clock

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", "/context", self._context),
            Route("GET", "/context/watch", self._watch, deadline_seconds=WAIT_SECONDS + ANSWER_SECONDS),
            Route("GET", "/context/skills/files", self._files),
            Route("GET", "/context/skills/file", self._file),
        )

    async def _context(self, _request: Request) -> Response:
        return answer(await self._watched.current())

    async def _watch(self, request: Request) -> Response:
        query = request.query(WatchContextQuery)
        seconds = WAIT_SECONDS if query.wait_seconds is None else query.wait_seconds
        if not 0 <= seconds <= WAIT_SECONDS:
            raise InvalidRequest(f"wait_seconds must be from 0 to {WAIT_SECONDS:g}.")
        async with request.while_connected():
            try:
                async with self._clock.timeout(seconds, timer="context watch"):
                    seen = await self._watched.changed(query.since)
            except TimeoutError:
                seen = await self._watched.current()
        return answer(seen)

    async def _files(self, request: Request) -> Response:
        skill = await self._skill(request.query(SkillQuery).skill)
        return answer(await on_disk(files_of, skill))

    async def _file(self, request: Request) -> Response:
        query = request.query(SkillFileQuery)
        skill = await self._skill(query.skill)
        return answer(await on_disk(file_of, skill, query.path))

    async def _skill(self, name: str) -> ContextResource:
        for resource in (await self._watched.current()).resources:
            if (resource.kind, resource.status, resource.name) == (ContextKind.SKILL, ContextStatus.OK, name):
                return resource
        raise NotFound("This skill")
