"""The connections to the keeper: each is the lease of one server, ended by the kernel when it dies."""

import json
import selectors
import socket
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from chatd.store.keeper.paths import DataDirectory, fits

HOLD = b"hold\n"  # what a server says first; who says nothing only looked whether anybody listens
_MOST_CONNECTIONS = 256  # more servers than connections that Postgres gives
_QUEUE = 128  # servers that start together while the keeper makes the database files


class Leases:
    """Listens, counts the servers, tells every one of them each change of state. Never blocks."""

    def __init__(self, directory: DataDirectory, selector: selectors.BaseSelector) -> None:
        self._directory = directory
        self._selector = selector
        self._listener: socket.socket | None = None
        self._address: Path | None = None
        self._holding: dict[socket.socket, bool] = {}
        self._line = b""
        self.ever_held = False

    @property
    def held(self) -> int:
        return sum(self._holding.values())

    def open(self) -> None:
        """Listen; only the holder of the keeper's lock may, so that what it replaces is stale."""
        self._directory.socket.unlink(missing_ok=True)
        address = self._directory.socket
        if not fits(address):
            address = self._directory.short_folder() / "keeper.sock"
            address.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.setblocking(False)
        listener.bind(str(address))
        address.chmod(0o600)
        listener.listen(_QUEUE)
        if address != self._directory.socket:
            self._directory.socket.symlink_to(address)
        self._listener, self._address = listener, address
        self._selector.register(listener, selectors.EVENT_READ, self._accept)

    def close_door(self) -> None:
        """Take no more servers: who comes now starts a new keeper, which waits for our end."""
        if self._listener is None or self._address is None:
            return
        self._directory.socket.unlink(missing_ok=True)
        self._address.unlink(missing_ok=True)
        self._selector.unregister(self._listener)
        self._listener.close()
        self._listener = None

    def tell(self, state: Mapping[str, object]) -> None:
        """Send a state to every server now, and to later ones when they come."""
        self._line = json.dumps(state).encode() + b"\n"
        for connection in [one for one, holds in self._holding.items() if holds]:
            self._send(connection)

    def _accept(self) -> None:
        """Everybody who waits, so that nobody is judged absent because of others before it."""
        assert self._listener is not None
        for _ in range(_QUEUE):
            try:
                connection, _ = self._listener.accept()
            except OSError:  # nobody left, or it gave up while it was queued
                return
            if len(self._holding) >= _MOST_CONNECTIONS:
                connection.close()
                continue
            connection.setblocking(False)
            self._holding[connection] = False
            self._selector.register(connection, selectors.EVENT_READ, partial(self._read, connection))

    def _read(self, connection: socket.socket) -> None:
        try:
            said = connection.recv(len(HOLD))
        except BlockingIOError:
            return
        except OSError:
            said = b""
        if not said:
            self._drop(connection)
        elif said == HOLD and not self._holding[connection]:
            self._holding[connection] = True
            self.ever_held = True
            if self._line:
                self._send(connection)

    def _send(self, connection: socket.socket) -> None:
        """The kernel's buffer is the only one: a server that does not read loses its lease."""
        try:
            whole = connection.send(self._line) == len(self._line)
        except OSError:
            whole = False
        if not whole:
            self._drop(connection)

    def _drop(self, connection: socket.socket) -> None:
        if self._holding.pop(connection, None) is not None:
            self._selector.unregister(connection)
            connection.close()
