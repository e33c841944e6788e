"""A newer version adds columns to the tables while this one's functions are installed and its statements prepared."""

import pytest

from chatd.core.states import State
from chatd.core.transitions import Transition
from chatd.store.transitions import Applied
from chatd.testing.postgres import Database
from store.stored_change import assert_stored
from store.test_transition_matrix import called, expected, pairs, ready_for, shapes
from store.transition_driver import ERROR, Chats, open_chats

TABLES = ("chat_state", "chats", "messages", "queued_messages", "chat_drafts", "chat_files", "files", "replicas")
STATES = [State.N, State.W, State.E1, State.R0, State.R1, State.I1, State.A1, State.XW, State.INVALID]


async def _carried_out(chats: Chats, state: State) -> set[Transition]:
    """Every transition that this state allows, each way to call it."""
    done: set[Transition] = set()
    shape = shapes(state)[-2 if state.endswith("1") else 0]
    for transition, call in pairs():
        if expected(transition, state, shape) is None:
            chat = await ready_for(chats, transition, state, shape)
            outcome = await called(chats, chat, transition, call)
            assert isinstance(outcome, Applied), (transition, state, outcome)
            assert_stored(outcome, await chats.look(chat.id))
            await chats.transitions.give_up(chat.id, error=ERROR)  # nobody else shall acquire it
            done.add(transition)
    return done


@pytest.mark.behaviour("STATE-8")
async def test_columns_that_are_added_disturb_no_transition(database: Database):
    async with open_chats(database.dsn) as chats:
        before = [await _carried_out(chats, state) for state in STATES]
        for table in TABLES:
            await chats.sql._db.execute(f"ALTER TABLE {table} ADD COLUMN extra integer")
            await chats.sql._db.execute(f"ALTER TABLE {table} ADD COLUMN more text NOT NULL DEFAULT 'x'")

        after = [await _carried_out(chats, state) for state in STATES]

        assert after == before
        assert set.union(*after) == set(Transition)


@pytest.mark.behaviour("STATE-8")
async def test_columns_that_are_added_disturb_nobody_who_connects_later(database: Database):
    async with open_chats(database.dsn) as chats:
        for table in TABLES:
            await chats.sql._db.execute(f"ALTER TABLE {table} ADD COLUMN extra integer")
        await chats.sql._db.execute("DELETE FROM users")  # the next one makes its own
    async with open_chats(database.dsn) as chats:
        for state in (State.N, State.W, State.R1):
            await _carried_out(chats, state)
