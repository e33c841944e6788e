"""How the events of an answer leave the server: whole, or with the faults of the script."""

import asyncio
from collections.abc import Mapping, Sequence

from chatd.clock import Clock
from chatd.testing.vendors.dialect import Dialect
from chatd.testing.vendors.http_exchange import Outgoing
from chatd.testing.vendors.script import Cut, Delay, Drip, Fail, Fault, Garbage, Hold, Silence

TIMER = "scripted vendor"


class Dropped(Exception):
    """The connection is to be closed without another word."""


class Delivery:
    """One answer on its way out. Raises Dropped where the script breaks the connection."""

    def __init__(self, out: Outgoing, dialect: Dialect, faults: Sequence[Fault], clock: Clock) -> None:
        self._out = out
        self._dialect = dialect
        self._faults = faults
        self._clock = clock
        self._sent = 0

    async def run(self, frames: Sequence[bytes], *, content_type: str, headers: Mapping[str, str]) -> None:
        if any(isinstance(fault, Silence) and fault.after_events == 0 for fault in self._faults):
            await self._silent()
        await self._wait(0)
        await self._out.begin(content_type=content_type, headers=headers)
        for number, frame in enumerate(frames):
            if number:
                await self._wait(number)
            if await self._before(number):
                return
            if await self._send(frame):
                return
        if not await self._before(len(frames)):
            await self._out.end()

    async def _wait(self, number: int) -> None:
        for fault in self._faults:
            match fault:
                case Delay(seconds, before) if before in (None, number):
                    await self._clock.sleep(seconds, timer=TIMER)
                case Hold(until, before) if before == number:
                    await self._hold(until)
                case _:
                    pass

    async def _before(self, number: int) -> bool:
        """What is to happen after so many events; whether the answer is over."""
        for fault in self._faults:
            match fault:
                case Silence(after) if after == number:
                    await self._silent()
                case Garbage(data, after) if after == number:
                    await self._out.send(data)
                case Fail(message, kind, after) if after == number:
                    await self._out.send(self._dialect.failed(message, kind))
                    await self._out.end()
                    return True
                case Cut(after_events=after) if after == number:
                    return await self._cut(fault)
                case _:
                    pass
        return False

    async def _send(self, frame: bytes) -> bool:
        """Whether the answer is over."""
        for fault in self._faults:
            if isinstance(fault, Cut) and fault.after_bytes is not None and self._sent + len(frame) > fault.after_bytes:
                await self._out.send(frame[: fault.after_bytes - self._sent])
                return await self._cut(fault)
        self._sent += len(frame)
        drip = next((fault for fault in self._faults if isinstance(fault, Drip)), None)
        if drip is None:
            await self._out.send(frame)
            return False
        for start in range(0, len(frame), drip.bytes):
            await self._out.send(frame[start : start + drip.bytes])
            await self._clock.sleep(drip.seconds, timer=TIMER)
        return False

    async def _cut(self, cut: Cut) -> bool:
        if cut.reset:
            self._out.reset()
            raise Dropped
        await self._out.end()
        return True

    async def _silent(self) -> None:
        await self._out.until_hung_up()
        raise Dropped

    async def _hold(self, until: asyncio.Event) -> None:
        """Until the test says so, or the client gives up."""
        async with asyncio.TaskGroup() as group:
            held = group.create_task(until.wait())
            gone = group.create_task(self._out.until_hung_up())
            await asyncio.wait((held, gone), return_when=asyncio.FIRST_COMPLETED)
            over = gone.done()
            held.cancel()
            gone.cancel()
        if over:
            raise Dropped
