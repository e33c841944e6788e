"""What a stream learns of its chat without asking the database, and what it takes from a client's word."""

from typing import cast
from uuid import UUID

import msgspec
import pytest

from chatd.core.states import Status
from chatd.core.stream import StreamState, begun, reduce, resumed
from chatd.core.stream_ids import DurableId, Place, Preview
from chatd.engine.recent_messages import RecentMessages
from chatd.server.stream.read_cursor import ReadCursor
from chatd.server.stream.reading import ChatReader
from chatd.store.chat_hints import ChatHint
from chatd.store.store import Store
from core.stream_inputs import CHAT
from server.stream_world import World

KNOWN = ChatHint(CHAT, 5, 4, 3, 2, 1, Status.RUNNING, False)


async def seen(world: World) -> tuple[ChatReader, StreamState]:
    """A client that has the whole picture."""
    reader, state = ChatReader(CHAT, cast("Store", world), RecentMessages()), begun()
    while state.place is not Place.PREVIEW:
        state, page = await reader.read(state, lambda _: None)
        state, _ = reduce(CHAT, state, page)
    return reader, state


@pytest.mark.parametrize(
    ("news", "is_enough"),
    [
        ({"generation_attempt": 2}, True),
        ({"status": Status.INTERRUPTING}, True),
        ({"history_version": 6}, False),
        ({"queue_version": 6}, False),
        ({"retry_version": 6}, False),
        ({"status": Status.ERROR}, False),
        ({"status": Status.REQUIRES_ACTION}, False),
    ],
    ids=str,
)
def test_a_hint_is_enough_when_nothing_is_behind_it_that_has_to_be_read(news: dict[str, object], is_enough: bool):
    reader = ChatReader(CHAT, cast("Store", None), RecentMessages())
    state = StreamState(snapshot=5, place=Place.PREVIEW, history=4, through=1, queue=3, retry=2, status=Status.RUNNING)
    hint = msgspec.structs.replace(KNOWN, snapshot_version=6, **news)
    page = reader.at_hand(state, 6, hint)

    assert (page is not None) is is_enough
    assert reader.at_hand(state, 7, hint) is None, "it is not the newest"
    assert reader.at_hand(state, 6, None) is None


async def test_who_names_a_message_that_is_none_of_the_chats_gets_everything_anew():
    world = World()
    world.finish()
    reader, _ = await seen(world)
    foreign = resumed(DurableId(world.snapshot, 999, Place.MESSAGES))
    state, page = await reader.read(foreign, lambda _: None)
    _, events = reduce(CHAT, state, page)

    assert page.is_reset
    assert [row.id for row in page.rows] == [row.id for row in world.rows]
    assert b"history_reset" in events[0].data


async def test_a_part_of_a_version_whose_last_message_was_replaced_since_is_no_place_to_go_on_from():
    """An answer and the message after it are one version. An edit of the latter leaves the former where it is."""
    world = World()
    world.wait_in_line()
    world.go_on_with_the_next()
    world.say()
    reader, _ = await seen(world)
    part = Preview(world.history, world.attempt, 1)
    world.edit()
    _, page = await reader.read(resumed(part), lambda _: None)

    assert page.is_reset
    assert [row.id for row in page.rows] == [row.id for row in world.rows if not row.deleted]


async def test_who_says_to_have_more_messages_than_there_are_is_told_of_those_that_come():
    world = World()
    world.finish()
    reader, _ = await seen(world)
    state, page = await reader.read(begun(999), lambda _: None)

    assert not page.is_reset
    assert not page.rows
    assert state.through == 999


class Marks:
    """Writes down what is marked as read."""

    def __init__(self) -> None:
        self.marked: list[int] = []

    async def mark_chat_read(self, *, id: UUID, message_id: int) -> int | None:
        self.marked.append(message_id)
        return message_id if message_id > 3 else None  # 3 was read elsewhere already


@pytest.mark.parametrize(("is_owner", "marked"), [(True, [3, 5]), (False, [])])
async def test_only_the_stream_of_a_chats_owner_marks_it_as_read_and_never_back(is_owner: bool, marked: list[int]):
    marks, moved = Marks(), list[int]()
    cursor = ReadCursor(cast("Store", marks), CHAT, lambda: moved.append(marks.marked[-1]), is_owner=is_owner)
    for through in (None, 0, 3, 3, 2, 5):
        await cursor.mark(through)

    assert marks.marked == marked
    assert moved == marked[1:], "others are told when it has moved"
