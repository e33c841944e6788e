"""A scripted vendor: one server on loopback that speaks all four protocols at their real paths.

    async with vendor_server([Turn(Say("hello"))]) as vendor:
        ...  # ask at vendor.url
    assert vendor.asked[0].body["model"] == "..."

A request that the vendor would refuse gets the vendor's error, and is in `refusals`. What goes wrong in the server
itself (a script that ended, that the protocol can't say, or a bug) comes out of the block.
"""

import asyncio
import re
import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import msgspec

from chatd.clock import Clock, SystemClock
from chatd.testing.vendors.anthropic import Anthropic, Bedrock, VertexAnthropic
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.delivery import Delivery, Dropped
from chatd.testing.vendors.dialect import Dialect
from chatd.testing.vendors.frames import AMAZON, SSE
from chatd.testing.vendors.gemini import Gemini
from chatd.testing.vendors.http_exchange import MOST_HEAD_BYTES, Incoming, Outgoing, read_request
from chatd.testing.vendors.issued import Issued
from chatd.testing.vendors.openai import Chat, Responses
from chatd.testing.vendors.refusal import Refusal
from chatd.testing.vendors.script import Answer, CloseAfter, Refuse, Script, Turn

_VERTEX: Final = r"/v1/projects/[^/]+/locations/[^/]+/publishers"
_ROUTES: Final[Sequence[tuple[re.Pattern[str], Dialect]]] = (
    (re.compile(r"/v1/messages"), Anthropic()),
    (re.compile(r"/model/(?P<model>[^/]+)/invoke-with-response-stream"), Bedrock()),
    (re.compile(rf"{_VERTEX}/anthropic/models/(?P<model>[^/]+):streamRawPredict"), VertexAnthropic()),
    (re.compile(r"/(v1|openai|openai/v1)/responses"), Responses()),
    (re.compile(r"/((openai/)?v1|openai/deployments/[^/]+)/chat/completions"), Chat()),
    (re.compile(r"/v1(beta)?/models/(?P<model>[^/]+):streamGenerateContent"), Gemini()),
    (re.compile(rf"{_VERTEX}/google/models/(?P<model>[^/]+):streamGenerateContent"), Gemini()),
)
_KEPT_REQUESTS: Final = 10_000  # more than any test makes


class ScriptEnded(Exception):
    """A request came for which the script has no answer."""


