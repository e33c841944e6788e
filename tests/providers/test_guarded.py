"""Addresses that users give: only public ones are asked, whatever name leads to them, proxy or not."""

import pytest

from chatd.core.failure import Fault
from chatd.core.secret import Secret
from chatd.providers.guarded import Allowed, GuardedClient, open_guarded
from chatd.providers.network import ForbiddenAddress
from chatd.providers.transport import TransportFault
from providers.posting import WHOLE
from providers.raw_vendor import says, vendor

PRIVATE = [
    "127.0.0.1",
    "0.0.0.0",  # noqa: S104
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.1.1",
    "169.254.169.254",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1%eth0",
    "fd00::1",
    "fec0::1",
    "ff02::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
]
PUBLIC = ["1.1.1.1", "142.250.1.1", "2a00:1450::1", "::ffff:1.1.1.1", "64:ff9b::101:101"]


async def _fault(client: GuardedClient, url: str) -> TransportFault:
    with pytest.raises(TransportFault) as raised:
        await client.post(url, b"x", {})
    return raised.value


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_public_is_refused(address: str):
    with pytest.raises(ForbiddenAddress):
        Allowed().check(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_not(address: str):
    Allowed().check(address)


def test_the_operator_can_allow_networks_but_no_address_that_gives_out_credentials():
    allowed = Allowed(["10.0.0.0/8", "169.254.0.0/16"])
    allowed.check("10.1.2.3")
    allowed.check("::ffff:10.1.2.3")

    for address in ("192.168.1.1", "169.254.169.254"):
        with pytest.raises(ForbiddenAddress):
            allowed.check(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_connection_to_such_an_address_is_not_made(host: str):
    async with vendor(WHOLE) as (running, _), open_guarded(Allowed()) as client:
        told = await _fault(client, running.url.replace("127.0.0.1", host))

    assert told.fault is Fault.ADDRESS
    assert running.connections == 0


async def test_what_is_allowed_is_asked_and_its_redirect_is_an_answer():
    redirect = says(b"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
    async with vendor(redirect) as (running, _), open_guarded(Allowed(["127.0.0.0/8"])) as client:
        reply = await client.post(running.url, b"x", {"X-Some": "thing"})

    assert (reply.status, running.connections) == (307, 1)


async def test_through_a_proxy_names_that_lead_to_such_an_address_are_refused_and_unknown_ones_are_the_proxys():
    async with vendor(WHOLE) as (running, _):
        proxy = Secret(running.url.removesuffix("/v1"))
        async with open_guarded(Allowed(), proxy=proxy) as client:
            private = await _fault(client, "http://10.0.0.1/x")
            reply = await client.post("http://push.invalid/x", b"x", {})

    assert private.fault is Fault.ADDRESS
    assert (reply.status, running.connections) == (200, 1)


@pytest.mark.parametrize("url", ["ftp://push.example.com/", "https://", "https://a..b/", "nothing"])
async def test_what_is_no_address_is_said_to_be_none(url: str):
    async with open_guarded(Allowed()) as client:
        assert (await _fault(client, url)).fault in (Fault.ADDRESS, Fault.DNS)
