"""Serves the demo model on loopback as an OpenAI-compatible provider, word by word."""

import hmac
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Final

import msgspec
from aiohttp import web

from chatd.clock import Clock
from chatd.core.secret import Secret
from chatd.demo.brain import MODEL, Heard, Said, answer

PACE_SECONDS: Final = 0.02  # between two words: fast enough to read, slow enough to see
_MOST_BYTES: Final = 32 * 1024 * 1024  # of a request: a long history with images


class _Function(msgspec.Struct):
    name: str = ""


class _Tool(msgspec.Struct):
    function: _Function = msgspec.field(default_factory=_Function)


class _Piece(msgspec.Struct):
    text: str = ""


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Piece] | None = None


class _Request(msgspec.Struct):
    messages: list[_Message]
    tools: list[_Tool] = []


_REQUEST: Final = msgspec.json.Decoder(_Request)


class DemoModel(msgspec.Struct, frozen=True):
    """Where it is, and the key that it wants: other programs on this machine have no business with it."""

    base_url: str
    api_key: Secret


@asynccontextmanager
async def demo_model(*, api_key: Secret, clock: Clock, port: int = 0) -> AsyncGenerator[DemoModel]:
    """The demo model, for as long as the block runs."""
    application = web.Application(client_max_size=_MOST_BYTES)
    desk = _Desk(api_key, clock)
    application.router.add_post("/v1/chat/completions", desk.complete)
    application.router.add_get("/v1/models", desk.models)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        number = runner.addresses[0][1]
        yield DemoModel(f"http://127.0.0.1:{number}/v1", api_key)
    finally:
        await runner.cleanup()


class _Desk:
    def __init__(self, api_key: Secret, clock: Clock) -> None:
        self._api_key = api_key
        self._clock = clock
        self._answers = 0

    async def models(self, request: web.Request) -> web.Response:
        return _json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def complete(self, request: web.Request) -> web.StreamResponse:
        if not hmac.compare_digest(request.headers.get("Authorization", ""), f"Bearer {self._api_key.reveal()}"):
            return _error(401, "invalid_api_key", "This demo model belongs to another server.")
        try:
            asked = _REQUEST.decode(await request.read())
        except msgspec.MsgspecError as error:
            return _error(400, "invalid_request_error", str(error))
        said = answer(
            [Heard(message.role, _text(message)) for message in asked.messages if message.role != "system"],
            frozenset(tool.function.name for tool in asked.tools),
            system="\n".join(_text(message) for message in asked.messages if message.role == "system"),
        )
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        with suppress(ConnectionResetError):  # who asked has left: an interruption, say
            await self._stream(said, response, prompt_tokens=sum(len(_text(m)) for m in asked.messages) // 4)
        return response

    async def _stream(self, said: Said, response: web.StreamResponse, prompt_tokens: int) -> None:
        self._answers += 1
        stream = _Stream(response, f"demo-{self._answers}")
        for word in _words(said.reasoning):
            await stream.send({"reasoning_content": word})
            await self._clock.sleep(PACE_SECONDS, timer="demo word")
        for word in _words(said.text):
            await stream.send({"content": word})
            await self._clock.sleep(PACE_SECONDS, timer="demo word")
        if said.tool is not None:
            arguments = msgspec.json.encode(said.tool.arguments).decode()
            call = {
                "index": 0,
                "id": f"call_demo_{self._answers}",
                "type": "function",
                "function": {"name": said.tool.name, "arguments": arguments},
            }
            await stream.send({"tool_calls": [call]})
        written = len(said.reasoning + said.text) // 4 + 1
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": written, "total_tokens": prompt_tokens + written}
        await stream.finish("tool_calls" if said.tool else "stop", usage)


class _Stream:
    """Chunks of one completion."""

    def __init__(self, response: web.StreamResponse, id: str) -> None:
        self._response = response
        self._head = {"id": id, "object": "chat.completion.chunk", "created": 0, "model": MODEL}

    async def send(self, delta: dict[str, object], finish: str | None = None) -> None:
        await self._write({**self._head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    async def finish(self, reason: str, usage: dict[str, int]) -> None:
        await self.send({}, reason)
        await self._write({**self._head, "choices": [], "usage": usage})
        await self._response.write(b"data: [DONE]\n\n")
        await self._response.write_eof()

    async def _write(self, chunk: dict[str, object]) -> None:
        await self._response.write(b"data: " + msgspec.json.encode(chunk) + b"\n\n")


def _text(message: _Message) -> str:
    match message.content:
        case None:
            return ""
        case str(text):
            return text
        case pieces:
            return " ".join(piece.text for piece in pieces)


def _words(text: str) -> list[str]:
    """The text in pieces that give it back when joined."""
    words = text.split(" ")
    return [word if place == 0 else f" {word}" for place, word in enumerate(words)] if text else []


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(status=status, body=msgspec.json.encode(value), content_type="application/json")


def _error(status: int, code: str, message: str) -> web.Response:
    return _json({"error": {"message": message, "type": code, "code": code}}, status)