class VendorServer:
    """`asked` are the requests that were answered, `refusals` what the others were told, `issued` what it remembers."""

    def __init__(self, script: Script, *, clock: Clock, key: str | None, models: Sequence[str], kept: int) -> None:
        self._script = script
        self._clock = clock
        self._key = key
        self._models = list(models)
        self._kept = kept
        self._played = 0
        self.issued = Issued()
        self._accepted = 0
        self._hung_up = 0
        self._changed = asyncio.Condition()
        self.url = ""
        self.connections = 0
        self.asked: list[Asked] = []
        self.refusals: list[Refusal] = []
        self.errors: list[Exception] = []

    @property
    def unplayed(self) -> int:
        """How many turns of the script are left."""
        return 0 if callable(self._script) else len(self._script) - self._played

    async def wait_asked(self, count: int = 1) -> None:
        """Until so many requests have come that were not refused."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._accepted >= count)

    async def wait_hung_up(self, count: int = 1) -> None:
        """Until so many connections have ended, from either side."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._hung_up >= count)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (incoming := await read_request(reader)) is not None:
                if not await self._answer(incoming, Outgoing(reader, writer)):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, Dropped):
            pass  # the client is gone, or the script wants it to think that we are
        except Exception as error:  # noqa: BLE001 - told to the test when the server ends
            self.errors.append(error)
            writer.transport.abort()
        finally:
            writer.close()
            async with self._changed:
                self._hung_up += 1
                self._changed.notify_all()

    async def _answer(self, incoming: Incoming, out: Outgoing) -> bool:
        """Whether the connection is for another request."""
        if incoming.method == "GET":
            await self._list_models(incoming, out)
            return True
        found = next(((match, to) for pattern, to in _ROUTES if (match := pattern.fullmatch(incoming.path))), None)
        if found is None or incoming.method != "POST":
            await out.whole(404, b"", content_type="text/plain", headers={})
            return True
        match, dialect = found
        try:
            asked = self._read(incoming, dialect, match.groupdict().get("model", ""))
            dialect.check(asked, self.issued)
        except Refusal as refusal:
            self._keep(self.refusals, refusal)
            await _refuse(out, dialect, Refuse(refusal.status, refusal.message, refusal.type), refusal.at)
            return True
        self._keep(self.asked, asked)
        async with self._changed:
            self._accepted += 1
            self._changed.notify_all()
        answer = self._next(asked)
        if isinstance(answer, Refuse):
            await _refuse(out, dialect, answer, "")
            return True
        frames = [dialect.frame(frame) for frame in dialect.encode(answer, asked, self.issued)]
        delivery = Delivery(out, dialect, answer.faults, self._clock)
        content_type = AMAZON if isinstance(dialect, Bedrock) else SSE
        await delivery.run(frames, content_type=content_type, headers=_request_id(dialect))
        return not any(isinstance(fault, CloseAfter) for fault in answer.faults)

    def _read(self, incoming: Incoming, dialect: Dialect, model: str) -> Asked:
        self._check_key(incoming, dialect)
        if isinstance(dialect, Gemini) and incoming.query.get("alt") != "sse":
            raise Refusal("This server answers with server-sent events only: ask with alt=sse.")
        try:
            body: Any = msgspec.json.decode(incoming.body)
        except msgspec.DecodeError as error:
            raise Refusal(f"We could not parse the JSON body of your request: {error}") from error
        if not isinstance(body, dict):
            raise Refusal("We could not parse the JSON body of your request: it is no object.")
        fields = cast("dict[str, Any]", body)
        named = model or str(fields.get("model", ""))
        return Asked(dialect.name, incoming.path, incoming.headers, fields, named)

    def _check_key(self, incoming: Incoming, dialect: Dialect) -> None:
        if self._key is None:
            return
        key = dialect.key(incoming.headers, incoming.query)
        signed = key.startswith("AWS4-HMAC-SHA256 ")
        if not key or (self._key and key != self._key and not signed):
            raise Refusal("Incorrect API key provided.", status=403 if isinstance(dialect, Gemini | Bedrock) else 401)

    def _next(self, asked: Asked) -> Answer:
        if callable(self._script):
            return self._script(asked)
        if self._played >= len(self._script):
            raise ScriptEnded(f"the script has {len(self._script)} turns, and one more request came to {asked.path}")
        answer = self._script[self._played]
        self._played += 1
        return answer if isinstance(answer, Turn | Refuse) else answer(asked)

    async def _list_models(self, incoming: Incoming, out: Outgoing) -> None:
        dialect: Dialect = Chat()
        if incoming.path == "/v1beta/models" or "x-goog-api-key" in incoming.headers:
            dialect = Gemini()
        elif "anthropic-version" in incoming.headers:
            dialect = Anthropic()
        if incoming.path not in ("/v1/models", "/openai/v1/models", "/v1beta/models"):
            await out.whole(404, b"", content_type="text/plain", headers={})
            return
        try:
            self._check_key(incoming, dialect)
        except Refusal as refusal:
            await _refuse(out, dialect, Refuse(refusal.status, refusal.message), "")
            return
        listed = msgspec.json.encode(dialect.models(self._models))
        await out.whole(200, listed, content_type="application/json", headers={})

    def _keep(self, kept: list[Any], entry: object) -> None:
        kept.append(entry)
        if len(kept) > self._kept:
            del kept[0]


def _request_id(dialect: Dialect) -> Mapping[str, str]:
    return {"request-id": "req_011"} if isinstance(dialect, Anthropic) else {"x-request-id": "req_1"}


async def _refuse(out: Outgoing, dialect: Dialect, refuse: Refuse, at: str) -> None:
    body = refuse.body
    if body is None:
        body = msgspec.json.encode(dialect.error(refuse.status, refuse.message, refuse.type, at))
    await out.whole(refuse.status, body, content_type=refuse.content_type, headers=refuse.headers)


@asynccontextmanager
async def vendor_server(
    script: Script,
    *,
    clock: Clock | None = None,
    key: str | None = "",
    models: Sequence[str] = ("scripted-model",),
    host: str = "127.0.0.1",
    port: int = 0,
    kept_requests: int = _KEPT_REQUESTS,
) -> AsyncGenerator[VendorServer]:
    """A running server. `key` is the only one that it takes: empty for any but none, None for whatever comes. Of
    `asked` and `refusals` the newest `kept_requests` stay. Raises OSError if it can't listen there.

    Raises an ExceptionGroup at the end if the server itself failed, whatever the block made of it.
    """
    vendor = VendorServer(script, clock=clock or SystemClock(), key=key, models=models, kept=kept_requests)
    listening = _listen(host, port)
    vendor.url = f"http://{host}:{listening.getsockname()[1]}"
    open_connections: set[asyncio.Task[None]] = set()
    raised: BaseException | None = None
    async with asyncio.TaskGroup() as group:

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = group.create_task(vendor.serve(reader, writer), name="scripted vendor connection")
            open_connections.add(task)
            task.add_done_callback(open_connections.discard)

        server = await asyncio.start_server(accept, sock=listening, limit=MOST_HEAD_BYTES)
        try:
            yield vendor
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - raised again below, outside of the group
            raised = error
        finally:
            server.close()
            for task in open_connections:
                task.cancel()
    if vendor.errors:
        raise ExceptionGroup("the scripted vendor failed", vendor.errors) from raised
    if raised is not None:
        raise raised


def _listen(host: str, port: int) -> socket.socket:
    """The protocol is named: of sockets that do not say it, asyncio lets small packets wait for one another (40 ms)."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening
