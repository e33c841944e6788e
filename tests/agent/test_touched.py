"""Which chat has changed what."""

import json
from pathlib import Path
from uuid import UUID

from chatd.agent.caller import Caller
from chatd.agent.epochs import Epochs
from chatd.agent.files.changing_routes import ChangingRoutes
from chatd.agent.request import Request
from chatd.agent.routes import RouteTable
from chatd.agent.touched import MOST_CHATS, MOST_PATHS, TouchedPaths
from chatd.clock import SystemClock

CHILD, PARENT = UUID(int=1), UUID(int=2)


def test_what_a_child_changes_counts_for_its_parent_and_not_the_other_way_round():
    touched = TouchedPaths()
    touched.note(Caller(CHILD, (PARENT,)), b"/a")
    touched.note(Caller(PARENT), b"/b")

    assert touched.of(CHILD) == (b"/a",)
    assert touched.of(PARENT) == (b"/a", b"/b")


def test_the_latest_paths_and_chats_are_kept():
    touched = TouchedPaths()
    touched.note(Caller(CHILD), *(b"/%d" % number for number in range(MOST_PATHS)))
    touched.note(Caller(CHILD), b"/0", b"/new")

    assert len(touched.of(CHILD)) == MOST_PATHS
    assert touched.of(CHILD)[-2:] == (b"/0", b"/new")
    for number in range(MOST_CHATS):
        touched.note(Caller(UUID(int=100 + number)), b"/x")
    assert touched.of(CHILD) == ()


def test_what_nobodys_chat_does_is_not_kept():
    touched = TouchedPaths()
    touched.note(Caller(None), b"/a")
    assert touched.version == 0
    touched.note(Caller(CHILD), b"/a")
    assert touched.version == 1


async def test_what_is_written_edited_moved_and_removed_is_noted_where_the_links_lead(tmp_path: Path):
    touched = TouchedPaths()
    table = RouteTable(ChangingRoutes(touched, Epochs(tmp_path / "epochs"), SystemClock()).routes())
    place = tmp_path / "w"
    place.mkdir()
    (tmp_path / "link").symlink_to(place)

    async def ask(method: str, path: str, query: str = "", body: bytes = b"") -> None:
        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": body}

        route, arguments = table.find(method, path)
        scope = {"method": method, "path": path, "query_string": query.encode(), "headers": []}
        caller = Caller(CHILD, (PARENT,), epoch=1)
        assert (await route.answer(Request(scope, receive, caller=caller, arguments=arguments))).status < 300

    await ask("PUT", "/files/content", f"path={tmp_path}/link/a", b"one")
    edit = {"files": [{"path": f"{tmp_path}/link/a", "edits": [{"search": "one", "replacement": "two"}]}]}
    await ask("POST", "/files/edits", body=json.dumps(edit).encode())
    await ask("POST", "/files/move", body=json.dumps({"source": f"{place}/a", "target": f"{place}/b"}).encode())
    assert touched.of(CHILD) == touched.of(PARENT) == (f"{place}/a".encode(), f"{place}/b".encode())
    await ask("DELETE", "/files", f"path={place}/b")
    assert touched.version == 4
