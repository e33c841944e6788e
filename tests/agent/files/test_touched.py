"""Which chat has changed what."""

from uuid import UUID

from chatd.agent.caller import Caller
from chatd.agent.files.touched import MOST_CHATS, MOST_PATHS, TouchedPaths

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
