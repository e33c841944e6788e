"""The pure model of a chat keeps its own promises, whatever is called on it in whatever order."""

import itertools
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.core.chat_limits import MOST_QUEUED
from chatd.core.chat_model import Call, ChatModel, Content, Effects, ToolCall, apply
from chatd.core.lease import MOST_TAKEOVERS
from chatd.core.outcomes import Refusal
from chatd.core.roles import Role
from chatd.core.states import RUNNABLE, State, Status
from chatd.core.transitions import TABLE, Transition

REPLICAS = [(UUID(int=replica), UUID(int=100 + replica)) for replica in (1, 2, 3)]
HOLDERS = [UUID(int=200), UUID(int=201)]
CREATE = Call(transition=Transition.CREATE_CHAT, rows=(Content(Role.USER, "first"),))


# A transition, and numbers that choose its arguments once the chat is known.
Step = tuple[Transition, int, int, bool]
STEPS = st.tuples(st.sampled_from(Transition), st.integers(0, 3), st.integers(0, 3), st.booleans())


def as_call(chat: ChatModel, at: int, step: Step) -> Call:
    """Mostly something that fits the chat as it is, now and then not."""
    transition, first, second, flag = step
    queued = [each.id for each in chat.queue]
    target = (queued or [0])[first % max(1, len(queued))]
    if transition is Transition.EDIT_MESSAGE:
        target = (0, *(entry.id for entry in chat.shown))[-1 - first :][0]
    fenced = list(Transition).index(transition) >= list(Transition).index(Transition.ABANDON)
    fenced = fenced and transition is not Transition.GIVE_UP
    return Call(
        transition=transition,
        runner=chat.owner[1] if chat.owner and fenced else REPLICAS[0][1] if fenced else None,
        history=chat.history - (second == 3) if fenced and transition is not Transition.ABANDON else None,
        rows=rows(chat, at, transition, second),
        text=f"text {at}",
        target=target,
        order=tuple(reversed(queued)) if flag else tuple(queued),
        holder=HOLDERS[second % 2],
        taker=REPLICAS[second] if second < 3 else None,
        interrupts=flag,
        finish=flag,
    )


def rows(chat: ChatModel, at: int, transition: Transition, kind: int) -> tuple[Content, ...]:
    """What a well-behaved runner or client would give: results where calls wait for them, else an answer."""
    if chat.open_calls:
        calls = chat.open_dynamic_calls if transition is Transition.COMPLETE_REQUIRES_ACTION else chat.open_calls
        return tuple(Content(Role.TOOL, answers=(call.id,)) for call in calls)
    calls = (ToolCall(f"a{at}", dynamic=True), ToolCall(f"b{at}"))[: kind % 3]
    return (Content(Role.ASSISTANT, f"answer {at}", calls),)


def follow(program: list[Step]) -> list[tuple[ChatModel, Call, Effects | Refusal]]:
    """The chat after each step, with what was called and what came of it."""
    born = apply(None, CREATE)
    assert not isinstance(born, Refusal)
    chat, effects = born
    told: list[tuple[ChatModel, Call, Effects | Refusal]] = [(chat, CREATE, effects)]
    for at, step in enumerate(program):
        call = as_call(chat, at, step)
        made = apply(chat, call)
        if not isinstance(made, Refusal):
            chat = made[0]
        told.append((chat, call, made if isinstance(made, Refusal) else made[1]))
    return told


def answered_before_users(chat: ChatModel) -> bool:
    """No user's message stands over a call without a result."""
    waiting: set[str] = set()
    for entry in chat.shown:
        if entry.content.role is Role.USER and waiting:
            return False
        waiting |= {call.id for call in entry.content.calls}
        waiting -= set(entry.content.answers)
    return True


programs = st.lists(STEPS, max_size=60)


@given(programs)
@settings(deadline=None, derandomize=True)
def test_a_call_is_refused_by_the_table_or_for_a_reason_of_its_own(program: list[Step]):
    told = follow(program)
    for (before, _, _), (_, call, outcome) in itertools.pairwise(told):
        if before.state not in TABLE[call.transition]:
            assert outcome in (Refusal.NOT_ALLOWED, Refusal.NOT_OWNER, Refusal.HISTORY_MOVED)
        else:
            assert outcome is not Refusal.NOT_ALLOWED


