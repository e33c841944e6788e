"""`chatd templates` and `chatd workspaces`, from a shell and at a terminal."""

import json
import os
from pathlib import Path
from typing import Any

import asyncpg

from cli.running import chatd, chatd_within
from cli.terminal import terminal
from server.workspace_api import WORKSPACES, workspace_api

SHELL = "PS1='go>' exec sh"


async def test_a_template_is_made_shown_edited_and_deleted(database: Any, tmp_path: Path):
    async with workspace_api(database.dsn, tmp_path) as world:
        who = {"CHATD_URL": world.admin.url, "CHATD_TOKEN": world.admin.token}
        (tmp_path / "parameters.json").write_text('[{"name": "size", "default": "2"}]')
        parameters = ("--parameters", "@parameters.json")
        made = await chatd(
            *("templates", "create", "go", "--config", '{"network": "off"}', "--default-ttl", "8h", *parameters),
            cwd=tmp_path,
            **who,
        )
        listed = await chatd("templates", "list", cwd=tmp_path, **who)
        edited = await chatd("templates", "edit", "go", "--no-agents", "--description", "For Go.", cwd=tmp_path, **who)
        shown = await chatd("templates", "show", "go", cwd=tmp_path, **who)
        as_json = await chatd("templates", "show", "go", "--json", cwd=tmp_path, **who)
        wrong = await chatd("templates", "create", "No Name", cwd=tmp_path, **who)
        bad = await chatd("templates", "edit", "go", "--config", "{", cwd=tmp_path, **who)
        deleted = await chatd("templates", "delete", "go", cwd=tmp_path, **who)
        gone = await chatd("templates", "show", "go", cwd=tmp_path, **who)

    assert made.code == 0, made.err
    assert "go" in listed.out
    assert "chatd workspaces create go" in made.err
    assert (edited.code, edited.err) == (0, "")
    assert "For Go." in shown.out
    assert "size" in shown.out
    assert json.loads(as_json.out)["default_ttl_ms"] == 8 * 3_600_000
    assert (wrong.code, "name:" in wrong.err, "Traceback" in wrong.err) == (1, True, False)
    assert (bad.code, "--config is not JSON" in bad.err) == (1, True)
    assert (deleted.code, deleted.out) == (0, "Deleted: go\n")
    assert (gone.code, "chatd templates list" in gone.err) == (1, True)


async def test_a_workspace_is_made_used_and_deleted(database: Any, tmp_path: Path):
    async with workspace_api(database.dsn, tmp_path) as world:
        who = {"CHATD_URL": world.mia.url, "CHATD_TOKEN": world.mia.token}

        async def run(*arguments: str) -> Any:
            return await chatd("workspaces", *arguments, cwd=tmp_path, **who)

        none = await run("list")
        made = await run("create", "local", "--name", "mine", "--ttl", "2h")
        listed = await run("list")
        shown = await run("show", "mine")
        home = (await world.mia.get(f"/api/experimental/workspaces/{made.out.split()[0]}/files")).body["path"]
        (tmp_path / "words.txt").write_text("words")
        put = await run("files", "put", "mine", "words.txt", f"{home}/")
        files = await run("files", "list", "mine")
        got = await run("files", "get", "mine", f"{home}/words.txt", "-o", "copy.txt")
        near = await run("files", "put", "mine", "words.txt", "notes/")
        nearby = await run("files", "list", "mine", "notes")
        same = await run("files", "get", "mine", "notes/words.txt")
        missing = await run("files", "get", "mine", f"{home}/none", "-o", "none.txt")
        logs = await run("logs", "mine", "-f")
        stopped = await run("stop", "mine")
        again = await run("stop", "mine")
        unsure = await run("delete", "mine")
        deleted = await run("delete", "mine", "--yes")
        gone = await run("show", "mine")

    assert (none.code, "No workspaces" in none.out) == (0, True)
    assert (made.code, made.out.split()[1]) == (0, "mine"), made.err
    assert "[" in made.err, "it says what happens while one waits"
    assert "running" in listed.out
    assert "template:   local" in shown.out
    assert put.code == 0, put.err
    assert "words.txt" in files.out
    assert (got.code, (tmp_path / "copy.txt").read_text()) == (0, "words")
    assert near.out.startswith(f"{home}/notes/words.txt "), "a path that is not absolute begins at the home"
    assert "words.txt" in nearby.out
    assert (same.code, same.out) == (0, "words")
    assert (missing.code, (tmp_path / "none.txt").exists()) == (1, False)
    assert (logs.code, logs.out != "") == (0, True)
    assert (stopped.code, stopped.out) == (0, "mine: stop succeeded\n")
    assert (again.code, "stopped already" in again.err) == (1, True)
    assert (unsure.code, "--yes" in unsure.err) == (1, True)
    assert (deleted.code, gone.code) == (0, 1)


