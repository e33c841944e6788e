"""What is typed at a terminal, message by message, while other things happen."""

import asyncio
import os
import select
from collections.abc import AsyncGenerator
from typing import Final

_AT_ONCE: Final = 4096  # bytes: the longest line that a terminal takes
_LONGEST: Final = 256 * 1024  # bytes: the longest message that a server takes


async def typed_lines(terminal: int) -> AsyncGenerator[str]:
    """Ends with Ctrl-D. Lines that come together, as when they are pasted, are one message; blank ones are none."""
    while await _is_readable(terminal):
        typed = bytearray()
        is_over = False
        while len(typed) < _LONGEST and select.select([terminal], [], [], 0)[0]:
            try:
                piece = os.read(terminal, _AT_ONCE)
            except OSError:  # the terminal is gone
                piece = b""
            if not piece:
                is_over = True
                break
            typed += piece
        text = typed.decode(errors="replace").strip()
        if text:
            yield text
        if is_over:
            return


async def _is_readable(terminal: int) -> bool:
    """Once it is. A reader that stays would be called again and again while a message is being sent."""
    loop = asyncio.get_running_loop()
    readable: asyncio.Future[bool] = loop.create_future()
    loop.add_reader(terminal, lambda: readable.done() or readable.set_result(True))
    try:
        return await readable
    finally:
        loop.remove_reader(terminal)
