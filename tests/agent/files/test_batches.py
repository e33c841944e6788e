"""Batches of edits: all of them are made, or none."""

import asyncio
import os
import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from agent.running import AgentProcess
from chatd.agent.files.batch import MOST_FAILED, MOST_FILE_BYTES, EditsRefused, GivenUp, computed, written
from chatd.agent.refusals import Refused
from chatd.wire.agent.files import FileEdit, FileEdits


def edits(path: Path, *pairs: tuple[str, str]) -> FileEdits:
    return FileEdits(path=str(path), edits=tuple(FileEdit(search=old, replacement=new) for old, new in pairs))


def body(*files: tuple[Path, str, str]) -> dict[str, object]:
    return {"files": [{"path": str(p), "edits": [{"search": old, "replacement": new}]} for p, old, new in files]}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "w"
    place.mkdir()
    for name in "abc":
        (place / name).write_text(f"this is {name}\n")
    return place


def contents(place: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(place.iterdir())}


OLD = {name: f"this is {name}\n" for name in "abc"}
NEW = {name: f"that is {name}\n" for name in "abc"}


def marks() -> Iterator[str]:
    return (f"{number:08x}" for number in count())


class FailingRename:
    """The system's, but for some calls: those with these numbers, from 0 on."""

    def __init__(self, *failing: int) -> None:
        self._failing = failing
        self._calls = count()

    def __call__(self, source: bytes, target: bytes) -> None:
        if next(self._calls) in self._failing:
            raise PermissionError(1, "Operation not permitted")
        Path(os.fsdecode(source)).rename(os.fsdecode(target))


async def test_several_files_are_edited_and_their_diffs_told(agent: AgentProcess, place: Path):
    (place / "a").chmod(0o705)
    asked = body(*((place / name, "this", "that") for name in "abc"))
    reply = (await agent.ask("POST", "/files/edits", body=asked)).json

    assert contents(place) == NEW
    assert stat.S_IMODE((place / "a").stat().st_mode) == 0o705
    assert [file["path"] for file in reply["files"]] == [str(place / name) for name in "abc"]
    path = place / "a"
    assert reply["files"][0]["diff"] == f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-this is a\n+that is a\n"


async def test_all_that_is_wrong_is_told_and_nothing_is_changed(agent: AgentProcess, place: Path):
    (place / "link").symlink_to("c")
    os.link(place / "c", place / "hard")
    asked = {
        "files": [
            {"path": f"{place}/a", "edits": [{"search": "this", "replacement": "that"}]},
            {
                "path": f"{place}/b",
                "edits": [
                    {"search": "nowhere", "replacement": "x"},
                    {"search": "this", "replacement": "that"},
                    {"search": "", "replacement": "x"},
                ],
            },
            {"path": f"{place}/none", "edits": [{"search": "a", "replacement": "b"}]},
            {"path": f"{place}/c", "edits": [{"search": "this", "replacement": "that"}]},
            {"path": f"{place}/link", "edits": [{"search": "is", "replacement": "was"}]},
            {"path": f"{place}/hard", "edits": [{"search": "is", "replacement": "was"}]},
            {"path": f"{place}", "edits": [{"search": "is", "replacement": "was"}]},
            {"path": "b", "edits": [{"search": "is", "replacement": "was"}]},
            {"path": f"{place}/a", "edits": []},
        ]
    }
    reply = await agent.ask("POST", "/files/edits", body=asked)
    wrong = {each["field"]: each["detail"] for each in reply.json["validations"]}

    assert reply.status == 400
    assert set(wrong) == {
        "files[1].edits[0]",
        "files[1].edits[2]",
        "files[2]",
        "files[4]",
        "files[5]",
        "files[6]",
        "files[7]",
        "files[8].edits",
    }
    assert f"{place}/b: The text was not found" in wrong["files[1].edits[0]"]
    assert "tried without files[1].edits[0]" in wrong["files[1].edits[2]"]
    assert "same file" in wrong["files[4]"]
    assert "same file" in wrong["files[5]"]
    assert {name: (place / name).read_text() for name in "abc"} == OLD


async def test_edits_of_one_path_add_up_wherever_they_stand(agent: AgentProcess, place: Path):
    asked = body((place / "a", "this", "that"), (place / "b", "this", "that"), (place / "a", "that is", "those are"))
    reply = (await agent.ask("POST", "/files/edits", body=asked)).json

    assert contents(place) == {"a": "those are a\n", "b": "that is b\n", "c": OLD["c"]}
    assert len(reply["files"]) == 2


