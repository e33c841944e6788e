"""Ports on which programs of a workspace listen."""

import msgspec


class ListeningPort(msgspec.Struct, frozen=True, kw_only=True):
    """`address` is that of the socket: 0.0.0.0 or :: for all. `command` is the process's command line, cut short."""

    port: int
    address: str
    pid: int
    command: str


class Ports(msgspec.Struct, frozen=True):
    ports: tuple[ListeningPort, ...]
