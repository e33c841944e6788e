"""The fold behind streams: which events a client gets, in which order, and where it goes on after a cut."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.stream import PartEvent, Parts, PartsMissing, begun, needs, reduce
from chatd.core.stream_ids import DurableId, Place, Preview, read_event_id
from core.stream_inputs import CHAT, facts, folded, message, page, parts, picture_of, read_input, state_after

FIXTURES = sorted((Path(__file__).parent / "stream_fixtures").glob("*.json"))
RUNNING = {"status": "running"}


def load(path: Path) -> dict[str, Any]:
    return msgspec.json.decode(path.read_bytes())


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_the_inputs_of_a_fixture_give_its_events_and_these_its_picture(path: Path):
    fixture = load(path)
    _, events = folded(fixture["inputs"])

    assert events == fixture["events"]
    assert picture_of(events).shown() == fixture["picture"]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_client_that_is_cut_between_two_inputs_gets_the_rest_and_nothing_of_what_it_had(path: Path):
    fixture = load(path)
    inputs = fixture["inputs"]
    for place in range(1, len(inputs)):
        _, before = folded(inputs[:place])
        _, after = folded(_as_read_again(inputs, place, before), state_after(before[-1]["id"]))

        assert picture_of([*before, *after]).shown() == fixture["picture"]
        had = {event["message"]["id"] for event in before if event["type"] == "message"}
        if "history_reset" not in kinds(after):
            assert not had & {event["message"]["id"] for event in after if event["type"] == "message"}


def _as_read_again(inputs: list[Any], place: int, before: list[Any]) -> list[Any]:
    """After a part the newest message has to be looked up."""
    last = [event["message"]["id"] for event in before if event["type"] == "message"]
    rest = list(inputs[place:])
    for number, one in enumerate(rest):
        if "page" in one:
            rest[number] = {"page": {"after": last[-1], **one["page"]}}
            break
    return rest


def test_everything_of_one_snapshot_comes_in_the_order_that_clients_rely_on():
    retry = {"attempt": 1}
    known = facts(5, queue=5, retry_version=5, retry=retry, attempt=2, status="requires_action")
    _, events = folded([page(known, message(1, 1), is_reset=True, queue=[], calls=[])])
    failed = facts(6, history=5, status="error", error={"message": "no"})
    _, then = folded([page(known, message(1, 1), queue=[], calls=[]), page(failed)])

    assert kinds(events) == [
        "history_reset",
        "message",
        "queue_update",
        "status",
        "action_required",
        "retry",
        "preview_reset",
    ]
    assert kinds(then)[-2:] == ["status", "error"]


def test_a_message_of_a_later_snapshot_waits_for_it():
    state, events = folded([page(facts(3), message(1, 1), message(2, 4), queue=[])])
    assert [event["message"]["id"] for event in events if event["type"] == "message"] == [1]

    _, later = folded([page(facts(4), message(2, 4))], state)
    assert kinds(later) == ["message", "preview_reset"]


def test_what_was_overtaken_says_nothing():
    state, _ = folded([page(facts(3), message(1, 1), queue=[])])

    assert folded([page(facts(2), message(1, 1), queue=[]), page(facts(3))], state) == (state, [])


def test_parts_of_another_attempt_and_parts_that_were_seen_are_left_out():
    state, _ = folded([page(facts(1, attempt=1, **RUNNING), message(1, 1), queue=[]), parts(1, 1, "a", "b")])
    same, none = folded([parts(1, 2, "x"), parts(2, 1, "x"), parts(1, 1, "a", "b")], state)
    _, more = folded([parts(1, 1, "b", "c", first=2)], state)

    assert (same, none) == (state, [])
    assert [event["id"] for event in more] == ["1.1.3"]


def test_missing_parts_end_the_stream():
    state, _ = folded([page(facts(1, attempt=1, **RUNNING), message(1, 1), queue=[]), parts(1, 1, "a")])

    with pytest.raises(PartsMissing):
        folded([parts(1, 1, "c", first=3)], state)


def test_parts_that_were_joined_continue_where_the_client_is():
    state, _ = folded([page(facts(1, attempt=1, **RUNNING), message(1, 1), queue=[]), parts(1, 1, "a")])
    state, events = reduce(CHAT, state, Parts(1, 1, [PartEvent("1.1.9", b"{}", 2, 9)]))

    assert [event.id for event in events] == ["1.1.9"]
    assert state.preview == Preview(1, 1, 9)


def test_an_error_is_told_once_and_the_next_one_again():
    failed = {"status": "error", "error": {"message": "no"}}
    state, first = folded([page(facts(2, **failed), message(1, 1), queue=[])])
    state, same = folded([page(facts(3, history=2, queue=3, **failed), queue=[])], state)
    _, next_one = folded([page(facts(4, history=2, queue=3, status="error", error={"message": "other"}))], state)

    assert kinds(first)[-2:] == ["error", "preview_reset"]
    assert kinds(same) == ["queue_update"]
    assert kinds(next_one) == ["error"]


@pytest.mark.parametrize(
    "known",
    [
        page(facts(5, queue=5, status="error", error={"message": "no"}), message(1, 5), queue=[]),
        page(
            facts(5, queue=5, retry_version=5, retry={"attempt": 1}, attempt=2, status="requires_action"),
            message(1, 5),
            queue=[],
            calls=[],
        ),
    ],
    ids=["an error", "calls and a retry"],
)
def test_who_resumes_within_the_events_of_a_snapshot_gets_those_that_are_left(known: Any):
    _, events = folded([known])
    for place, event in enumerate(events):
        _, left = folded([known], state_after(event["id"]))

        assert kinds(left) == kinds(events)[place + 1 :], event["id"]


def test_only_what_is_newer_is_asked_for():
    known = read_input(page(facts(5, history=4, queue=3, status="requires_action")))
    assert not isinstance(known, Parts)

    assert msgspec.structs.astuple(needs(begun(), known.facts)) == (True, True, True)
    assert msgspec.structs.astuple(needs(state_after("5.9p.4.1.0"), known.facts)) == (False, False, True)
    assert msgspec.structs.astuple(needs(state_after("3.9p.3.1.0"), known.facts)) == (True, False, True)
    assert msgspec.structs.astuple(needs(state_after("5.9"), known.facts)) == (True, True, True)


numbers = st.integers(0, 10**18 - 1)
previews = st.builds(Preview, numbers, numbers, numbers)
durables = st.builds(DurableId, numbers, numbers, st.sampled_from(Place), st.none() | previews)


@given(previews | durables)
def test_an_event_id_is_read_back_as_it_was_written(seen: Preview | DurableId):
    assert read_event_id(seen.id) == seen


@pytest.mark.parametrize(
    "text", ["", "1", "1.", "1.2x", "1.2.3.4", "a.b.c", "1.2.3.4.5.6", "-1.2", "1.2.³", " 1.2", "9" * 30 + ".1"]
)
def test_what_is_no_event_id_is_told_apart(text: str):
    assert read_event_id(text) is None
