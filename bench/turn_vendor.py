"""A vendor for turns: the same short answer to all, chunk by chunk, as slowly as the path says. Run as a process.

`/5/v1/chat/completions` answers with 20 chunks, 5 ms apart; `/0/...` as fast as it can.
"""

import asyncio
import json
import sys

from bench.cores import OTHERS, pin

CHUNKS = 20
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def answer() -> list[bytes]:
    """As HTTP chunks. The text is of about the length of a model's tokens."""

    def event(**fields: object) -> bytes:
        body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **fields}
        line = b"data: " + json.dumps(body).encode() + b"\n\n"
        return b"%x\r\n%b\r\n" % (len(line), line)

    def said(delta: dict[str, str], finish: str | None = None) -> bytes:
        return event(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])

    words = [said({"content": f" word{number}"}) for number in range(CHUNKS - 1)]
    usage = {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70}
    # What ends an answer comes at once after its last word.
    last = said({"content": "."}) + said({}, "stop") + event(choices=[], usage=usage) + b"e\r\ndata: [DONE]\n\n\r\n"
    return [*words, last]


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    chunks = answer()
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.lower().split(b"\r\n")
            length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), None)
            if length is not None:
                await reader.readexactly(length)
            else:
                await reader.readuntil(b"0\r\n\r\n")
            pause = int(head.split(b"/", 2)[1]) / 1000
            writer.write(_HEAD)
            for chunk in chunks:
                await asyncio.sleep(pause)  # noqa: TID251 - a model takes its time
                writer.write(chunk)
            writer.write(b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    pin(OTHERS)
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=4096)
    sys.stdout.write(f"is ready: http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
