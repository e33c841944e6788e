"""`chatd llm-mock` as a process of its own."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import aiohttp

WAIT_SECONDS = 30.0  # of real time, for what takes a second on an idle machine
BODY = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello there"}]}


@asynccontextmanager
async def llm_mock(*options: str) -> AsyncGenerator[dict[str, str]]:
    """Its addresses by vendor. It ends well when it is told to."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "chatd", "llm-mock", "--port", "0", *options, stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            assert process.stdout is not None
            lines = [(await process.stdout.readline()).decode() for _ in range(4)]
            yield dict(line.split(maxsplit=1) for line in lines)
            process.terminate()
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ask(url: str, session: aiohttp.ClientSession, key: str = "any") -> tuple[int, list[str]]:
    headers = {"Authorization": f"Bearer {key}"}
    async with session.post(url.strip() + "/chat/completions", json=BODY, headers=headers) as response:
        events = (await response.text()).split("\n\n")
    choices = [choice for event in events if event.startswith("data: {") for choice in json.loads(event[6:])["choices"]]
    return response.status, [choice["delta"]["content"] for choice in choices if choice["delta"].get("content")]


async def test_it_repeats_the_question_in_pieces():
    async with llm_mock("--chunks", "3", "--delay-ms", "1") as urls, aiohttp.ClientSession() as session:
        answer = await ask(urls["openai"], session)

    assert list(urls) == ["anthropic", "openai", "google", "bedrock"]
    assert answer == (200, ["hel", "lo t", "here"])


async def test_it_fails_as_often_as_it_is_told_to():
    async with llm_mock("--reply", "ok", "--error-rate", "0.5") as urls, aiohttp.ClientSession() as session:
        statuses = [(await ask(urls["openai"], session))[0] for _ in range(4)]

    assert statuses == [200, 503, 200, 503]


async def test_it_takes_the_key_that_it_is_given_and_no_other():
    async with llm_mock("--key", "sk-mock") as urls, aiohttp.ClientSession() as session:
        statuses = [(await ask(urls["openai"], session, key))[0] for key in ("sk-mock", "sk-other")]

    assert statuses == [200, 401]


async def test_a_port_that_is_taken_is_told_in_words():
    async with llm_mock() as urls:
        port = urls["anthropic"].strip().rsplit(":", 1)[1]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "chatd", "llm-mock", "--port", port, stderr=asyncio.subprocess.PIPE
        )
        _, said = await process.communicate()

    assert process.returncode == 1
    assert said.decode().startswith(f"chatd: Can't listen on 127.0.0.1, port {port}")
