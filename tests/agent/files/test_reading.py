"""Files read through the agent."""

import os
import socket
from pathlib import Path

import pytest

from agent.running import AgentProcess
from chatd.agent.files.reading import CHUNK_BYTES, chunks_of, open_file
from chatd.agent.refusals import Refused


async def lines(agent: AgentProcess, path: Path | str, **query: object):
    return await agent.ask("GET", "/files/lines", query={"path": str(path), **{k: str(v) for k, v in query.items()}})


async def test_lines_are_numbered_and_paged(agent: AgentProcess, tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("".join(f"line {number}\n" for number in range(1, 5001)))
    first = (await lines(agent, file)).json
    last = (await lines(agent, file, offset=4999, limit=10)).json

    assert first["lines_read"] == 2000
    assert first["next_offset"] == 2001
    assert first["total_lines"] == 5000
    assert first["file_size"] == file.stat().st_size
    assert first["content"].startswith("1\tline 1\n2\tline 2\n")
    assert last["content"] == "4999\tline 4999\n5000\tline 5000"
    assert "next_offset" not in last


async def test_a_file_of_any_size_can_be_paged(agent: AgentProcess, tmp_path: Path):
    file = tmp_path / "large"
    with file.open("wb") as writing:
        writing.write(b"first\n")
        writing.truncate(200 * 1024 * 1024)  # a hole: one line of zeros
        writing.seek(0, os.SEEK_END)
        writing.write(b"\nlast\n")
    page = (await lines(agent, file, offset=3, limit=1)).json
    whole = (await lines(agent, file, limit=1)).json

    assert page["content"] == "3\tlast"
    assert whole["content"] == "1\tfirst"
    assert whole["next_offset"] == 2
    assert "total_lines" not in whole, "not counted: the file is too large"


async def test_an_empty_file_has_no_lines_and_no_line_is_behind_the_end(agent: AgentProcess, tmp_path: Path):
    (tmp_path / "empty").touch()
    (tmp_path / "one").write_text("x")

    assert (await lines(agent, tmp_path / "empty")).json["lines_read"] == 0
    assert (await lines(agent, tmp_path / "one", offset=2)).json["kind"] == "past_end"
    for wrong in ({"offset": 0}, {"limit": 0}, {"offset": "x"}, {"unknown": 1}):
        assert (await lines(agent, tmp_path / "one", **wrong)).status == 400


async def test_what_is_no_text_is_marked(agent: AgentProcess, tmp_path: Path):
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    reply = (await lines(agent, tmp_path / "latin")).json

    assert reply["content"] == "1\tcaf\ufffd"
    assert reply["lossy"] is True


async def test_what_is_no_ordinary_file_is_refused_at_once(agent: AgentProcess, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(str(tmp_path / "socket"))
    bound.close()
    (tmp_path / "to pipe").symlink_to(tmp_path / "pipe")
    for path, kind in {
        tmp_path / "pipe": "not_regular",
        tmp_path / "to pipe": "not_regular",
        tmp_path / "socket": "not_regular",
        Path("/dev/zero"): "not_regular",
        Path("/dev/tty"): "not_regular",
        tmp_path: "is_directory",
        tmp_path / "missing": "not_found",
        tmp_path / "pipe" / "below": "not_directory",
    }.items():
        for route in ("/files/lines", "/files/content"):
            reply = await agent.ask("GET", route, query={"path": str(path)})
            assert (reply.json["kind"], str(path) in reply.json["message"]) == (kind, True), reply.json


async def test_files_of_the_kernel_that_claim_to_be_empty_are_read(agent: AgentProcess):
    assert (await agent.ask("GET", "/files/status", query={"path": "/proc/self/status"})).json["size"] == 0
    read = (await lines(agent, "/proc/self/status")).json
    raw = await agent.ask("GET", "/files/content", query={"path": "/proc/self/status"})

    assert read["content"].startswith("1\tName:")
    assert raw.body.startswith(b"Name:")
    assert f"Pid:\t{agent.pid}".encode() in raw.body


async def test_a_download_has_all_bytes_or_a_range_of_them(agent: AgentProcess, tmp_path: Path):
    content = os.urandom(1024 * 1024 + 17)
    (tmp_path / "file").write_bytes(content)

    async def get(**headers: str):
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return await agent.ask("GET", "/files/content", query={"path": str(tmp_path / "file")}, headers=given)

    whole = await get()
    assert (whole.status, whole.body) == (200, content)
    assert whole.headers["content-length"] == str(len(content))
    for asked, wanted in {
        "bytes=0-9": content[:10],
        "bytes=1000-": content[1000:],
        "bytes=-5": content[-5:],
        "bytes=1048576-99999999": content[1048576:],
    }.items():
        part = await get(range=asked)
        assert (part.status, part.body) == (206, wanted)
        assert part.headers["content-range"].endswith(f"/{len(content)}")
    assert (await get(range=f"bytes={len(content)}-")).status == 416
    assert (await get(range="bytes=5-1")).body == content
    assert (await get(range="lines=1-2")).body == content
    assert (await get(range="bytes=0-9", if_range=whole.headers["etag"])).status == 206
    assert (await get(range="bytes=0-9", if_range='"other"')).body == content


@pytest.mark.parametrize("path", ["", "relative", "~/x", "/a\0b", "/" + "x" * 256, "/x" * 3000, "\ud800/"])
async def test_a_path_that_can_be_none_is_refused(agent: AgentProcess, path: str):
    body = {"files": [{"path": path, "edits": [{"search": "a", "replacement": "b"}]}]}
    reply = await agent.ask("POST", "/files/directories", body={"path": path})

    assert reply.status == 400
    assert "message" in reply.json
    assert (await agent.ask("POST", "/files/edits", body=body)).status == 400


async def test_names_that_are_no_utf_8_are_not_lost(agent: AgentProcess, tmp_path: Path):
    name = b"caf\xe9 \xff"
    file = tmp_path / os.fsdecode(name)
    file.write_text("here")
    listed = await agent.ask("GET", "/files/list", query={"path": str(tmp_path)})
    told = next(entry["name"] for entry in listed.json["entries"] if entry["name"].startswith("caf"))
    assert told.encode("utf-8", "surrogateescape") == name

    target = f"{tmp_path}/{told}.new"
    moved = await agent.ask("POST", "/files/move", body={"source": f"{tmp_path}/{told}", "target": target})
    assert moved.json["path"] == target
    assert (tmp_path / os.fsdecode(name + b".new")).read_text() == "here"
    assert not file.exists()


async def test_links_are_followed_and_dots_mean_what_they_mean_to_the_system(agent: AgentProcess, tmp_path: Path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to("a/b")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "a" / "file").write_text("x")

    async def resolve(path: str):
        return await agent.ask("GET", "/files/resolve", query={"path": f"{tmp_path}/{path}"})

    assert (await resolve("link/../file")).json == {"path": f"{tmp_path}/a/file", "exists": True}
    assert (await resolve("link/new/./x")).json == {"path": f"{tmp_path}/a/b/new/x", "exists": False}
    assert (await resolve("missing/../a")).json["kind"] == "not_found"
    assert (await resolve("circle/x")).json["kind"] == "link_loop"
    assert (await resolve("a/file/x")).json["kind"] == "not_directory"
    assert (await resolve("/".join([".."] * 100) + "/etc")).json["path"] == "/etc"


async def test_a_directory_is_listed_in_pages_directories_first(agent: AgentProcess, tmp_path: Path):
    place = tmp_path / "place"
    place.mkdir()
    for name in ("b", "a"):
        (place / f"{name}.txt").write_text(name)
        (place / name).mkdir()
    (place / "dead").symlink_to("nowhere")
    (place / "z").symlink_to("a")
    listed = (await agent.ask("GET", "/files/list", query={"path": str(place)})).json
    page = (await agent.ask("GET", "/files/list", query={"path": str(place), "offset": "1", "limit": "2"})).json

    kinds = [(entry["name"], entry["kind"], entry["is_link"]) for entry in listed["entries"]]
    assert kinds == [
        ("a", "directory", False),
        ("b", "directory", False),
        ("z", "directory", True),
        ("a.txt", "file", False),
        ("b.txt", "file", False),
        ("dead", "link", True),
    ]
    assert (listed["total"], listed["next"], listed["is_complete"]) == (6, None, True)
    assert ([entry["name"] for entry in page["entries"]], page["next"]) == (["b", "z"], 3)
    assert (await agent.ask("GET", "/files/list")).json["path"] == str(agent.home)


async def test_a_path_tells_what_it_is(agent: AgentProcess, tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("abc")
    file.chmod(0o640)
    (tmp_path / "link").symlink_to(file)
    told = (await agent.ask("GET", "/files/status", query={"path": str(tmp_path / "link")})).json

    assert told["path"] == str(file)
    assert (told["kind"], told["size"], told["mode"], told["is_link"]) == ("file", 3, 0o640, True)
    assert (await agent.ask("GET", "/files/status", query={"path": str(tmp_path / "none")})).status == 404
    assert (await agent.ask("GET", "/files/status", query={"path": "/"})).json["kind"] == "directory"


async def test_a_file_that_shrinks_while_it_is_sent_is_never_taken_for_whole(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * (2 * CHUNK_BYTES))
    sent = chunks_of(open_file(os.fsencode(path)), 0, 2 * CHUNK_BYTES)
    assert len(await anext(sent)) == CHUNK_BYTES
    os.truncate(path, CHUNK_BYTES)
    with pytest.raises(Refused, match="changed its size"):
        await anext(sent)
