"""Whatever happens to a chat, and however a client is cut off meanwhile: in the end it has the whole picture."""

import asyncio
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.core.states import Status
from chatd.core.stream import Event, Parts, begun, reduce, resumed
from chatd.core.stream_ids import Place, read_event_id
from chatd.core.stream_picture import Picture
from chatd.engine.recent_messages import RecentMessages
from chatd.server.stream import reading
from chatd.server.stream.reading import ChatReader
from chatd.store.store import Store
from core.stream_inputs import CHAT
from server.stream_world import World

HAPPENINGS = [
    "send",
    "say",
    "say",
    "fail_attempt",
    "try_again",
    "step",
    "finish",
    "go_on_with_the_next",
    "interrupt",
    "fail",
    "edit",
    "compact",
    "wait_in_line",
    "leave_line",
]


class Client:
    """Folds as a stream's loop does. Cut after some events, it forgets all but the id of the last one."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._reader = ChatReader(CHAT, cast("Store", world), RecentMessages())
        self._state = begun()
        self.picture = Picture()
        self._got: set[int] = set()

    def look(self, cut_after: int | None = None) -> None:
        asyncio.run(self._look(cut_after))

    async def _look(self, cut_after: int | None) -> None:
        world, events = self._world, self._parts()
        while self._state.place is not Place.PREVIEW or world.snapshot > self._state.snapshot:
            self._state, page = await self._reader.read(self._state, lambda _: None)
            self._state, more = reduce(CHAT, self._state, page)
            events += [*more, *self._parts()]
        for event in events if cut_after is None else events[:cut_after]:
            self._take(msgspec.json.decode(event.data))
        if cut_after is not None and cut_after < len(events):
            last = self.picture.last_id
            seen = last and read_event_id(last)
            self._state = resumed(seen) if seen else begun()

    def _parts(self) -> list[Event]:
        held, world = self._state.preview, self._world
        if held is None:
            return []
        given = Parts(world.history, world.attempt, world.events_after(held.seq))
        if (held.history, held.attempt) != (world.history, world.attempt):
            return []
        self._state, events = reduce(CHAT, self._state, given)
        return list(events)

    def _take(self, event: dict[str, Any]) -> None:
        if event["type"] == "history_reset":
            self._got.clear()
        if event["type"] == "message":
            assert event["message"]["id"] not in self._got, "a message came twice"
            self._got.add(event["message"]["id"])
        self.picture.apply(event)


def truth(world: World) -> dict[str, Any]:
    return {
        "messages": [row.id for row in world.rows if not row.deleted],
        "queue": [row.id for row in world.queued],
        "status": str(world.status),
        "error": world.error and msgspec.json.decode(world.error)["message"],
        "retry": world.retry and msgspec.json.decode(world.retry),
        "text": "".join(world.parts),
    }


def shown(picture: Picture) -> dict[str, Any]:
    return {
        "messages": sorted(picture.messages),
        "queue": [queued["id"] for queued in picture.queue],
        "status": picture.status,
        "error": picture.error and picture.error["message"],
        "retry": picture.retry,
        "text": "".join(part["text"] for part in picture.parts),
    }


happenings = st.sampled_from(HAPPENINGS)
steps = st.lists(
    st.tuples(happenings, st.sampled_from(["nobody", "looks", "cut"]), st.integers(0, 12), st.none() | happenings),
    min_size=1,
    max_size=30,
)


@given(steps)
@settings(max_examples=400, deadline=None)
@pytest.mark.behaviour("STREAM-7")
def test_the_final_picture_is_the_same_however_the_stream_was_cut(taken: list[tuple[str, str, int, str | None]]):
    most, reading.PAGE_ROWS = reading.PAGE_ROWS, 3
    try:
        world = World()
        watching, absent = Client(world), Client(world)
        for happening, does, cut_after, between in taken:
            getattr(world, happening)()
            watching.look()
            if does != "nobody":
                world.between = getattr(world, between) if between else None
                absent.look(cut_after if does == "cut" else None)
                world.between = None
                watching.look()
        absent.look()
        watching.look()
        late = Client(world)
        late.look()

        assert shown(watching.picture) == truth(world)
        assert shown(absent.picture) == truth(world)
        assert shown(late.picture) == truth(world)
    finally:
        reading.PAGE_ROWS = most


def test_what_a_client_may_not_have_seen_is_worth_a_new_beginning():
    world = World()
    world.finish()
    client = Client(world)
    client.look()
    world.send()
    world.edit()
    client.look()

    assert world.status is Status.RUNNING
    assert shown(client.picture) == truth(world)
