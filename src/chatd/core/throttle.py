"""How often a login may fail before it must wait: by account and address together, by address, by account."""

import hashlib
from datetime import timedelta
from ipaddress import IPv6Address, ip_address
from typing import Final

import msgspec

FORGET_AFTER: Final = timedelta(hours=24)  # a day without a failure clears the count
LONGEST_PAUSE: Final = timedelta(minutes=15)  # slow enough to stop guessing, short enough to wait out

_FREE_PER_PAIR: Final = 5  # a person who mistypes
_FREE_PER_ADDRESS: Final = 30  # an office behind one address
_FREE_PER_ACCOUNT: Final = 100  # high, or anyone could lock anyone out
_ONE_SUBSCRIBER: Final = 64  # bits of an IPv6 address; the rest is the subscriber's to choose


class Subject(msgspec.Struct, frozen=True):
    """What an attempt counts against. Success clears it, or, if it stands for many people, takes back one failure."""

    name: str
    free_failures: int
    is_cleared: bool


def by_login(login: str, address: str) -> list[Subject]:
    """The account is hashed: the table must not become a list of what people typed into the name field."""
    account = hashlib.sha256(login.strip().lower().encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return [
        Subject(f"pair:{account}:{subscriber(address)}", _FREE_PER_PAIR, is_cleared=True),
        by_address(address),
        Subject(f"account:{account}", _FREE_PER_ACCOUNT, is_cleared=True),
    ]


def by_address(address: str) -> Subject:
    return Subject(f"address:{subscriber(address)}", _FREE_PER_ADDRESS, is_cleared=False)


def subscriber(address: str) -> str:
    """Who is behind an address, as far as it tells: of IPv6 the network, of IPv4 written as IPv6 the IPv4 address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Address(int(parsed) >> (128 - _ONE_SUBSCRIBER) << (128 - _ONE_SUBSCRIBER)))
