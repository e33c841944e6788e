"""What belongs to a turn (takeovers, the wish for a compaction, an error, a deadline) ends with it and not before."""

import pytest

from chatd.core.states import RUNNABLE, State
from chatd.core.transitions import Transition
from chatd.store.transitions import Applied
from chatd.testing.postgres import Database
from store.stored_change import assert_stored
from store.test_transition_matrix import called, expected, pairs, ready_for, shapes
from store.transition_driver import ERROR, open_chats

T = Transition
_IN_THE_MIDDLE = """
    UPDATE chat_state SET takeovers = 2, compaction_requested_at = '2020-01-01' WHERE chat_id = $1"""


@pytest.mark.behaviour("STATE-12")
@pytest.mark.parametrize("state", sorted(RUNNABLE))
async def test_takeovers_and_the_wish_for_a_compaction_last_as_long_as_the_turn(state: State, database: Database):
    shape = shapes(state)[0]
    seen: set[bool] = set()
    async with open_chats(database.dsn) as chats:
        for transition, call in pairs():
            if expected(transition, state, shape) is not None:
                continue
            chat = await ready_for(chats, transition, state, shape)
            await chats.raw(_IN_THE_MIDDLE, chat.id)

            outcome = await called(chats, chat, transition, call)

            assert isinstance(outcome, Applied)
            change = outcome.change
            # A step moves the history too; with `finish` it ends the turn, and what waited begins the next one.
            step = transition is T.COMMIT_STEP
            began = bool(change.added) if step else change.history_version == change.snapshot_version
            over = began or outcome.state not in RUNNABLE
            assert change.takeovers == (0 if over or step else 2), transition
            assert (change.compaction_requested_at is None) == over, transition
            assert (change.requires_action_deadline_at is not None) == (outcome.state in (State.A0, State.A1))
            assert_stored(outcome, await chats.look(chat.id))
            seen.add(over)
            await chats.transitions.give_up(chat.id, error=ERROR)

    assert seen == {True, False}
