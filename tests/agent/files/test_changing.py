"""Files written, moved and removed through the agent."""

import asyncio
import os
import stat
import sys
from pathlib import Path

from agent.running import CHAT, SOURCE, WAIT_SECONDS, AgentProcess


async def put(agent: AgentProcess, path: Path | str, content: bytes, **query: str):
    return await agent.ask("PUT", "/files/content", query={"path": str(path), **query}, raw=content)


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


async def test_a_new_file_is_made_with_the_directories_above_it(agent: AgentProcess, tmp_path: Path):
    file = tmp_path / "w" / "a" / "b.bin"
    content = bytes(range(256)) * 8192
    reply = await put(agent, file, content)

    assert reply.status == 201
    assert reply.json == {"path": str(file), "size": len(content), "created": True}
    assert file.read_bytes() == content
    assert names(file.parent) == ["b.bin"]
    assert stat.S_IMODE(file.stat().st_mode) & 0o600 == 0o600


async def test_a_file_that_is_replaced_keeps_its_mode_and_is_replaced_at_once(agent: AgentProcess, tmp_path: Path):
    file = tmp_path / "run"
    file.write_text("old")
    file.chmod(0o751)
    with file.open() as reading:
        assert (await put(agent, file, b"new")).status == 200
        assert reading.read() == "old", "who has it open goes on with the old one"

    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o751


async def test_nothing_is_as_good_as_any_content(agent: AgentProcess, tmp_path: Path):
    assert (await put(agent, tmp_path / "empty", b"")).json["size"] == 0
    assert (tmp_path / "empty").read_bytes() == b""


async def test_a_link_stays_one_and_what_it_leads_to_is_written(agent: AgentProcess, tmp_path: Path):
    place = tmp_path / "w"
    place.mkdir()
    (place / "link").symlink_to("real")
    assert (await put(agent, place / "link", b"one")).json["path"] == str(place / "real")
    assert (await put(agent, place / "link", b"two")).json["created"] is False

    assert (place / "link").is_symlink()
    assert (place / "real").read_text() == "two"


async def test_what_can_not_be_written_is_refused_and_leaves_nothing(agent: AgentProcess, tmp_path: Path):
    place = tmp_path / "w"
    place.mkdir()
    os.mkfifo(place / "pipe")
    (place / "circle").symlink_to("circle")
    (place / "file").write_text("x")
    before = names(place)
    for path, kind in {
        place: "is_directory",
        place / "pipe": "not_regular",
        Path("/dev/null"): "not_regular",
        place / "circle": "link_loop",
        place / "file" / "below": "not_directory",
    }.items():
        reply = await put(agent, path, b"y")
        assert reply.json["kind"] == kind, reply.json
    assert (await put(agent, f"{place}/new/", b"y")).json["kind"] == "is_directory"
    assert (await put(agent, f"/proc/{agent.pid}/new", b"y")).status in (403, 404)
    assert (await put(agent, place / "file", b"y", exclusive="true")).status == 409
    assert (await put(agent, place / "other", b"y", exclusive="true")).status == 201

    assert names(place) == sorted([*before, "other"])
    assert (place / "file").read_text() == "x"


async def test_the_longest_name_can_be_written(agent: AgentProcess, tmp_path: Path):
    file = tmp_path / ("é" * 127)
    for content in (b"one", b"two"):
        assert (await put(agent, file, content)).status in (200, 201)
        assert file.read_bytes() == content


async def test_an_upload_that_breaks_off_changes_nothing(agent: AgentProcess, tmp_path: Path):
    place = tmp_path / "w"
    place.mkdir()
    (place / "file").write_text("old")
    _, writer = await asyncio.open_unix_connection(agent.address.removeprefix("unix:"))
    head = f"PUT /files/content?path={place}/file HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {agent.token}\r\n"
    writer.write(f"{head}Content-Length: 1000000\r\n\r\n".encode() + b"x" * 1000)
    await writer.drain()
    async with asyncio.timeout(WAIT_SECONDS):
        while len(names(place)) == 1:  # the upload has not begun
            await agent.ask("GET", "/health")
        writer.close()
        await writer.wait_closed()
        while len(names(place)) > 1:
            await agent.ask("GET", "/health")

    assert (place / "file").read_text() == "old"


async def test_an_upload_that_says_it_is_too_long_is_refused_before_it_is_sent(agent: AgentProcess, tmp_path: Path):
    reader, writer = await asyncio.open_unix_connection(agent.address.removeprefix("unix:"))
    head = f"PUT /files/content?path={tmp_path}/a/file HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {agent.token}\r\n"
    writer.write(f"{head}Content-Length: {1 << 40}\r\n\r\n".encode())
    async with asyncio.timeout(WAIT_SECONDS):
        assert b" 413 " in await reader.readline()
    writer.close()
    await writer.wait_closed()

    assert not (tmp_path / "a").exists(), "the directories above it are gone with it"


