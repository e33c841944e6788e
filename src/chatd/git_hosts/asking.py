"""Requests to a host's API: bounded, cached by their ETag, and none while the host wants none.

A host that says "no more for now" is not asked again until then, whichever chat wants to know something. An answer that
has not changed is not sent again and, with GitHub, does not count.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

import aiohttp
import msgspec
from yarl import URL

from chatd.clock import Clock
from chatd.core.git_host_kind import HostKind
from chatd.core.retry_after import bounded, retry_after_seconds
from chatd.core.secret import Secret
from chatd.git_hosts.host import HostAway, HostFailed, RateLimited, TokenRefused
from chatd.providers.network import Proxy, trust, vendor_socket
from chatd.providers.transport import CONNECT_SECONDS, as_fault

_ANSWER_SECONDS: Final = 20.0  # the slowest answer, a large list of files, takes a few
_MOST_CONNECTIONS: Final = 8  # to a host: they ask not to be asked many things at once
_MOST_JSON_BYTES: Final = 4 * 1024 * 1024  # a hundred files with their patches
_MOST_CACHED_BYTES: Final = 16 * 1024 * 1024  # of all hosts together
_MOST_CACHED_ENTRY: Final = 256 * 1024
_ENTRY_BYTES: Final = 1024  # of an entry besides its answer: most answers are that there is nothing
_MOST_REFUSAL_BYTES: Final = 4096  # some hundred are the rule
_IN_WORDS: Final = b"rate limit"  # GitHub has limits that it tells in no header
_UNSAID_LIMIT_SECONDS: Final = 60.0  # GitHub: "otherwise, wait for at least one minute"
_MARGIN_SECONDS: Final = 1.0  # times of renewal are whole seconds

_OUTCOMES: Final[Mapping[type[HostFailed], str]] = {RateLimited: "limited", TokenRefused: "refused"}

Answer = TypeVar("Answer")


# Told of each request: the kind of the host, and `ok`, `unchanged`, `limited`, `refused`, `failed` or `unreachable`.
Counted = Callable[[str, str], None]


class Session:
    """The connections and the cache that all hosts share."""

    def __init__(self, http: aiohttp.ClientSession, proxy: Proxy, clock: Clock, counted: Counted) -> None:
        self.http = http
        self.proxy = proxy
        self.clock = clock
        self.cache = _Cache()
        self.counted = counted


class Asking:
    """One host with one token. `headers` bring the token."""

    def __init__(self, session: Session, kind: HostKind, api_url: str, headers: Mapping[str, str]) -> None:
        self._session = session
        self._kind = kind
        self._api_url = api_url.rstrip("/")
        self._headers = dict(headers)
        self._not_before: datetime | None = None
        self._owner = object()  # what one token is shown is not for another one

    async def get(self, path: str, answer: type[Answer], query: Mapping[str, str] | None = None) -> Answer:
        """Raises HostFailed; RateLimited without a request while a limit is known."""
        body = await self._body(path, query or {}, most_bytes=_MOST_JSON_BYTES)
        if body is None:
            raise HostFailed(f"The answer to {path} is too large.")
        try:
            return msgspec.json.decode(body, type=answer)
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise HostFailed(f"The answer to {path} can't be read: {error}") from error

    async def text(self, path: str, *, accept: str, most_bytes: int) -> str | None:
        """None where it is larger. Raises HostFailed."""
        body = await self._body(path, {}, accept=accept, most_bytes=most_bytes)
        return None if body is None else body.decode(errors="replace")

    async def _body(self, path: str, query: Mapping[str, str], *, accept: str = "", most_bytes: int) -> bytes | None:
        self._check_limit()
        url = f"{self._api_url}{path}"
        key = (self._owner, url, tuple(sorted(query.items())), accept)
        cached = self._session.cache.get(key)
        headers = {**self._headers, **({"Accept": accept} if accept else {})}
        if cached is not None:
            headers["If-None-Match"] = cached.etag
        try:
            async with (
                self._session.clock.timeout(_ANSWER_SECONDS, timer="git host"),
                self._response(url, query, headers) as response,
            ):
                if response.status == 304 and cached is not None:
                    self._note_limit(response)
                    self._count("unchanged")
                    return cached.body if len(cached.body) <= most_bytes else None
                body = await self._read(response, path, key, most_bytes)
                self._count("ok")
                return body
        except HostFailed as error:
            self._count(_OUTCOMES.get(type(error), "failed"))
            raise
        except aiohttp.ClientError as error:
            self._count("unreachable")
            raise HostAway(f"The host can't be asked: {as_fault(error).text}") from error
        except TimeoutError as error:
            self._count("unreachable")
            raise HostAway(f"The host did not answer within {_ANSWER_SECONDS:.0f} seconds.") from error

    def _count(self, outcome: str) -> None:
        self._session.counted(self._kind.value, outcome)

    @asynccontextmanager
    async def _response(
        self, url: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        asked = URL(url, encoded=True).with_query(dict(query))
        proxy = self._session.proxy.for_host(asked.host or "", asked.port)
        async with self._session.http.get(asked, headers=headers, proxy=proxy, allow_redirects=False) as response:
            yield response

    async def _read(self, response: aiohttp.ClientResponse, path: str, key: Any, most_bytes: int) -> bytes | None:
        if response.status != 200:
            said = await response.content.read(_MOST_REFUSAL_BYTES) if response.status == 403 else b""
            self._refuse(response, path, said)
        body = bytearray()
        async for piece in response.content.iter_chunked(64 * 1024):
            body += piece
            if len(body) > most_bytes:
                response.close()
                return None
        self._note_limit(response)
        if (etag := response.headers.get("ETag")) and len(body) <= _MOST_CACHED_ENTRY:
            self._session.cache.put(key, _Cached(etag, bytes(body)))
        return bytes(body)

    def _refuse(self, response: aiohttp.ClientResponse, path: str, said: bytes) -> None:
        status = response.status
        if status == 429 or (status == 403 and (_is_limit(response.headers) or _IN_WORDS in said.lower())):
            self._not_before = self._until(response)
            raise RateLimited(self._not_before)
        if status in (401, 403):
            raise TokenRefused(f"The host refused the token ({status}).")
        if status == 404:
            raise TokenRefused(f"The host knows nothing of {path}, or shows it to nobody with this token.")
        raise HostFailed(f"The host answered {status}.")

    def _until(self, response: aiohttp.ClientResponse) -> datetime:
        now = self._session.clock.now()
        wait = retry_after_seconds(response.headers, now)
        if wait is None:
            renewed = _renewed_at(response.headers)
            wait = (renewed - now).total_seconds() if renewed else _UNSAID_LIMIT_SECONDS
        return now + timedelta(seconds=bounded(wait) + _MARGIN_SECONDS)

    def _note_limit(self, response: aiohttp.ClientResponse) -> None:
        """The answer that took the last of what was left."""
        if _is_spent(response.headers) and _renewed_at(response.headers):
            self._not_before = self._until(response)

    def _check_limit(self) -> None:
        if self._not_before is None:
            return
        if self._session.clock.now() < self._not_before:
            raise RateLimited(self._not_before)
        self._not_before = None


def _is_spent(headers: Mapping[str, str]) -> bool:
    return "0" in (headers.get("X-RateLimit-Remaining"), headers.get("RateLimit-Remaining"))


def _is_limit(headers: Mapping[str, str]) -> bool:
    return "Retry-After" in headers or _is_spent(headers)


def _renewed_at(headers: Mapping[str, str]) -> datetime | None:
    said = headers.get("X-RateLimit-Reset") or headers.get("RateLimit-Reset") or ""
    if not said.isascii() or not said.isdigit() or len(said) > 11:
        return None
    return datetime.fromtimestamp(int(said), UTC)


class _Cached(msgspec.Struct, frozen=True):
    etag: str
    body: bytes


class _Cache:
    """The answers used last, bounded by their bytes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[object, _Cached] = OrderedDict()
        self._bytes = 0

    def get(self, key: object) -> _Cached | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: object, made: _Cached) -> None:
        self._forget(self._kept.pop(key, None))
        self._kept[key] = made
        self._bytes += _ENTRY_BYTES + len(made.body)
        while self._bytes > _MOST_CACHED_BYTES:
            self._forget(self._kept.popitem(last=False)[1])

    def _forget(self, gone: _Cached | None) -> None:
        self._bytes -= _ENTRY_BYTES + len(gone.body) if gone else 0


@asynccontextmanager
async def open_session(
    clock: Clock,
    *,
    proxy: Secret | None = None,
    no_proxy: str = "",
    ca: Path | None = None,
    counted: Counted = lambda _kind, _outcome: None,
) -> AsyncGenerator[Session]:
    """As open_transport of the providers. An administrator gives the addresses, so that they may be private ones."""
    connector = aiohttp.TCPConnector(
        limit=0, limit_per_host=_MOST_CONNECTIONS, ssl=trust(ca), socket_factory=vendor_socket
    )
    async with aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        headers={"User-Agent": "chatd"},
        trust_env=False,  # the proxy is a setting, which honours HTTPS_PROXY by itself
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as http:
        yield Session(http, Proxy(proxy, no_proxy), clock, counted)
