"""`chatd serve` as people run it: the first start, deaths of any of its processes, several replicas, refusals."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from chatd.cli.same_database import same_database
from chatd.server.settings import SETTINGS, load_settings
from cli.running import (
    PASSWORD,
    WAIT_SECONDS,
    Server,
    chatd,
    parent_of,
    processes_of,
    serving,
    until_ended,
    until_no_process_of,
)

ME = "/api/v2/users/me"
CHATS = "/api/experimental/chats"


def _all(what: str, data_dir: Path) -> list[int]:
    """The processes of a kind, without the forks of one that still carry its command line."""
    found = [pid for pid, command in processes_of(data_dir).items() if what in command]
    return [pid for pid in found if parent_of(pid) not in found]


def _the(what: str, data_dir: Path) -> int:
    (pid,) = _all(what, data_dir)
    return pid


async def _until_another(what: str, pid: int, server: Server, data_dir: Path) -> None:
    """Until a process has its successor: before, the old one or a child of it may still answer that all is well."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not set(_all(what, data_dir)) - {pid}:
            await server.call("GET", "/healthz")


async def test_a_first_start_shows_how_to_go_on_and_the_second_finds_everything(data_dir: Path):
    async with serving(data_dir) as server:
        token = await server.create_first_user()
        said = server.said
    async with serving(data_dir) as again:
        status, user = await again.call("GET", ME, token=token)
        said_again = again.said

    assert "There is no user yet" in said
    assert f"user create --email you@example.com --username you --data-dir {data_dir}\n" in said
    assert sum(line.startswith("  ") and "   " in line.strip() for line in said.partition("Next:")[2].splitlines()) == 4
    assert "There is no user yet" not in said_again
    assert (status, user["username"]) == (200, "ada")


@pytest.mark.parametrize(
    ("flags", "environ", "before", "after", "variables"),
    [
        ({}, {}, "", "", ()),
        ({"data_dir": "my data"}, {}, "", " --data-dir '{cwd}/my data'", ()),
        ({}, {"CHATD_DATA_DIR": "d"}, "", " --data-dir {cwd}/d", ()),
        ({"config": "other.toml"}, {}, "", " --config {cwd}/other.toml", ()),
        ({}, {"CHATD_CONFIG": "other.toml"}, "", " --config {cwd}/other.toml", ()),
        ({"database_url": "postgresql://db/x"}, {}, "CHATD_DATABASE_URL=postgresql://db/x ", "", ()),
        ({}, {"CHATD_DATABASE_URL": "postgresql://u:secret@db/x"}, "", "", ("CHATD_DATABASE_URL",)),
    ],
)
def test_the_command_for_the_first_user_reaches_the_same_database(
    tmp_path: Path, flags: dict[str, str], environ: dict[str, str], before: str, after: str, variables: tuple[str, ...]
):
    (tmp_path / "other.toml").write_text('data_dir = "elsewhere"')

    same = same_database(load_settings(environ=environ, flags=flags, cwd=tmp_path), cwd=tmp_path)

    assert same.command("chatd") == f"{before}chatd{after.format(cwd=tmp_path)}"
    assert same.variables == variables


async def test_a_killed_server_leaves_no_process_and_loses_nothing(data_dir: Path):
    async with serving(data_dir) as server:
        token = await server.create_first_user()
        server.kill()
        await server.ended()
        await until_no_process_of(data_dir)
    async with serving(data_dir) as again:
        assert (await again.call("GET", ME, token=token))[0] == 200


@pytest.mark.parametrize("victim", ["chatd.store.keeper", "bin/postgres"])
async def test_a_server_survives_the_death_of_its_postgres_and_of_its_keeper(data_dir: Path, victim: str):
    async with serving(data_dir) as server:
        token = await server.create_first_user()
        pid, postgres = _the(victim, data_dir), _the("bin/postgres", data_dir)
        os.kill(pid, signal.SIGKILL)
        await until_ended(pid)
        await _until_another("bin/postgres", postgres, server, data_dir)
        await server.until_well()
        status, user = await server.call("GET", ME, token=token)
        await server.sign_in()
        assert (status, user["username"]) == (200, "ada")
        assert _the(victim, data_dir) != pid


