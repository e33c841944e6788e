"""Inputs of the fold behind streams, written as JSON: what the fixtures hold and tests make by hand."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import msgspec

from chatd.core.states import Status
from chatd.core.stream import Event, Facts, Page, PartEvent, Parts, Row, StreamState, begun, reduce, resumed
from chatd.core.stream_ids import read_event_id
from chatd.core.stream_picture import Picture

CHAT = UUID(int=7)


def encoded(value: Any) -> bytes | None:
    return None if value is None else msgspec.json.encode(value)


def facts(snapshot: int, **fields: Any) -> dict[str, Any]:
    return {"snapshot": snapshot, "history": snapshot, "queue": 0, "retry_version": 0, "attempt": 0, **fields}


def message(id: int, revision: int, text: str = "", role: str = "user") -> dict[str, Any]:
    content = [{"type": "text", "text": text or f"message {id}"}]
    return {"id": id, "chat_id": str(CHAT), "revision": revision, "role": role, "content": content}


def page(known: dict[str, Any], *messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"page": {"facts": {"status": "waiting", **known}, "messages": list(messages), **fields}}


def parts(history: int, attempt: int, *texts: str, first: int = 1) -> dict[str, Any]:
    return {"parts": {"history": history, "attempt": attempt, "first": first, "texts": list(texts)}}


def read_input(given: dict[str, Any]) -> Page | Parts:
    if "parts" in given:
        of = given["parts"]
        return Parts(
            of["history"], of["attempt"], list(part_events(of["history"], of["attempt"], of["texts"], of["first"]))
        )
    of = given["page"]
    known = of["facts"]
    return Page(
        facts=Facts(
            snapshot=known["snapshot"],
            history=known["history"],
            queue=known["queue"],
            retry_version=known["retry_version"],
            attempt=known["attempt"],
            status=Status(known["status"]),
            error=encoded(known.get("error")),
            retry=encoded(known.get("retry")),
        ),
        rows=[Row(row["id"], row["revision"], msgspec.json.encode(row)) for row in of["messages"]],
        is_reset=of.get("is_reset", False),
        is_last=of.get("is_last", True),
        after=of.get("after"),
        queue=encoded(of.get("queue")),
        calls=encoded(of.get("calls")),
    )


def part_events(history: int, attempt: int, texts: Sequence[str], first: int = 1) -> Iterable[PartEvent]:
    for seq, text in enumerate(texts, first):
        id = f"{history}.{attempt}.{seq}"
        event = {
            "id": id,
            "type": "message_part",
            "chat_id": str(CHAT),
            "message_part": {
                "history_version": history,
                "generation_attempt": attempt,
                "seq": seq,
                "role": "assistant",
                "part": {"type": "text", "text": text},
            },
        }
        yield PartEvent(id, msgspec.json.encode(event), seq, seq)


def state_after(id: str) -> StreamState:
    seen = read_event_id(id)
    assert seen is not None
    return resumed(seen)


def folded(
    inputs: Iterable[dict[str, Any]], state: StreamState | None = None
) -> tuple[StreamState, list[dict[str, Any]]]:
    state = state or begun()
    events: list[Event] = []
    for given in inputs:
        state, more = reduce(CHAT, state, read_input(given))
        events += more
    return state, [msgspec.json.decode(event.data) for event in events]


def picture_of(events: Iterable[dict[str, Any]]) -> Picture:
    picture = Picture()
    for event in events:
        picture.apply(event)
    return picture
