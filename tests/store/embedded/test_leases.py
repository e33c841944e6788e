"""Who holds Postgres: heard however long the files took, dropped when it does not read; the logs stay bounded."""

import asyncio
import json
import os
import selectors
import socket

import asyncpg

from chatd.clock import SystemClock
from chatd.store.embedded import embedded_postgres
from chatd.store.embedded_lease import _start_keeper, wait_stopped
from chatd.store.keeper.leases import HOLD, Leases
from chatd.store.keeper.options import KeeperLimits, KeeperOptions
from chatd.store.keeper.paths import DataDirectory
from chatd.store.postgres_binaries import find_binaries
from store.embedded.stand_ins import stand_ins

FAST = {"fsync": "off"}


async def test_a_server_that_waits_while_the_files_are_made_is_heard(data_dir):
    """initdb goes on only after the server has spoken, and the keeper has no patience at all."""
    go = data_dir.parent / "go"
    os.mkfifo(go)
    go.chmod(0o644)
    programs = stand_ins(data_dir.parent, initdb=f'[ "$1" = --version ] || read line < "{go}"')
    options = KeeperOptions(
        data_dir=str(data_dir),
        binaries=str(programs),
        postgres_version=find_binaries().version,
        settings=FAST,
        limits=KeeperLimits(first_server_within=0),
    )
    directory, clock = DataDirectory(data_dir), SystemClock()
    gate = os.open(go, os.O_RDWR)
    connections: list[asyncio.StreamWriter] = []
    try:
        await asyncio.to_thread(_start_keeper, directory, lambda: options)
        connections.append((await asyncio.open_unix_connection(directory.keeper_address()))[1])  # only looks
        reader, writer = await asyncio.open_unix_connection(directory.keeper_address())
        connections.append(writer)
        writer.write(HOLD)
        os.write(gate, b"go\n")
        states: list[str] = []
        async with clock.timeout(30, timer="test"):
            while "ready" not in states and (line := await reader.readline()):
                states.append(json.loads(line)["state"])
        assert states == ["starting", "ready"]
    finally:
        os.close(gate)
        for connection in connections:
            connection.close()
            await connection.wait_closed()
    await wait_stopped(data_dir, clock)


def test_a_server_that_does_not_read_loses_its_lease(tmp_path):
    selector = selectors.DefaultSelector()
    leases = Leases(DataDirectory(tmp_path), selector)
    leases.open()

    def hear():
        for key, _ in selector.select(5):
            key.data()

    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as deaf,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as reading,
    ):
        for server in (deaf, reading):
            server.connect(DataDirectory(tmp_path).keeper_address())
            server.send(HOLD)
        while leases.held < 2:
            hear()
        for _ in range(1_000):  # 4 MB: no kernel holds that much for a local connection
            leases.tell({"state": "restarting", "reason": "x" * 4_000})
            reading.recv(10_000)
            if leases.held < 2:
                break
        assert leases.held == 1
        leases.tell({"state": "ready"})
        assert json.loads(reading.recv(10_000)) == {"state": "ready"}
        reading.close()
        hear()
        assert leases.held == 0
    leases.close_door()
    selector.close()


async def test_the_log_of_postgres_is_bounded(data_dir, until):
    log, older = data_dir / "postgres" / "postgres.log", data_dir / "postgres" / "postgres.log.1"
    limits = KeeperLimits(check_every=0.1)
    async with embedded_postgres(data_dir, clock=SystemClock(), server_settings=FAST, limits=limits) as postgres:
        with log.open("a") as much:
            much.write("much\n" * 2_000_001)
        await until(lambda: older.exists() and log.stat().st_size < 10_000_000)
        assert 10_000_000 < older.stat().st_size < 11_000_000
        connection = await asyncpg.connect(postgres.dsn)
        await connection.execute("DO $$ BEGIN RAISE WARNING 'still heard'; END $$")
        await connection.close()
        await until(lambda: "still heard" in log.read_text())
