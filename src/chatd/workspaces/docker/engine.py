"""The engine's HTTP API, as far as workspaces need it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import aiohttp
import msgspec

from chatd.clock import Clock
from chatd.workspaces.docker.inspected import Refusal
from chatd.workspaces.provisioner import BuildFailed

T = TypeVar("T")

_ANSWER_SECONDS: Final = 60.0  # engines take their time to stop a container
_PULL_SECONDS: Final = 1800.0  # an image of some gigabytes over a slow network
_MOST_ANSWER_BYTES: Final = 4 * 1024 * 1024  # what is told of one container has some tens of kilobytes
_MOST_LINE_BYTES: Final = 1024 * 1024  # of what is told while pulling
_TOLD_CHARACTERS: Final = 1000


class EngineRefused(Exception):
    """The engine said no; `status` is that of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Engine:
    """`url` is `unix:///path`, or `tcp://host:port` without encryption. A connection is made for each call."""

    def __init__(self, url: str, clock: Clock) -> None:
        self._url = url
        self._clock = clock
        parts = urlsplit(url)
        self._socket = parts.path if parts.scheme == "unix" else None
        self._base = "http://engine" if self._socket is not None else f"http://{parts.netloc}"

    async def get(self, path: str, shape: type[T]) -> T:
        """Raises EngineRefused, and BuildFailed without an answer."""
        async with self._asked("GET", path, body=None, query=None, seconds=_ANSWER_SECONDS) as response:
            said = b""
            async for chunk in response.content.iter_any():
                said += chunk
                if len(said) > _MOST_ANSWER_BYTES:
                    raise _too_long()
            return _decoded(said, shape)

    async def call(
        self, method: str, path: str, *, body: Mapping[str, Any] | None = None, query: Mapping[str, str] | None = None
    ) -> None:
        """As `get`, where it is enough that it was done."""
        async with self._asked(method, path, body=body, query=query, seconds=_ANSWER_SECONDS):
            return

    async def lines(self, path: str, shape: type[T], *, query: Mapping[str, str]) -> AsyncGenerator[T]:
        """What the engine tells while it does what it was asked by POST, one JSON object after another."""
        async with self._asked("POST", path, body=None, query=query, seconds=_PULL_SECONDS) as response:
            rest = b""
            async for chunk in response.content.iter_any():
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    if line.strip():
                        yield _decoded(line, shape)
                if len(rest) > _MOST_LINE_BYTES:
                    raise _too_long()
            if rest.strip():
                yield _decoded(rest, shape)

    @asynccontextmanager
    async def _asked(
        self, method: str, path: str, *, body: Mapping[str, Any] | None, query: Mapping[str, str] | None, seconds: float
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        connector = aiohttp.UnixConnector(self._socket) if self._socket is not None else aiohttp.TCPConnector()
        try:
            async with (
                self._clock.timeout(seconds, timer="container engine"),
                aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as session,
                session.request(
                    method,
                    f"{self._base}{path}",
                    params=query,
                    data=None if body is None else msgspec.json.encode(body),
                    headers={"Content-Type": "application/json"},
                    allow_redirects=False,
                ) as response,
            ):
                if response.status >= 400:
                    raise EngineRefused(response.status, _message(await response.content.read(_TOLD_CHARACTERS * 4)))
                yield response
        except TimeoutError as error:
            raise BuildFailed(
                f"The container engine did not answer within {seconds:g} seconds.", code="engine"
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise BuildFailed(
                f"The container engine at {self._url} can't be reached.",
                detail=f"{error}. Start it, give the server's user the right to its socket, or change docker_url.",
                code="engine",
            ) from error


def named(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")


def _decoded(said: bytes, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(said, type=shape)
    except msgspec.MsgspecError as error:
        raise BuildFailed("The container engine was not understood.", detail=str(error), code="engine") from error


def _too_long() -> BuildFailed:
    return BuildFailed("The container engine's answer is too long.", code="engine")


def _message(said: bytes) -> str:
    try:
        text = msgspec.json.decode(said, type=Refusal).message
    except msgspec.MsgspecError:
        text = said.decode("utf-8", "replace").strip()
    return text[:_TOLD_CHARACTERS]