async def test_files_are_copied_to_where_one_says_or_it_is_said_why_not(database: Any, tmp_path: Path):
    async with workspace_api(database.dsn, tmp_path) as world:
        made = await world.run(name="mine")
        home = (await world.mia.get(f"{WORKSPACES}/{made['id']}/files")).body["path"]
        who = {"CHATD_URL": world.mia.url, "CHATD_TOKEN": world.mia.token}

        async def run(*arguments: str) -> Any:
            return await chatd("workspaces", "files", *arguments, cwd=tmp_path, **who)

        (tmp_path / "words.txt").write_text("words")
        await run("put", "mine", "words.txt", f"{home}/there.txt")
        (tmp_path / "folder").mkdir()
        into = await run("get", "mine", f"{home}/there.txt", "-o", "folder")
        nowhere = await run("get", "mine", f"{home}/there.txt", "-o", "no/such/folder.txt")
        (tmp_path / "linked").write_text("before")
        (tmp_path / "link").symlink_to("linked")
        linked = await run("get", "mine", f"{home}/there.txt", "-o", "link")
        os.mkfifo(tmp_path / "pipe")
        pipe = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)
        try:
            piped = await run("get", "mine", f"{home}/there.txt", "-o", "pipe")
            through = os.read(pipe, 100)
        finally:
            os.close(pipe)
        shown = await run("get", "mine", f"{home}/there.txt")

    assert (into.code, (tmp_path / "folder" / "there.txt").read_text()) == (0, "words"), into.err
    assert (nowhere.code, "Traceback" in nowhere.err, "No such file" in nowhere.err) == (1, False, True)
    assert (linked.code, (tmp_path / "linked").read_text(), (tmp_path / "link").is_symlink()) == (0, "words", True)
    assert (piped.code, through, (tmp_path / "pipe").is_fifo()) == (0, b"words", True), piped.err
    assert shown.out == "words"
    assert not (tmp_path / "linked.part").exists()


async def test_names_that_are_no_text_are_listed_and_copied(database: Any, tmp_path: Path):
    async with workspace_api(database.dsn, tmp_path) as world:
        made = await world.run(name="mine")
        home = (await world.mia.get(f"{WORKSPACES}/{made['id']}/files")).body["path"]
        name = os.fsdecode(b"caf\xe9")
        (tmp_path / home / name).write_text("coffee")
        who = {"CHATD_URL": world.mia.url, "CHATD_TOKEN": world.mia.token}

        async def run(*arguments: str) -> Any:
            return await chatd("workspaces", "files", *arguments, cwd=tmp_path, **who)

        listed, as_json = await run("list", "mine"), await run("list", "mine", "--json")
        got = await run("get", "mine", f"{home}/{name}", "-o", "copy")
        put = await run("put", "mine", "copy", f"{home}/{name}2")
        written = (tmp_path / home / f"{name}2").read_text()

    assert (listed.code, "caf\ufffd" in listed.out) == (0, True), listed.err
    assert name in [entry["name"] for entry in json.loads(as_json.out)]
    assert (got.code, (tmp_path / "copy").read_text()) == (0, "coffee"), got.err
    assert (put.code, "caf\ufffd2" in put.out, written) == (0, True, "coffee"), put.err