async def test_all_three_killed_at_once_come_back_with_everything(data_dir: Path):
    async with serving(data_dir) as server:
        token = await server.create_first_user()
        for pid in [_the("chatd.store.keeper", data_dir), _the("bin/postgres", data_dir)]:
            os.kill(pid, signal.SIGKILL)
        server.kill()
        await server.ended()
    await until_no_process_of(data_dir)
    async with serving(data_dir) as again:
        assert (await again.call("GET", ME, token=token))[0] == 200


async def test_a_stop_signal_ends_the_server_well(data_dir: Path):
    async with serving(data_dir) as server:
        server.kill(signal.SIGINT)
        code = await server.ended()

    assert code == 0
    stopping, _, stopped = server.said.rpartition("Stopping. Turns under way have up to ")[2].partition("\n")
    assert "Ctrl-C again ends it now." in stopping
    assert "chatd has stopped." in stopped


@pytest.mark.parametrize("replicas", ["1", "2"])
async def test_a_second_stop_signal_waits_for_no_turn_and_loses_nothing(replicas: str, database: Any, data_dir: Path):
    environ = {"CHATD_DATABASE_URL": database.dsn, "CHATD_DRAIN_SECONDS": "3600"}
    async with asyncio.timeout(WAIT_SECONDS), serving(data_dir, "--replicas", replicas, **environ) as server:
        token = await server.create_first_user()
        body = {"content": [{"type": "text", "text": "count to 999"}]}
        status, chat = await server.call("POST", CHATS, body, token=token)
        assert status == 201, chat
        connection = await asyncpg.connect(database.dsn)
        try:
            while not await connection.fetchval("SELECT count(*) FROM chat_checkpoints"):
                await server.call("GET", "/healthz")
            server.kill(signal.SIGINT)
            await server.until_said("Ctrl-C again ends it now")
            server.kill(signal.SIGINT)
            code = await server.ended()
            row = await connection.fetchrow("SELECT status, replica_id FROM chat_state")
            assert row is not None
            kept = await connection.fetchval("SELECT count(*) FROM chat_checkpoints")
            replicas_left = await connection.fetchval("SELECT count(*) FROM replicas")
        finally:
            await connection.close()

    assert code == 0
    assert "chatd has stopped." in server.said
    assert "Traceback" not in server.said
    assert (row["status"], row["replica_id"]) == ("running", None), "whoever starts next goes on with it"
    assert kept > 0
    assert replicas_left == 0


async def test_several_replicas_share_the_port_and_a_dead_one_is_replaced(data_dir: Path):
    async with serving(data_dir, "--replicas", "2") as server:
        token = await server.create_first_user()
        children = set(_children(server.process.pid))
        assert len(children) == 2
        os.kill(children.pop(), signal.SIGKILL)
        for _ in range(10):
            assert (await server.call("GET", ME, token=token))[0] == 200
        async with asyncio.timeout(60):
            while len(set(_children(server.process.pid)) - children) < 1:
                assert (await server.call("GET", ME, token=token))[0] == 200


async def test_the_lease_of_a_replica_that_is_killed_ends_at_once(database: "object", data_dir: Path):
    """Its parent saw it die: nobody waits until it has been silent for a lease."""
    dsn: str = database.dsn  # type: ignore[attr-defined]
    async with serving(data_dir, "--replicas", "2", CHATD_DATABASE_URL=dsn) as server:
        connection = await asyncpg.connect(dsn)
        try:
            victim = await _replica_with_a_row(connection, _children(server.process.pid))
            os.kill(victim, signal.SIGKILL)
            async with asyncio.timeout(WAIT_SECONDS):
                while not await connection.fetchval(
                    "SELECT heartbeat_at < beating_since FROM replicas WHERE pid = $1",  # as no beat of its own is
                    victim,
                ):
                    await server.call("GET", "/healthz")
        finally:
            await connection.close()
    connection = await asyncpg.connect(dsn)
    left = [row["pid"] for row in await connection.fetch("SELECT pid FROM replicas")]
    await connection.close()
    assert left == [victim]  # the others ended well and removed theirs


