"""A vendor that only streams: one prepared answer of many small chunks, each written by itself. Run as a process."""

import asyncio
import json
import sys

CHUNKS = 2000


def chat_answer() -> list[bytes]:
    def event(delta: dict[str, str], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    words = [event({"content": f" word{number}"}) for number in range(CHUNKS)]
    return [event({"role": "assistant", "content": ""}), *words, event({}, "stop"), b"data: [DONE]\n\n"]


def anthropic_answer() -> list[bytes]:
    def event(name: str, **fields: object) -> bytes:
        return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()

    usage = {"input_tokens": 3, "output_tokens": 1}
    nothing: list[object] = []
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": nothing,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    words = [
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": f" word{number}"})
        for number in range(CHUNKS)
    ]
    return [
        event("message_start", message=message),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        *words,
        event("content_block_stop", index=0),
        event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 9}),
        event("message_stop"),
    ]


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    answers = {b"chat": chat_answer(), b"messages": anthropic_answer()}
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(length)
            path = head.split(b" ", 2)[1]
            answer = answers[b"messages" if path.endswith(b"/messages") else b"chat"]
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for event in answer:
                writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
                await writer.drain()
                await asyncio.sleep(0)  # noqa: TID251 - each event leaves by itself, as from a model
            writer.write(b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    sys.stdout.write(f"is ready: http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