async def test_a_terminal_that_was_left_or_lost_is_found_again(database: Any, tmp_path: Path):
    async with workspace_api(database.dsn, tmp_path) as world:
        await world.run(name="mine")
        session = await world.running.api.sign_in("mia")
        who = {"CHATD_URL": world.mia.url, "CHATD_TOKEN": session.token}
        async with terminal("workspaces", "terminal", "mine", "-c", SHELL, cwd=tmp_path, **who) as typed:
            await typed.until("go>")
            typed.type("mark=here; echo left-$mark\r")
            await typed.until("left-here")
            typed.type("\x1d\x1d\x1d")
            await typed.until("chatd workspaces terminal mine --reconnect ")
            left = await typed.ended()
            id = typed.screen.rpartition("--reconnect ")[2].split()[0]
        back = ("workspaces", "terminal", "mine", "--reconnect", id)
        async with terminal(*back, cwd=tmp_path, **who) as typed:
            typed.type("echo still-$mark\r")
            await typed.until("still-here")
            await session.post("/api/v2/users/logout")
            await typed.until("The session has ended. Sign in again.")
            await typed.until(f"--reconnect {id}")
            lost = await typed.ended()

    assert (left, lost) == (0, 1)


async def test_a_terminal_is_typed_into_and_left(database: Any, tmp_path: Path):
    async with workspace_api(database.dsn, tmp_path) as world:
        await world.run(name="mine")
        who = {"CHATD_URL": world.mia.url, "CHATD_TOKEN": world.mia.token}
        piped = await chatd("workspaces", "terminal", "mine", cwd=tmp_path, **who)
        async with terminal("workspaces", "terminal", "mine", "-c", SHELL, cwd=tmp_path, **who) as typed:
            await typed.until("go>")
            typed.type("stty size; echo $((40 + 2))\r")
            await typed.until("24 80")
            await typed.until("42")
            typed.type("exit 5\r")
            code = await typed.ended()
        async with terminal("workspaces", "terminal", "mine", "-c", SHELL, cwd=tmp_path, **who) as typed:
            await typed.until("go>")
            typed.type("echo here-$((1 + 1))\r")
            await typed.until("here-2")
            typed.type("\x1d\x1d\x1d")
            left = await typed.ended()

    assert (piped.code, "needs a terminal" in piped.err) == (1, True)
    assert (code, left) == (5, 0)


async def test_a_workspace_of_a_machine_that_is_gone_is_deleted(database: Any, tmp_path: Path):
    async with workspace_api(database.dsn, tmp_path) as world:
        made = await world.run(name="mine")
        await world.build(made, "stop")  # nobody would end its agent
        await world.built(made)
        who = {"CHATD_URL": world.mia.url, "CHATD_TOKEN": world.mia.token}
        alive = await chatd("workspaces", "delete", "mine", "--yes", "--orphan", cwd=tmp_path, **who)
        connection = await asyncpg.connect(database.dsn)
        try:
            await connection.execute("UPDATE workspaces SET host_id = 'gone'")
        finally:
            await connection.close()
        deleted = await chatd("workspaces", "delete", "mine", "--yes", "--orphan", cwd=tmp_path, **who)
        listed = await chatd("workspaces", "list", cwd=tmp_path, **who)

    assert (alive.code, "without `orphan`" in alive.err) == (1, True)
    assert (deleted.code, deleted.out.startswith("mine: deleted")) == (0, True), deleted.err
    assert "No workspaces" in listed.out


async def test_a_file_that_is_as_large_as_memory_is_put_in_pieces(database: Any, tmp_path: Path):
    size = 192 << 20
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(size)  # takes no space
    # Who does not tell a length is counted as the longest.
    limits = {"workspace_upload_limit": str(2 * size), "upload_bytes_per_minute": str(size)}
    async with workspace_api(database.dsn, tmp_path, **limits) as world:
        made = await world.run(name="mine")
        home = (await world.mia.get(f"/api/experimental/workspaces/{made['id']}/files")).body["path"]
        who = {"CHATD_URL": world.mia.url, "CHATD_TOKEN": world.mia.token}
        put = ("workspaces", "files", "put", "mine", str(large), f"{home}/copy")
        limited = await chatd_within(size, *put, cwd=tmp_path, **who)
        copied = (Path(home) / "copy").stat().st_size

    assert limited.code == 0, limited.err
    assert copied == size
