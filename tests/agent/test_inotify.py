"""Directories that the kernel watches."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.running import WAIT_SECONDS
from chatd.agent.inotify import Inotify


async def _told_after(inotify_told: asyncio.Event, change: Callable[[], object]) -> None:
    inotify_told.clear()
    change()
    async with asyncio.timeout(WAIT_SECONDS):
        await inotify_told.wait()


async def test_changes_of_names_that_count_are_told_and_others_are_not(tmp_path: Path):
    told = asyncio.Event()
    inotify = Inotify(told.set)
    other = tmp_path / "other"
    other.mkdir()
    assert inotify.only({bytes(tmp_path): frozenset({b"wanted"}), bytes(other): None, b"/nowhere": None})
    (tmp_path / "unwanted").write_text("x")
    await _told_after(told, lambda: (other / "any").write_text("x"))
    told.clear()
    inotify.only({bytes(tmp_path): frozenset({b"wanted"})})
    (other / "any").write_text("y")
    (tmp_path / "unwanted").write_text("y")
    for _ in range(3):
        await asyncio.to_thread(lambda: None)  # turns of the loop, in which events would be read
    assert not told.is_set()
    await _told_after(told, lambda: (tmp_path / "wanted").write_text("x"))
    inotify.close()


async def test_a_directory_that_takes_the_name_of_another_can_be_watched(tmp_path: Path):
    told = asyncio.Event()
    inotify = Inotify(told.set)
    place = tmp_path / "a"
    place.mkdir()
    wanted = {bytes(place): None}
    inotify.only(wanted)
    await _told_after(told, lambda: place.rename(tmp_path / "b"))
    place.mkdir()
    assert inotify.watched == 0
    inotify.only(wanted)
    await _told_after(told, lambda: (place / "f").write_text("x"))
    inotify.close()


async def test_what_the_system_does_not_let_us_watch_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    inotify = Inotify(lambda: None)
    monkeypatch.setattr(inotify, "_add", lambda _path: False)

    assert not inotify.only({bytes(tmp_path): None})
    inotify.close()


async def test_a_directory_of_two_names_is_watched_for_as_long_as_one_of_them_is_wanted(tmp_path: Path):
    """As where one folder of skills is a link to another: the kernel has one watch for both."""
    told = asyncio.Event()
    inotify = Inotify(told.set)
    place, link = tmp_path / "place", tmp_path / "link"
    place.mkdir()
    link.symlink_to(place)
    assert inotify.only({bytes(place): frozenset({b"a"}), bytes(link): frozenset({b"b"})})
    await _told_after(told, lambda: (place / "a").write_text("x"))
    await _told_after(told, lambda: (place / "b").write_text("x"))
    assert inotify.only({bytes(place): frozenset({b"a"})})
    await _told_after(told, lambda: (place / "a").write_text("y"))
    inotify.close()


async def test_one_that_is_closed_does_not_reach_into_another(tmp_path: Path):
    """Whoever still looks may come late, when its number was given to another."""
    old = Inotify(lambda: None)
    old.close()
    new = Inotify(lambda: None)
    old.only({bytes(tmp_path): None})

    assert old.watched == 0
    new.close()


async def test_where_the_kernel_has_lost_changes_something_has_changed(tmp_path: Path):
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())  # noqa: ASYNC240
    if most > 100_000:
        pytest.skip("this system keeps more changes than a test should make")
    told = asyncio.Event()
    inotify = Inotify(told.set)
    inotify.only({bytes(tmp_path): frozenset({b"wanted"})})
    for number in range(most // 2 + 1):  # two and more changes each, and nobody reads them meanwhile
        (tmp_path / f"unwanted-{number}").touch()
    async with asyncio.timeout(WAIT_SECONDS):
        await told.wait()
    inotify.close()