async def test_bytes_that_are_no_text_survive(agent: AgentProcess, place: Path):
    (place / "a").write_bytes(b"\xff\xfe\0\r\nword \x80\r\n\xc3")
    (place / "b").write_bytes(b"\0" * 1000 + b"word" + bytes(range(128, 256)))
    asked = body((place / "a", "word", "other"), (place / "b", "word", "other"))
    assert (await agent.ask("POST", "/files/edits", body=asked)).status == 200

    assert (place / "a").read_bytes() == b"\xff\xfe\0\r\nother \x80\r\n\xc3"
    assert (place / "b").read_bytes() == b"\0" * 1000 + b"other" + bytes(range(128, 256))


async def test_an_edit_that_changes_nothing_writes_nothing(agent: AgentProcess, place: Path):
    before = (place / "a").stat()
    reply = await agent.ask("POST", "/files/edits", body=body((place / "a", "this", "this")))

    assert reply.json["files"] == [{"path": f"{place}/a", "diff": "", "changed": False}]
    assert (place / "a").stat().st_ino == before.st_ino


async def test_edits_that_come_at_the_same_time_add_up(agent: AgentProcess, place: Path):
    (place / "a").write_text("".join(f"<{number}>\n" for number in range(20)))
    asked = [body((place / "a", f"<{number}>", f"[{number}]")) for number in range(20)]
    replies = await asyncio.gather(*(agent.ask("POST", "/files/edits", body=each) for each in asked))

    assert {reply.status for reply in replies} == {200}
    assert (place / "a").read_text() == "".join(f"[{number}]\n" for number in range(20))


async def test_unknown_fields_are_refused(agent: AgentProcess, place: Path):
    wrong = {"files": [{"path": f"{place}/a", "edits": [{"search": "a", "replacement": "b", "replace": "c"}]}]}

    assert (await agent.ask("POST", "/files/edits", body=wrong)).status == 400


# Without a process around it


def test_a_file_that_is_too_large_or_would_become_so_is_refused(place: Path):
    (place / "a").write_bytes(b"x" * (MOST_FILE_BYTES + 1))
    (place / "b").write_bytes(b"x" * 10_000)
    with pytest.raises(EditsRefused) as refused:
        computed(
            [
                edits(place / "a", ("y", "z")),
                FileEdits(
                    path=str(place / "b"), edits=(FileEdit(search="x", replacement="y" * 10_000, replace_all=True),)
                ),
            ]
        )

    first, second = refused.value.validations
    assert "too many to edit" in first.detail
    assert "would become longer" in second.detail


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_when_a_rename_fails_those_before_it_are_taken_back(place: Path, failing: int):
    before = {name: (place / name).stat().st_ino for name in "abc"}
    changed = computed([edits(place / name, ("this", "that")) for name in "abc"])
    with pytest.raises(Refused):
        written(changed, marks().__next__, FailingRename(failing))

    assert contents(place) == OLD, "nothing else is left in the directory either"
    assert {name: (place / name).stat().st_ino for name in "abc"} == before


def test_when_even_that_fails_it_is_said_what_is_the_case(place: Path):
    changed = computed([edits(place / name, ("this", "that")) for name in "abc"])
    with pytest.raises(Refused) as refused:
        written(changed, marks().__next__, FailingRename(2, 4))  # that of c, then that of a back; b's works

    assert refused.value.kind == "half_written"
    found = contents(place)
    (kept,) = (name for name in found if name.startswith(".a.old."))
    assert found == {"a": NEW["a"], "b": OLD["b"], "c": OLD["c"], kept: OLD["a"]}
    assert f"{place}/a (its old content is in {place}/{kept})" in refused.value.message
    assert "1 that had been changed have the old content again" in refused.value.message


def test_a_file_that_changed_since_it_was_read_is_left_alone(place: Path):
    changed = computed([edits(place / name, ("this", "that")) for name in "abc"])
    (place / "c").write_text("something else\n")
    with pytest.raises(Refused) as refused:
        written(changed, marks().__next__)

    assert refused.value.kind == "changed"
    assert contents(place) == {**OLD, "c": "something else\n"}


def test_where_a_file_can_have_no_second_name_a_copy_is_kept(place: Path, monkeypatch: pytest.MonkeyPatch):
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    (place / "a").chmod(0o751)
    changed = computed([edits(place / name, ("this", "that")) for name in "abc"])
    with pytest.raises(Refused):
        written(changed, marks().__next__, FailingRename(2))

    assert contents(place) == OLD
    assert stat.S_IMODE((place / "a").stat().st_mode) == 0o751
    written(changed[2:], marks().__next__)
    assert contents(place) == {**OLD, "c": NEW["c"]}


def test_who_does_not_wait_any_more_makes_it_end(place: Path):
    with pytest.raises(GivenUp):
        computed([edits(place / "a", ("this", "that"))], lambda: True)


def test_after_many_failures_the_rest_is_not_tried(place: Path):
    with pytest.raises(EditsRefused) as refused:
        computed([edits(place / "a", *[("nowhere", "x")] * 100)])

    assert len(refused.value.validations) == MOST_FAILED + 1
    assert "Not tried" in refused.value.validations[-1].detail