async def test_a_stale_owner_changes_nothing(agent: AgentProcess, tmp_path: Path):
    assert (await agent.ask("PUT", "/files/content", query={"path": f"{tmp_path}/f"}, raw=b"1", epoch=5)).status == 201
    old = await agent.ask("PUT", "/files/content", query={"path": f"{tmp_path}/f"}, raw=b"2", epoch=4)

    assert old.json["kind"] == "stale_epoch"
    assert (tmp_path / "f").read_text() == "1"


async def test_directories_are_made_and_files_moved_and_removed(agent: AgentProcess, tmp_path: Path):
    place = tmp_path / "w"

    async def move(source: str, target: str, **more: bool):
        body = {"source": f"{place}/{source}", "target": f"{place}/{target}", **more}
        return await agent.ask("POST", "/files/move", body=body)

    async def remove(path: str, **query: str):
        return await agent.ask("DELETE", "/files", query={"path": path, **query})

    for _ in range(2):
        assert (await agent.ask("POST", "/files/directories", body={"path": f"{place}/a/b"})).status == 200
    (place / "a" / "f").write_text("f")
    (place / "g").write_text("g")
    (place / "link").symlink_to("a")

    assert (await agent.ask("POST", "/files/directories", body={"path": f"{place}/g"})).status == 409
    assert (await move("g", "a/f")).status == 409
    assert (await move("a", "a/b/c")).status == 400
    assert (await move("missing", "x")).status == 404
    assert (await move("g", "none/x")).status == 404
    assert (await move("g", "a/f", replace=True)).status == 200
    assert (place / "a" / "f").read_text() == "g"
    assert (await move("link", "other")).status == 200
    assert (place / "other").is_symlink()

    assert (await remove(f"{place}/a")).json["kind"] == "not_empty"
    assert (await remove(f"{place}/other", recursive="true")).status == 200
    assert (place / "a" / "f").exists(), "the link was removed, not what it led to"
    (place / "a" / "b" / "out").symlink_to(tmp_path)
    assert (await remove(f"{place}/a", recursive="true")).status == 200
    assert names(place) == [], "and what the link in it led to is still there"
    for path in ("/", f"{place}/.", f"{place}/.."):
        assert (await remove(path, recursive="true")).status == 400


async def test_an_owner_that_became_stale_while_it_sent_a_file_changes_nothing(agent: AgentProcess, tmp_path: Path):
    place = tmp_path / "w"
    place.mkdir()
    reader, writer = await asyncio.open_unix_connection(agent.address.removeprefix("unix:"))
    head = f"PUT /files/content?path={place}/file HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {agent.token}\r\n"
    owner = f"Chatd-Chat-Id: {CHAT}\r\nChatd-Epoch: 1\r\n"
    writer.write(f"{head}{owner}Content-Length: 2\r\n\r\n".encode() + b"x")
    await writer.drain()
    async with asyncio.timeout(WAIT_SECONDS):
        while not names(place):  # the upload has not begun
            await agent.ask("GET", "/health")
        assert (await agent.ask("POST", "/files/directories", body={"path": str(place)}, epoch=2)).status == 200
        writer.write(b"y")
        assert b" 409 " in await reader.readline()
    writer.close()
    await writer.wait_closed()

    assert names(place) == []


async def test_what_the_user_may_not_do_is_refused(tmp_path: Path):
    """In a process without the rights of root, if the tests have them."""
    place = tmp_path / "w"
    place.mkdir()
    (place / "secret").write_text("x")
    (place / "secret").chmod(0)
    (place / "fixed").write_text("x")
    (place / "fixed").chmod(0o444)
    script = (
        "import sys; from chatd.agent.files.reading import open_file; from chatd.agent.files.replacing import begin\n"
        "from chatd.agent.files.mishaps import telling; from chatd.agent.refusals import Refused\n"
        "def new(path):\n"
        "    with telling(path): begin(path, lambda: 'mark')\n"
        "for work, name in ((open_file, b'/secret'), (new, b'/secret'), (new, b'/fixed')):\n"
        "    try: work(sys.argv[1].encode() + name)\n"
        "    except Refused as error: print(error.status, error.kind)\n"
    )
    plain = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    process = await asyncio.create_subprocess_exec(
        *plain,
        sys.executable,
        "-c",
        script,
        str(place),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    async with asyncio.timeout(WAIT_SECONDS):
        said, _ = await process.communicate()

    assert said.decode().splitlines() == ["403 forbidden"] * 3
    assert names(place) == ["fixed", "secret"]
