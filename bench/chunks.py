"""A streamed chunk, from the socket to a typed event: our CPU beside raw bytes and the vendors' SDKs, in one run."""

import sys
import time
from collections.abc import Awaitable, Callable

import aiohttp
import anthropic
import openai

from bench.chunk_server import CHUNKS
from bench.processes import median, started
from chatd.clock import SystemClock
from chatd.core.accumulate import Accumulator
from chatd.core.model import TextDelta
from chatd.providers.framing.sse import SseFraming
from chatd.providers.protocols.anthropic.messages import AnthropicMessages
from chatd.providers.protocols.openai.chat import OpenAIChat
from chatd.providers.protocols.protocol import VendorProtocol
from chatd.providers.stream import ModelCall, open_stream
from chatd.providers.transport import OutboundRequest, Transport, open_transport

RUNS = 7
PROMPT = "hello"


async def main() -> None:
    async with (
        started(sys.executable, "-m", "bench.chunk_server") as server,
        open_transport() as transport,
        aiohttp.ClientSession() as session,
    ):
        url = server.url
        ways: dict[str, Callable[[], Awaitable[int]]] = {
            "raw bytes (aiohttp)": lambda: _bytes(session, f"{url}/v1/chat/completions"),
            "chatd, OpenAI Chat": lambda: _ours(transport, OpenAIChat(), f"{url}/v1/chat/completions"),
            "chatd, Anthropic Messages": lambda: _ours(transport, AnthropicMessages(), f"{url}/v1/messages"),
            "openai SDK": lambda: _openai(f"{url}/v1"),
            "anthropic SDK": lambda: _anthropic(url),
        }
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(RUNS):
            for name, way in ways.items():
                before = time.process_time()
                chunks = await way()
                taken[name].append((time.process_time() - before) / CHUNKS * 1e6)
                assert chunks >= CHUNKS or "bytes" in name, (name, chunks)
    raw = median(taken["raw bytes (aiohttp)"])
    for name, values in taken.items():
        print(f"{name:28} {median(values):6.1f} µs a chunk, {median(values) / raw:5.1f} x raw bytes")
    ours = median(taken["chatd, OpenAI Chat"])
    print(f"chatd over the openai SDK    {ours / median(taken['openai SDK']):.3f} (1/8 is {1 / 8:.3f})")


async def _bytes(session: aiohttp.ClientSession, url: str) -> int:
    reads = 0
    async with session.post(url, data=b"{}") as response:
        async for _ in response.content.iter_any():
            reads += 1
    return reads


async def _ours(transport: Transport, protocol: VendorProtocol, url: str) -> int:
    call = ModelCall("bench", protocol, SseFraming, OutboundRequest(url, b"{}", {"Content-Type": "application/json"}))
    accumulator = Accumulator(protocol.name)
    texts = 0
    async with open_stream(call, transport=transport, clock=SystemClock()) as stream:
        async for events in stream:
            for event in events:
                accumulator.add(event, "")
                texts += isinstance(event, TextDelta)
    return texts


async def _openai(url: str) -> int:
    texts = 0
    async with openai.AsyncOpenAI(api_key="x", base_url=url) as client:
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": PROMPT}], stream=True
        )
        async for chunk in stream:
            texts += bool(chunk.choices and chunk.choices[0].delta.content)
    return texts


async def _anthropic(url: str) -> int:
    texts = 0
    async with anthropic.AsyncAnthropic(api_key="x", base_url=url) as client:
        stream = await client.messages.create(
            model="m", max_tokens=10, messages=[{"role": "user", "content": PROMPT}], stream=True
        )
        async for event in stream:
            texts += event.type == "content_block_delta"
    return texts
