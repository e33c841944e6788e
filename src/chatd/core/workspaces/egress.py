"""Where a workspace may connect to: a list of hosts, and what is on it."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

_PORTS: Final = frozenset({80, 443})  # of an entry that names none
_LARGEST_PORT: Final = 65535
_ENTRY: Final = re.compile(r"(\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?")


class HostRule(msgspec.Struct, frozen=True):
    """`host` is a name, `*.` and a name (all below it, not itself), an address, or `*`. Without a port: 80 and 443."""

    host: str
    port: int | None = None


def parse_rule(text: str) -> HostRule:
    """`example.org`, `*.example.org`, `example.org:8080`, `[2001:db8::1]`, `*`, `*:22`. Raises ValueError."""
    found = _ENTRY.fullmatch(_plain(text))
    if found is None:
        raise ValueError(f"{text!r} is not a host: give example.org, *.example.org, example.org:8080 or *.")
    port = int(found[2]) if found[2] else None
    if port is not None and not 0 < port <= _LARGEST_PORT:
        raise ValueError(f"{text!r} has no port between 1 and {_LARGEST_PORT}.")
    return HostRule(found[1].strip("[]"), port)


def is_listed(rules: Sequence[HostRule], host: str, port: int) -> bool:
    """Whether the list has this host and port. What the name means is to be judged when it is looked up."""
    asked = _plain(host).strip("[]")
    return any(_is_of(rule, asked, port) for rule in rules)


def _is_of(rule: HostRule, host: str, port: int) -> bool:
    if port not in (_PORTS if rule.port is None else {rule.port}):
        return False
    if rule.host == "*":
        return True
    if rule.host.startswith("*."):
        return host.endswith(rule.host[1:]) and len(host) > len(rule.host) - 1
    return host == rule.host


def _plain(host: str) -> str:
    """Names are the same in capitals, and with the dot of the root at their end."""
    return host.strip().lower().removesuffix(".")
