"""`chatd llm-mock`: a scripted model vendor as a process, for load tests and for trying things without a key."""

import asyncio
import signal
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chatd.core.errors import StartRefused

if TYPE_CHECKING:
    from chatd.testing.vendors.asked import Asked
    from chatd.testing.vendors.script import Answer, Answering

_PORT: Final = 7099
_FAILURE: Final = 503  # what every vendor says when it has too much to do


def register(app: typer.Typer) -> None:
    app.command("llm-mock")(llm_mock)


def llm_mock(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.")] = _PORT,
    reply: Annotated[str, typer.Option(help="What every answer says. Without it, answers repeat the question.")] = "",
    chunks: Annotated[int, typer.Option(min=1, help="In how many pieces an answer is streamed.")] = 10,
    delay_ms: Annotated[float, typer.Option(min=0, help="Milliseconds to wait before each event.")] = 0.0,
    key: Annotated[str, typer.Option(help="The only API key that it takes. Without it, any or none will do.")] = "",
    error_rate: Annotated[float, typer.Option(min=0, max=1, help="The part of requests that fail with 503.")] = 0.0,
) -> None:
    """Run a model vendor that follows a script. It speaks all protocols and refuses what the real vendors refuse."""
    answer = answering(reply, chunks=chunks, delay=delay_ms / 1000, error_rate=error_rate)
    asyncio.run(_serve(host, port, key or None, answer))


async def _serve(host: str, port: int, key: str | None, answer: "Answering") -> None:
    from chatd.testing.vendors.server import vendor_server

    stopped = asyncio.Event()
    for stop in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(stop, stopped.set)
    try:
        async with vendor_server(answer, key=key, host=host, port=port, kept_requests=0) as vendor:
            print(f"anthropic  {vendor.url}")
            print(f"openai     {vendor.url}/v1")
            print(f"google     {vendor.url}/v1beta")
            print(f"bedrock    {vendor.url}", flush=True)
            await stopped.wait()
    except OSError as error:
        raise StartRefused(
            f"Can't listen on {host}, port {port}: {error.strerror or error}.",
            detail="Stop what uses it, or choose another port: chatd llm-mock --port 7100",
        ) from error


def answering(reply: str, *, chunks: int, delay: float, error_rate: float) -> "Answering":
    """Answers alike, and fails evenly: with a rate of 0.25 it is every fourth request."""
    from chatd.testing.vendors.script import Delay, Refuse, Say, Turn

    due = 0.0

    def answer(asked: "Asked") -> "Answer":
        nonlocal due
        due += error_rate
        if due >= 1:
            due -= 1
            return Refuse(_FAILURE, "The scripted vendor was told to fail.")
        faults = [Delay(delay, before_event=None)] if delay else []
        return Turn(Say(*_pieces(reply or asked.last_text or "Hello.", chunks)), faults=faults)

    return answer


def _pieces(text: str, count: int) -> list[str]:
    """The text in so many pieces, or in as many as it has characters."""
    count = min(count, len(text))
    return [text[len(text) * n // count : len(text) * (n + 1) // count] for n in range(count)]
