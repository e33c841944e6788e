"""The fold behind a chat's live stream: from what is known of the chat to the events that one client gets.

`reduce(state, input)` is the whole of it. The state is what the client has seen; it can be had again from the id of the
last event that the client got (`resumed`), which is why a reconnect continues exactly there. Nothing here waits, reads
or decodes: messages and parts come as the JSON that all clients share.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.states import Status
from chatd.core.stream_ids import DurableId, EventId, Place, Preview

_NOT_YET: Final = -1  # older than any version


class Event(msgspec.Struct, frozen=True, gc=False):
    """`data` is its whole JSON, `id` included. An event without an id is replaced by later ones and not resumed at."""

    id: str | None
    data: bytes


class PartEvent(Event, frozen=True, gc=False):
    """A `message_part` event, made once for all readers. It stands for the parts from `first` to `last`."""

    first: int
    last: int


class Facts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A chat at one snapshot. `error` and `retry` are JSON as clients see it."""

    snapshot: int
    history: int
    queue: int
    retry_version: int
    attempt: int
    status: Status
    error: bytes | None = None
    retry: bytes | None = None


class Row(msgspec.Struct, frozen=True, gc=False):
    """A message that people see, as JSON."""

    id: int
    revision: int
    json: bytes


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What was read of a chat for one client: its facts, and of the rest what `needs` asks for."""

    facts: Facts
    rows: Sequence[Row] = ()  # newer than what the client has, by id, as many as were read
    is_reset: bool = False  # rows start anew: the client has some that are hidden by now
    is_last: bool = True  # there are no more rows
    after: int | None = None  # the newest message that the client has, where that had to be looked up
    queue: bytes | None = None  # the whole list, JSON
    calls: bytes | None = None  # those that wait for the client, JSON


class Parts(msgspec.Struct, frozen=True):
    """Live parts of one attempt, in order."""

    history: int
    attempt: int
    events: Sequence[PartEvent]


class StreamState(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one client has seen. `_NOT_YET` and None stand for: nobody knows, so it is sent."""

    snapshot: int = _NOT_YET
    place: Place = Place.MESSAGES
    history: int = _NOT_YET  # all messages of this version or an earlier one are known
    through: int | None = 0  # the newest message that is known; None: whichever it was in `history`
    is_filtered: bool = False  # the client says that it has messages up to `through`; nobody has checked
    queue: int = _NOT_YET
    retry: int = _NOT_YET
    status: Status | None = None
    error: bytes | None = None
    action: int = _NOT_YET
    preview: Preview | None = None


class Needs(msgspec.Struct, frozen=True):
    """What a page has to bring along."""

    rows: bool
    queue: bool
    calls: bool


class PartsMissing(Exception):
    """Parts were lost on their way here. The client is to resume."""


def begun(after_id: int = 0) -> StreamState:
    """A client that has nothing, or the messages up to one that it names."""
    return StreamState(through=after_id, is_filtered=after_id > 0)


def resumed(seen: EventId) -> StreamState:
    """A client that has seen all events up to this one."""
    if isinstance(seen, Preview):
        version = seen.history  # its sync brought everything up to there, and maybe more
        return StreamState(
            snapshot=version,
            place=Place.PREVIEW,
            history=version,
            through=None,
            queue=version,
            retry=version,
            preview=seen,
        )
    snapshot, place = seen.snapshot, seen.place
    return StreamState(
        snapshot=snapshot,
        place=place,
        history=snapshot if place > Place.MESSAGES else _NOT_YET,
        through=seen.through,
        queue=snapshot if place >= Place.QUEUE else _NOT_YET,
        retry=snapshot if place >= Place.RETRY else _NOT_YET,
        preview=seen.preview,
    )


def is_behind(state: StreamState, snapshot: int) -> bool:
    """Whether there may be events for this client, the chat being at this snapshot."""
    return snapshot > state.snapshot or state.place is not Place.PREVIEW


def needs(state: StreamState, facts: Facts) -> Needs:
    return Needs(
        rows=facts.history > state.history,
        queue=facts.queue > state.queue,
        calls=facts.status is Status.REQUIRES_ACTION and state.action != facts.history,
    )


def reduce(chat_id: UUID, state: StreamState, given: Page | Parts) -> tuple[StreamState, Sequence[Event]]:
    """The state after it, and what the client gets. Raises PartsMissing."""
    if isinstance(given, Parts):
        return _parts(state, given)
    if given.facts.snapshot < state.snapshot and not given.is_reset:
        return state, ()  # it was overtaken
    return _Sync(chat_id, state, given).run()