@given(programs)
@settings(deadline=None, derandomize=True)
def test_versions_only_grow_and_name_the_snapshot_of_the_change(program: list[Step]):
    told = follow(program)
    for (before, _, _), (after, call, outcome) in itertools.pairwise(told):
        if isinstance(outcome, Refusal):
            assert after is before
            continue
        assert after.snapshot == before.snapshot + 1
        assert after.history in (before.history, after.snapshot)
        if call.transition is not Transition.HOLD_QUEUED:  # which may only last longer now
            assert (after.queue_version == after.snapshot) == (after.queue != before.queue)
        assert (after.retry_version == after.snapshot) == (after.retry != before.retry)
        if after.messages != before.messages:
            assert after.history == after.snapshot


@given(programs)
@settings(deadline=None, derandomize=True)
def test_a_users_message_never_stands_over_an_unanswered_call(program: list[Step]):
    assert all(answered_before_users(chat) for chat, _, _ in follow(program))


@given(programs)
@settings(deadline=None, derandomize=True)
def test_a_chat_that_rests_has_no_owner_and_one_that_waits_for_its_client_has_a_call(
    program: list[Step],
):
    for chat, _, _ in follow(program):
        assert chat.owner is None or chat.state in RUNNABLE
        assert (chat.error is not None) == (chat.status is Status.ERROR)
        assert chat.status is not Status.REQUIRES_ACTION or chat.open_dynamic_calls
        assert len(chat.queue) <= MOST_QUEUED
        assert chat.takeovers <= MOST_TAKEOVERS
        assert chat.state is not State.INVALID


@given(programs)
@settings(deadline=None, derandomize=True)
def test_what_is_sent_is_in_the_history_or_the_queue_once_until_it_is_deleted_or_edited(
    program: list[Step],
):
    sent: list[str] = ["first"]
    gone: set[str] = set()
    told = follow(program)
    for (before, _, _), (chat, call, outcome) in itertools.pairwise(told):
        if isinstance(outcome, Refusal):
            continue
        edited = call.transition is Transition.RELEASE_QUEUED
        if edited or call.transition in (Transition.SEND_MESSAGE, Transition.EDIT_MESSAGE):
            sent.append(call.text or "")
        if edited or call.transition in (Transition.EDIT_MESSAGE, Transition.DELETE_QUEUED):
            gone |= {each.text for each in before.queue} - {each.text for each in chat.queue}
        users = [entry.content.text for entry in chat.messages if entry.content.role is Role.USER]
        assert sorted(users + [each.text for each in chat.queue]) == sorted(set(sent) - gone)


def test_the_queue_is_full_at_twenty_held_ones_included():
    sends: list[Step] = [(Transition.SEND_MESSAGE, 0, 0, False)] * (MOST_QUEUED + 1)

    told = follow([*sends[:5], (Transition.HOLD_QUEUED, 0, 0, False), *sends[5:]])

    assert told[-1][2] is Refusal.QUEUE_FULL
    assert len(told[-1][0].queue) == MOST_QUEUED


def test_a_chat_taken_over_too_often_is_given_up_and_its_draft_is_kept():
    chat = ChatModel(owner=REPLICAS[0], takeovers=MOST_TAKEOVERS, draft=Content(Role.ASSISTANT, "half"))

    made = apply(chat, Call(transition=Transition.ACQUIRE, taker=REPLICAS[1]))

    assert not isinstance(made, Refusal)
    assert made[0].state is State.E0
    assert [entry.content.text for entry in made[0].shown] == ["half"]


@pytest.mark.parametrize("transition", [each for each in Transition if each is not Transition.CREATE_CHAT])
def test_nothing_but_a_birth_can_happen_to_a_chat_that_is_not_there(transition: Transition):
    assert apply(None, Call(transition=transition)) is Refusal.NOT_FOUND
