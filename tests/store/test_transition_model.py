"""Random transitions from clients at once: what they commit, replayed through the pure model, is what is stored."""

import os
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chatd.core.chat_model import Call, ChatModel, Content, apply
from chatd.core.outcomes import Refusal, Refused
from chatd.core.roles import Role
from chatd.core.states import RUNNABLE, State, Status
from chatd.core.transitions import Transition
from chatd.store.queries import ChatChange
from chatd.store.transitions import Applied
from chatd.testing.postgres import Database
from store.stored_change import assert_moment, assert_stored, row_of
from store.transition_driver import ERROR, Chats, applied, open_chats, shown
from store.transition_programs import BATCHES, Program, Record, Step
from store.world import new_id

CLIENTS = 4
STEPS = 50  # of one program: the chat goes through several turns, and a failure can still be read
PROGRAMS = 200 if os.environ.get("CHATD_TEST_LONG") else 10  # 10,000 steps or 500
T = Transition
programs = st.lists(
    st.builds(
        Step,
        client=st.integers(0, CLIENTS - 1),
        action=st.sampled_from([*T, *BATCHES]),
        first=st.integers(0, 5),
        second=st.integers(0, 5),
        stale=st.booleans(),
        flag=st.booleans(),
        choice=st.integers(-20, 60).map(lambda number: max(0, number)),
    ),
    min_size=STEPS,
    max_size=STEPS,
)