def _parts(state: StreamState, given: Parts) -> tuple[StreamState, Sequence[Event]]:
    held = state.preview
    if (
        state.place is not Place.PREVIEW
        or held is None
        or (held.history, held.attempt) != (given.history, given.attempt)
    ):
        return state, ()
    seq, events = held.seq, given.events
    if events and events[0].last <= seq:
        events = [event for event in events if event.last > seq]
    if not events:
        return state, ()
    for event in events:
        if event.first > seq + 1:
            raise PartsMissing
        seq = event.last
    return msgspec.structs.replace(state, preview=Preview(held.history, held.attempt, seq)), events


class _Sync:
    """One page into events, in the order that clients rely on."""

    def __init__(self, chat_id: UUID, state: StreamState, page: Page) -> None:
        self._state = state
        self._page = page
        self._facts = page.facts
        self._through = 0 if page.is_reset else (state.through if page.after is None else page.after) or 0
        self._preview = state.preview
        self._events: list[Event] = []
        self._chat = b'"chat_id":"%b"' % str(chat_id).encode()

    def run(self) -> tuple[StreamState, Sequence[Event]]:
        state, facts, page = self._state, self._facts, self._page
        if page.is_reset:
            self._add(Place.MESSAGES, b"history_reset")
        for row in page.rows:
            # A later one comes with the snapshot that it belongs to.
            if row.id > self._through and row.revision <= facts.snapshot:
                self._through = row.id
                self._add(Place.MESSAGES, b"message", row.json)
        known = msgspec.structs.replace(state, snapshot=facts.snapshot, through=self._through, is_filtered=False)
        if not page.is_last:
            return msgspec.structs.replace(known, place=Place.MESSAGES, history=_NOT_YET), self._events
        self._tail()
        is_error = facts.status is Status.ERROR
        return (
            msgspec.structs.replace(
                known,
                place=Place.PREVIEW,
                history=facts.history,
                queue=max(facts.queue, state.queue),
                retry=max(facts.retry_version, state.retry),
                status=facts.status,
                error=facts.error if is_error else None,
                action=facts.history if facts.status is Status.REQUIRES_ACTION else _NOT_YET,
                preview=self._preview,
            ),
            self._events,
        )

    def _tail(self) -> None:
        state, facts, page = self._state, self._facts, self._page
        if facts.queue > state.queue and page.queue is not None:
            self._add(Place.QUEUE, b"queue_update", page.queue, field=b"queued_messages")
        is_new_status = facts.status is not state.status and not self._has(Place.STATUS)
        if is_new_status:
            self._add(Place.STATUS, b"status", b'{"status":"%b"}' % facts.status.value.encode())
        is_new_error = is_new_status or facts.error != state.error
        if facts.status is Status.ERROR and facts.error is not None and is_new_error and not self._has(Place.ERROR):
            self._add(Place.ERROR, b"error", facts.error)
        if page.calls is not None and state.action != facts.history and not self._has(Place.ACTION):
            self._add(Place.ACTION, b"action_required", b'{"tool_calls":%b}' % page.calls)
        if facts.retry is not None and facts.retry_version > state.retry:
            self._add(Place.RETRY, b"retry", facts.retry, of_attempt=True)
        held = state.preview
        is_other = held is None or held.history != facts.history
        if is_other or (held is not None and facts.attempt and held.attempt != facts.attempt):
            self._preview = Preview(facts.history, facts.attempt)
            self._add(Place.PREVIEW, b"preview_reset", of_attempt=True)

    def _has(self, place: Place) -> bool:
        """Whether the client has resumed within this very snapshot, and behind this place."""
        state = self._state
        return state.status is None and state.snapshot == self._facts.snapshot and state.place >= place

    def _add(
        self,
        place: Place,
        kind: bytes,
        payload: bytes | None = None,
        *,
        field: bytes | None = None,
        of_attempt: bool = False,
    ) -> None:
        """`of_attempt`: says which one it is about, so that a client can tell whether a retry is over."""
        facts = self._facts
        id = DurableId(facts.snapshot, self._through, place, self._preview).id
        data = b'{"id":"%b","type":"%b",%b' % (id.encode(), kind, self._chat)
        if payload is not None:
            data += b',"%b":%b' % (field or kind, payload)
        if of_attempt:
            data += b',"history_version":%d,"generation_attempt":%d' % (facts.history, facts.attempt)
        self._events.append(Event(id, data + b"}"))
