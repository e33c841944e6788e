"""The shape of a `.mcp.json`, checked; of what is in it, only names and transports are told. Pure."""

import msgspec

from chatd.wire.agent.context import McpServer, McpTransport


class _Server(msgspec.Struct, frozen=True):
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    type: McpTransport | None = None
    url: str | None = None
    headers: dict[str, str] = {}


class _File(msgspec.Struct, frozen=True):
    mcp_servers: dict[str, _Server] = msgspec.field(name="mcpServers", default={})


class BadConfig(ValueError):
    """The text says what is wrong, without any value of the file."""


def servers_of(content: bytes) -> tuple[McpServer, ...]:
    """Raises BadConfig; one bad server makes the whole file bad."""
    try:
        file = msgspec.json.decode(content, type=_File)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        # The error of msgspec may show a value, so it is not passed on.
        raise BadConfig('It is not JSON of the form {"mcpServers": {"NAME": {...}}}.') from None
    return tuple(McpServer(name, _transport(name, server)) for name, server in sorted(file.mcp_servers.items()))


def _transport(name: str, server: _Server) -> McpTransport:
    if not name or "__" in name or name.startswith("_") or name.endswith("_"):
        raise BadConfig("A name of a server is empty, has two underscores in it, or one at its beginning or end.")
    transport = server.type or (McpTransport.STDIO if server.command else McpTransport.HTTP)
    if transport is McpTransport.STDIO and not server.command:
        raise BadConfig("A server has the type stdio, but no command.")
    if transport is not McpTransport.STDIO and not server.url:
        raise BadConfig("A server has neither a command nor an address.")
    return transport