def generated() -> list[list[Step]]:
    """The same programs every time; how they interleave is up to the machine."""
    found: list[list[Step]] = []

    @settings(
        max_examples=PROGRAMS,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(program=programs)
    def collect(program: list[Step]) -> None:
        found.append(program)

    collect()
    return found


class Replay:
    """The commits in order, each held against what the database said of it."""

    def __init__(self, birth: Applied, born: Content) -> None:
        self.models: dict[int, ChatModel] = {}
        self.gone: set[str] = set()
        self._message_ids: dict[int, int] = {}
        self._queued_ids: dict[int, int] = {}
        self._row: dict[str, object] | None = None  # as the last commit said it
        self._follow(None, Call(transition=T.CREATE_CHAT, rows=(born,)), birth)

    @property
    def newest(self) -> ChatModel:
        return self.models[max(self.models)]

    def commit(self, record: Record, silenced: set[UUID]) -> None:
        assert isinstance(record.outcome, Applied)
        before = self.newest
        if record.call.transition is T.ACQUIRE and before.owner is not None:
            assert before.owner[0] in silenced, "a chat was taken from a replica that beats"
        assert record.low < record.outcome.change.snapshot_version <= record.high
        self._follow(before, self._here(record.call), record.outcome)

    def refusal(self, record: Record) -> None:
        """It was legal at some version within the call."""
        assert isinstance(record.outcome, Refused)
        told = (record.outcome.reason, record.outcome.state)
        legal = [
            (made if isinstance(made := apply(model, self._here(record.call)), Refusal) else "applied", model.state)
            for model in (self.models[version] for version in range(record.low, record.high + 1))
        ]
        assert told in legal, (record, legal)

    def _here(self, call: Call) -> Call:
        """With the model's ids in place of the database's."""
        ids = self._message_ids if call.transition is T.EDIT_MESSAGE else self._queued_ids
        order = tuple(self._queued_ids.get(id, -id) for id in call.order)
        return msgspec.structs.replace(call, target=ids.get(call.target, -1), order=order)

    def _follow(self, before: ChatModel | None, call: Call, outcome: Applied) -> None:
        made = apply(before, call)
        change = outcome.change
        assert not isinstance(made, Refusal), (call, made, change)
        after, effects = made
        self._message_ids |= zip([message.id for message in outcome.messages], effects.inserted, strict=True)
        assert [self._message_ids[id] for id in change.deleted_ids or ()] == list(effects.hidden)
        if effects.queued:
            self._queued_ids |= zip([change.queued_id or 0], effects.queued, strict=True)
        assert summary(change) == modelled(after), call
        assert_moment(self._row, outcome)
        self._row = row_of(change)
        assert change.snapshot_before == (before.snapshot if before else 0)
        if before and call.transition in (T.EDIT_MESSAGE, T.DELETE_QUEUED, T.RELEASE_QUEUED):
            kept = {each.text for each in after.queue} | {each.content.text for each in after.messages}
            self.gone |= {each.text for each in before.queue} - kept
        self.models[after.snapshot] = after


def summary(change: ChatChange) -> dict[str, object]:
    return {
        "state": change.state_after,
        "status": change.status,
        "versions": (change.snapshot_version, change.history_version, change.queue_version, change.retry_version),
        "owner": None if change.replica_id is None else (change.replica_id, change.runner_id),
        "attempt": (change.generation_attempt, change.takeovers),
        "queue": (change.queue_length, change.held_length),
        "open calls": change.has_open_calls,
        "draft": change.has_draft,
        "error": change.last_error is not None,
        "retry": change.retry_state,
        "compaction": change.compaction_requested_at is not None,
        "deadline": change.requires_action_deadline_at is not None,
        "host": change.host_id,
    }


def modelled(chat: ChatModel) -> dict[str, object]:
    held = sum(each.holder is not None for each in chat.queue)
    return {
        "state": chat.state,
        "status": chat.status,
        "versions": (chat.snapshot, chat.history, chat.queue_version, chat.retry_version),
        "owner": chat.owner,
        "attempt": (chat.attempt, chat.takeovers),
        "queue": (len(chat.queue) - held, held),
        "open calls": bool(chat.open_calls),
        "draft": chat.draft is not None,
        "error": chat.error is not None,
        "retry": None if chat.retry is None else f'"{chat.retry}"',
        "compaction": chat.compaction_requested,
        "deadline": chat.status is Status.REQUIRES_ACTION,
        "host": chat.host,
    }


def stored(view: dict[str, Any]) -> tuple[list[tuple[str, str, bool]], list[tuple[str, str | None]]]:
    messages = [(row["role"], shown(row), row["deleted"]) for row in view["messages"]]
    return messages, [(shown(row), row["held_by"]) for row in view["queue"]]


def expected(chat: ChatModel) -> tuple[list[tuple[str, str, bool]], list[tuple[str, str | None]]]:
    messages = [(str(each.content.role), written(each.content), each.deleted) for each in chat.messages]
    return messages, [(each.text, str(each.holder) if each.holder else None) for each in chat.queue]


def written(content: Content) -> str:
    calls = [f"call {call.id}" for call in content.calls]
    return ", ".join([*([content.text] if content.text else []), *calls, *(f"result {id}" for id in content.answers)])


def version_of(record: Record) -> int:
    assert isinstance(record.outcome, Applied)
    return record.outcome.change.snapshot_version


async def _holds(chats: Chats, replicas: tuple[UUID, ...], steps: list[Step]) -> int:
    """Run a program and check all of it; returns how many calls were applied."""
    machines = {replica: f"machine {at % 2}" for at, replica in enumerate(replicas)}
    for replica in replicas:
        await chats.beat(replica, host_id=machines[replica])
    born = Content(Role.USER, "first")
    birth = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user("first")]))
    workspaces = (
        (None, None),
        *[(await chats.workspace(host_id=host), host) for host in (None, "machine 0", "machine 1")],
    )
    program = Program(chats, birth.change.chat_id, [], replicas, machines=machines, workspaces=workspaces)
    await program.look()

    await program.run(steps)

    view = await program.look()
    replay = Replay(birth, born)
    commits = sorted((r for r in program.records if isinstance(r.outcome, Applied)), key=version_of)
    versions = [version_of(record) for record in commits]
    assert len(versions) == len(set(versions)), "two commits claim one version"
    for record in commits:
        replay.commit(record, program.silenced)
        assert isinstance(record.outcome, Applied)
        assert_stored(record.outcome, view)
    for record in program.records:
        if isinstance(record.outcome, Refused):
            replay.refusal(record)
    assert list(replay.models) == list(range(1, view["state"]["snapshot_version"] + 1)), "a version is missing"
    assert stored(view) == expected(replay.newest)
    sends = (T.SEND_MESSAGE, T.EDIT_MESSAGE, T.RELEASE_QUEUED)
    sent = {"first", *(r.call.text for r in commits if r.call.transition in sends and r.call.text)}
    texts = [shown(row) for row in (*view["messages"], *view["queue"]) if row.get("role", "user") == "user"]
    assert sorted(texts) == sorted(sent - replay.gone)
    if replay.newest.state in RUNNABLE:  # the next program shall not find it
        await chats.transitions.give_up(program.chat_id, error=ERROR)
    return len(commits)


@pytest.mark.behaviour("STATE-8")
async def test_what_concurrent_clients_commit_is_what_the_model_makes_of_it_and_every_refusal_was_legal(
    database: Database,
):
    programs = generated()
    commits = 0
    async with open_chats(database.dsn, connections=CLIENTS) as chats:
        replicas = tuple(new_id() for _ in range(CLIENTS))
        for steps in programs:
            commits += await _holds(chats, replicas, steps)

    assert len(programs) == PROGRAMS
    assert commits > PROGRAMS * STEPS // 4, "most calls were refused: the programs show little"


def test_the_state_of_a_new_model_is_that_of_a_new_chat():
    assert ChatModel().state is State.R0
