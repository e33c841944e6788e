"""Runs the benchmarks, or those that are named: `make bench ARGS="start requests"`."""

import asyncio
import sys

from bench import chunks, databases, execute, hints, locks, relay, requests, start, stream, transitions, turn
from bench.web import keystrokes, paint, sizes

BENCHMARKS = {
    "start": start.main,
    "requests": requests.main,
    "hints": hints.main,
    "databases": databases.main,
    "transitions": transitions.main,
    "locks": locks.main,
    "chunks": chunks.main,
    "turn": turn.main,
    "stream": stream.main,
    "relay": relay.main,
    "execute": execute.main,
    "web-sizes": sizes.main,
    "web-paint": paint.main,
    "web-keystrokes": keystrokes.main,
}


def main() -> int:
    asked = sys.argv[1:] or list(BENCHMARKS)
    if unknown := set(asked) - set(BENCHMARKS):
        print(f"unknown: {', '.join(sorted(unknown))}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    for name in asked:
        print(f"── {name}", flush=True)
        asyncio.run(BENCHMARKS[name]())
    return 0


sys.exit(main())
