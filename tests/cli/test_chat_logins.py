"""`chatd login`, `logout` and `chats` as processes against a real server."""

import asyncio
import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from chatd.client import Client
from chatd.testing.vendors.script import Say, Turn
from chatd.wire.chat_requests import UpdateChat
from cli.running import Finished, chatd
from cli.terminal import terminal
from server.running import PASSWORD, Running
from server.scripted import scripted_server

PATIENCE = 60


class Shell:
    """Commands of one user, whose config is in a folder of the test."""

    def __init__(self, running: Running, home: Path) -> None:
        self.running = running
        self.url = running.api.url
        self.home = home
        self.file = home / "config" / "chatd" / "login.json"

    async def __call__(self, *arguments: str, stdin: str = "", **environ: str) -> Finished:
        environ = {"XDG_CONFIG_HOME": str(self.home / "config"), "HOME": str(self.home), **environ}
        return await chatd(*arguments, cwd=self.home, stdin=stdin, **environ)


@asynccontextmanager
async def shell(database: Any, tmp_path: Path) -> AsyncIterator[Shell]:
    def script(_: Any) -> Turn:
        return Turn(Say("Hi."))

    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, script) as running:
        yield Shell(running, tmp_path)


async def test_a_password_signs_in_and_the_session_is_kept_for_this_user_alone(database: Any, tmp_path: Path):
    async with shell(database, tmp_path) as run:
        before = await run("chats")
        wrong = await run("login", run.url, "--user", "olga", stdin="a wrong password\n")
        assert not run.file.exists()
        signed_in = await run("login", run.url, "--user", "olga", stdin=f"{PASSWORD}\n")
        mode = stat.S_IMODE(run.file.stat().st_mode)
        kept = json.loads(run.file.read_text())
        listed = await run("chats")
        signed_out = await run("logout")
        async with Client(run.url, kept["token"]) as client:
            try:
                await client.me()
            except Exception as error:  # noqa: BLE001 - its type is what is asked for
                after: object = type(error).__name__
            else:
                after = None
        again = await run("logout")

    assert (before.code, "chatd login" in before.err) == (1, True)
    assert (wrong.code, "Traceback" in wrong.err) == (1, False)
    assert signed_in.code == 0, signed_in.err
    assert "as olga" in signed_in.out
    assert kept["token"] not in signed_in.out
    assert mode == 0o600
    assert kept["url"] == run.url
    assert listed.out == "No chats. Begin one: chatd chat\n"
    assert signed_out.code == 0, signed_out.err
    assert not run.file.exists()
    assert after == "SignInNeeded"
    assert again.out == "You are not signed in.\n"


async def test_a_token_is_kept_once_it_has_worked(database: Any, tmp_path: Path):
    async with shell(database, tmp_path) as run:
        bad = await run("login", run.url, "--token", stdin="chatd_nonsense\n")
        empty = await run("login", run.url, "--token")
        good = await run(
            "login", f"{run.url.removeprefix('http://')}/", "--token", stdin=f"{run.running.owner.token}\n"
        )
        listed = await run("chats", "--json")
        elsewhere = await run("chats", CHATD_URL="http://127.0.0.1:9")

    assert (bad.code, "token is not valid" in bad.err) == (1, True)
    assert (empty.code, "standard input is empty" in empty.err) == (1, True)
    assert (good.code, good.err) == (0, "")
    assert json.loads(listed.out) == []
    assert (elsewhere.code, "not signed in to http://127.0.0.1:9" in elsewhere.err) == (1, True)


async def test_chats_are_listed_for_people_and_for_programs(database: Any, tmp_path: Path):
    async with shell(database, tmp_path) as run:
        identity = {"CHATD_URL": run.url, "CHATD_TOKEN": run.running.owner.token}
        async with Client(run.url, run.running.owner.token) as client:
            first, second = await client.create_chat("hello"), await client.create_chat("hello")
            await client.update_chat(first.id, UpdateChat(title="About \u202eowls"))
            await client.update_chat(second.id, UpdateChat(title="About larks"))
        table = await run("chats", **identity)
        found = await run("chats", "--json", "--query", "title:owls", "--limit", "300", **identity)
        one = await run("chats", "--limit", "1", **identity)
        unknown = await run("chats", "--query", "nonsense:1", **identity)

    assert str(first.id) in table.out
    assert "larks" in table.out
    assert "About owls" in table.out, "nothing turns text around"
    assert [chat["id"] for chat in json.loads(found.out)] == [str(first.id)]
    assert len(one.out.splitlines()) == 2
    assert (unknown.code, "Traceback" in unknown.err) == (1, False)


async def test_addresses_that_are_none_and_servers_that_are_away_are_told(tmp_path: Path):
    config = {"XDG_CONFIG_HOME": str(tmp_path), "CHATD_TOKEN": "t"}
    nonsense = await chatd("chats", cwd=tmp_path, CHATD_URL="ftp://x", **config)
    away = await chatd("chats", cwd=tmp_path, CHATD_URL="127.0.0.1:9", **config)
    unnamed = await chatd("login", cwd=tmp_path, **config)

    assert (nonsense.code, "no address" in nonsense.err) == (1, True)
    assert (away.code, "can't be reached" in away.err, "  Connection refused." in away.err) == (1, True, True)
    assert (unnamed.code, "Name the server" in unnamed.err) == (1, True)


async def test_at_a_terminal_what_is_missing_is_asked_for_and_the_password_not_shown(database: Any, tmp_path: Path):
    async with shell(database, tmp_path) as run:
        config = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
        async with terminal("login", cwd=tmp_path, **config) as screen:
            await screen.until("Server [http://localhost:7080]:")
            screen.type(f"{run.url}\n")
            await screen.until("Username or email address:")
            screen.type("olga\n")
            await screen.until("Password: ")  # the blank comes once typing is hidden
            screen.type(f"{PASSWORD}\n")
            code = await screen.ended()
        listed = await run("chats")

    assert (code, listed.code) == (0, 0)
    assert PASSWORD not in screen.screen
    assert "as olga" in screen.screen