async def _replica_with_a_row(connection: "asyncpg.Connection[asyncpg.Record]", pids: list[int]) -> int:
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            pid = await connection.fetchval("SELECT pid FROM replicas WHERE pid = ANY ($1) LIMIT 1", pids)
            if pid is not None:
                return pid


def _children(parent: int) -> list[int]:
    """The replicas of a parent: python processes, not the `env` that starts them."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if parent_of(int(entry.name)) == parent and state != "Z" and b"serve" in command:
                found.append(int(entry.name))
    return found


async def test_a_port_in_use_is_refused_with_what_to_do(data_dir: Path):
    async with serving(data_dir) as server:
        port = server.url.rpartition(":")[2]
        refused = await chatd("serve", "--port", port, "--data-dir", str(data_dir), cwd=data_dir.parent)

    assert refused.code == 1
    assert f"port {port}" in refused.err
    assert "another port" in refused.err
    assert "Traceback" not in refused.err


async def test_a_database_that_can_not_be_reached_is_refused_without_its_password(data_dir: Path):
    url = "postgresql://me:hunter2@127.0.0.1:1/none"
    refused = await chatd("serve", "--port", "0", cwd=data_dir.parent, CHATD_DATABASE_URL=url)

    assert refused.code == 1
    assert "can't be reached" in refused.err
    assert "hunter2" not in refused.err
    assert "Traceback" not in refused.err


async def test_an_external_database_is_used_as_it_is(database: "object", data_dir: Path):
    dsn: str = database.dsn  # type: ignore[attr-defined]
    async with serving(data_dir, CHATD_DATABASE_URL=dsn) as server:
        await server.create_first_user()
        assert not any("postgres" in command for command in processes_of(data_dir).values())
    connection = await asyncpg.connect(dsn)
    count = await connection.fetchval("SELECT count(*) FROM users")
    await connection.close()
    assert count == 1


async def test_the_wrong_encryption_key_is_refused_and_a_lost_one_not_replaced(data_dir: Path):
    async with serving(data_dir):
        pass
    keys = data_dir / "encryption.keys"
    keys.write_text((await chatd("keys", "new", cwd=data_dir.parent)).out)
    start = ["serve", "--port", "0", "--data-dir", str(data_dir)]
    wrong = await chatd(*start, cwd=data_dir.parent)
    keys.unlink()
    lost = await chatd(*start, cwd=data_dir.parent)

    assert (wrong.code, "not among the configured keys" in wrong.err) == (1, True)
    assert (lost.code, "is missing" in lost.err, keys.exists()) == (1, True, False)


async def test_many_replicas_make_the_configured_owner_once_and_say_so(data_dir: Path):
    admin = {"CHATD_BOOTSTRAP_ADMIN_EMAIL": "ada@example.com", "CHATD_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD}
    async with serving(data_dir, "--replicas", "4", **admin) as server:
        status, body = await server.call(
            "POST", "/api/v2/users/login", {"login": "ada@example.com", "password": PASSWORD}
        )
        said = server.said

    assert (status, body["user"]["role"]) == (201, "owner")
    assert "There is no user yet" not in said
    assert "Traceback" not in said


async def test_help_names_every_setting(tmp_path: Path):
    shown = await chatd("serve", "--help", cwd=tmp_path, COLUMNS="200")

    assert shown.code == 0
    assert [spec.env for spec in SETTINGS if spec.env not in shown.out] == []
    words = " ".join(shown.out.split())
    for said in (
        "--model-catalogue FILE",
        "--data-dir DIR",
        "off never does",
        "; ANTHROPIC_API_KEY does too",
        "; OPENAI_API_KEY does too",
        "; GEMINI_API_KEY does too",
    ):
        assert said in words


async def test_wrong_settings_are_refused_all_at_once(tmp_path: Path):
    refused = await chatd("serve", "--port", "99999", cwd=tmp_path, CHATD_LOG_FORMT="json", CHATD_REPLICAS="many")

    assert refused.code == 1
    for expected in ("port", "99999", "CHATD_LOG_FORMT", "CHATD_LOG_FORMAT", "CHATD_REPLICAS", "many"):
        assert expected in refused.err
