"""Files of a workspace over the API: listed, sent in parts, put in place; and what browsers are told about them."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
import pytest_asyncio

from server.running import Answer
from server.workspace_api import WORKSPACES, WorkspaceApi, workspace_api

SAFE = {"x-content-type-options": "nosniff", "content-security-policy": "sandbox; default-src 'none'"}


class Files:
    """Those of one workspace that runs; `home` is its folder on this machine."""

    def __init__(self, world: WorkspaceApi, path: str, home: Path) -> None:
        self.world = world
        self.path = path
        self.home = home

    async def get(self, file: str | bytes | Path, *, inline: bool = False, **headers: str) -> Answer:
        asked = quote(file if isinstance(file, str | bytes) else str(file))
        query = f"?path={asked}&inline={str(inline).lower()}"
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.world.mia.raw("GET", f"{self.path}/files/content{query}", headers=sent)

    async def put(self, file: Path, content: bytes, more: str = "") -> Answer:
        return await self.world.mia.raw("PUT", f"{self.path}/files/content?path={quote(str(file))}{more}", content)

    async def list(self, query: str = "") -> Answer:
        return await self.world.mia.get(f"{self.path}/files{query}")


@pytest_asyncio.fixture
async def files(database: Any, tmp_path: Path) -> AsyncIterator[Files]:
    async with workspace_api(database.dsn, tmp_path, workspace_upload_limit=str(4 << 20)) as world:
        workspace = await world.run()
        path = f"{WORKSPACES}/{workspace['id']}"
        home = Path((await world.mia.get(f"{path}/files")).body["path"])
        yield Files(world, path, home)


async def test_a_file_is_put_listed_and_read_again(files: Files):
    target = files.home / "deep" / "a b.txt"
    made = await files.put(target, b"words")
    replaced = await files.put(target, b"more words")
    refused = await files.put(target, b"x", "&exclusive=true")
    read = await files.get(target)
    home, folder = await files.list(), await files.list(f"?path={quote(str(target.parent))}")

    assert (made.status, made.body) == (200, {"path": str(target), "size": 5, "created": True})
    assert (replaced.body["size"], replaced.body["created"]) == (10, False)
    assert refused.status == 409
    assert (read.status, read.body) == (200, b"more words")
    assert read.headers.items() >= SAFE.items()
    assert read.headers["content-type"] == "application/octet-stream"
    assert read.headers["content-disposition"] == "attachment; filename*=UTF-8''a%20b.txt"
    assert read.headers["content-length"] == "10"
    assert [(entry["name"], entry["kind"]) for entry in home.body["entries"] if entry["name"] == "deep"] == [
        ("deep", "directory")
    ]
    assert [(entry["name"], entry["size"]) for entry in folder.body["entries"]] == [("a b.txt", 10)]


async def test_parts_of_a_file_are_sent(files: Files):
    target = files.home / "digits"
    target.write_bytes(b"0123456789" * 100_000)
    whole = await files.get(target)
    part = await files.get(target, Range="bytes=5-7")
    end = await files.get(target, Range="bytes=-3", if_range=whole.headers["etag"])
    other = await files.get(target, Range="bytes=5-7", if_range='"other"')
    beyond = await files.get(target, Range="bytes=2000000-")

    assert len(whole.body) == 1_000_000
    assert (part.status, part.body, part.headers["content-range"]) == (206, b"567", "bytes 5-7/1000000")
    assert (end.status, end.body) == (206, b"789")
    assert (other.status, len(other.body)) == (200, 1_000_000)
    assert beyond.status == 416


@pytest.mark.parametrize(
    ("name", "kind", "shown"),
    [
        ("a.png", "image/png", "inline"),
        ("a.html", "text/plain; charset=utf-8", "inline"),
        ("a.svg", "text/plain; charset=utf-8", "inline"),
        ("a.pdf", "application/octet-stream", "attachment"),
        ("a", "application/octet-stream", "attachment"),
    ],
)
async def test_a_browser_shows_only_what_can_do_nothing(files: Files, name: str, kind: str, shown: str):
    (files.home / name).write_bytes(b"<script>")
    read = await files.get(files.home / name, inline=True)

    assert (read.headers["content-type"], read.headers["content-disposition"].split(";")[0]) == (kind, shown)
    assert read.headers.items() >= SAFE.items()


async def test_games_with_paths_get_clear_errors(files: Files):
    loop = files.home / "loop"
    loop.symlink_to(loop)
    asked: list[str | bytes] = ["relative", "/no/such/file", "/etc", str(loop), "/a\0b", "/" + "x" * 5000, b"/\xff\xfe"]
    answers = [await files.get(path) for path in asked]
    none = [await files.list("?path="), await files.world.mia.get(f"{files.path}/files/content")]

    assert [answer.status for answer in answers] == [400, 404, 400, 400, 400, 400, 404], [
        answer.body for answer in answers
    ]
    assert all(answer.body["message"] for answer in answers)
    assert [answer.status for answer in none] == [400, 400]


async def test_names_that_are_no_text_can_be_listed_and_read(files: Files):
    name = b"caf\xe9"
    (files.home / name.decode("utf-8", "surrogateescape")).write_bytes(b"x")
    headers = {"Authorization": f"Bearer {files.world.mia.token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as http,
        http.get(f"{files.world.mia.url}{files.path}/files") as raw,
    ):
        listing = json.loads(await raw.read())
    read = await files.get(bytes(files.home) + b"/" + name)

    assert "caf\udce9" in [entry["name"] for entry in listing["entries"]]
    assert (read.status, read.body) == (200, b"x")
    assert read.headers["content-disposition"].endswith("caf%E9")


async def test_an_upload_that_is_too_large_or_breaks_off_leaves_nothing(files: Files):
    large, broken = files.home / "large", files.home / "broken"
    refused = await files.put(large, bytes(5 << 20))

    reader, writer = await asyncio.open_connection("127.0.0.1", int(files.world.mia.url.rpartition(":")[2]))
    head = (
        f"PUT {files.path}/files/content?path={broken} HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {files.world.mia.token}\r\nContent-Length: 100000\r\n\r\n"
    )
    writer.write(head.encode() + bytes(50_000))
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    del reader
    whole = await files.put(files.home / "whole", b"x")
    there = {entry["name"] for entry in (await files.list()).body["entries"]}

    assert refused.status == 413
    assert whole.status == 200
    assert not {"large", "broken"} & there


async def test_ports_of_the_workspace_are_told(files: Files):
    answer = await files.world.mia.get(f"{files.path}/ports")

    assert answer.status == 200
    assert isinstance(answer.body["ports"], list)


async def test_a_stopped_workspace_has_no_files_to_show_until_it_is_started(files: Files):
    world = files.world
    health = (await world.mia.get(f"{files.path}?agent=true")).body["agent"]["health"]
    workspace = {"id": files.path.rpartition("/")[2]}
    await world.build(workspace, "stop")
    await world.built(workspace)
    stopped = await files.list()
    await world.build(workspace, "start")
    await world.built(workspace)
    again = await files.list()
    after = (await world.mia.get(f"{files.path}?agent=true")).body["agent"]["health"]

    assert (stopped.status, again.status) == (409, 200)
    assert after["started_at_unix"] >= health["started_at_unix"]


async def test_an_agent_that_has_died_is_brought_back_for_who_looks_at_files(files: Files):
    (files.home / "kept").write_text("x")
    health = (await files.world.mia.get(f"{files.path}?agent=true")).body["agent"]["health"]
    os.kill(health["pid"], signal.SIGKILL)
    names = {entry["name"] for entry in (await files.list()).body["entries"]}

    assert "kept" in names
