"""Posts to a vendor as the hosts do, for tests of the transport."""

import asyncio

import pytest

from chatd.providers.transport import OutboundRequest, Transport, TransportFault
from providers.raw_vendor import chunk, head, says

WAIT_SECONDS = 30.0  # of real time, for what takes milliseconds
WHOLE = says(head(), chunk(b"hello"), chunk(b""))


def request(url: str, **headers: str) -> OutboundRequest:
    return OutboundRequest(url, b"{}", headers)


async def body(transport: Transport, asked: OutboundRequest) -> bytes:
    async with asyncio.timeout(WAIT_SECONDS), transport.post(asked) as response:
        return await response.read()


async def fault(transport: Transport, asked: OutboundRequest) -> TransportFault:
    with pytest.raises(TransportFault) as caught:
        await body(transport, asked)
    return caught.value
