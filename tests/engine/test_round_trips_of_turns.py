"""What a turn costs the database, counted by Postgres: every statement that it saw, by name."""

import asyncio
import re
from collections import Counter
from uuid import UUID

import pytest

from chatd.core.states import Status
from chatd.store import queries
from chatd.store.chat_hints import chat_topic, read_hint
from chatd.store.hints import Gap, Hint
from chatd.testing.postgres import Database
from chatd.testing.statements import Statements
from chatd.testing.vendors.script import Call, Say, Turn
from engine.chatting import Chatting, chatting
from engine.deployment import PATIENCE
from engine.scripted_tools import ScriptedTool

PLAIN = Turn(Say("Hello", " there."))
# What a new connection of the pool asks once, to know the types: a matter of connections, not of turns.
LEARNING = ("WITH RECURSIVE typeinfo_tree", "SELECT\n                        current_setting($1) AS cur")
# All that a follow-up turn asks of the database.
FOLLOW_UP = {"send_message": 1, "get_turn_context": 1, "commit_step": 1}


async def counted(statements: Statements) -> Counter[str]:
    """By name, as they are called in `store/sql`."""
    seen: Counter[str] = Counter()
    for query, calls in await statements.by_query():
        if not query.startswith(LEARNING):
            seen[_name(query)] += calls
    return seen


def _bare(query: str) -> str:
    """Postgres drops the comment before a query, puts parameters in the place of constants, and shortens lists."""
    bare = re.sub(r"\$\d+|'[^']*'|\b(\d+|true|false|null)\b", "?", query, flags=re.I)
    return " ".join(re.sub(r"\(\?( /\*.*?\*/|, \?)+\)", "(?)", bare).split())


# By how the query begins: some have a condition of who is asking in the middle.
NAMES = {
    _bare(body): first.removeprefix("-- name: ")
    for value in vars(queries).values()
    for text in [value[0] if isinstance(value, tuple) else value]
    if isinstance(text, str) and text.startswith("-- name: ")
    for first, _, body in [text.partition("\n")]
}


def _name(query: str) -> str:
    """As it is called in `store/sql`; what has no name there is shown as it is."""
    begins = [begin for begin in NAMES if _bare(query).startswith(begin)]
    return NAMES[max(begins, key=len)] if begins else query


async def turn(chats: Chatting, chat_id: UUID, text: str) -> None:
    """Send a message and wait for the end of its turn, without asking the database."""
    rests = asyncio.Event()

    def receive(what: Hint | Gap) -> None:
        hint = read_hint(what.payload) if isinstance(what, Hint) else None
        if hint and hint.runner_id is None:
            assert hint.status is Status.WAITING, hint
            rests.set()

    subscription = chats.deployment.hints.subscribe(chat_topic(chat_id), receive)
    try:
        async with asyncio.timeout(PATIENCE):
            await chats.send(chat_id, text)
            await rests.wait()
    finally:
        subscription.close()


async def test_every_turn_after_the_first_is_three_statements_and_reads_neither_history_nor_configuration(
    database: Database, statements: Statements
):
    async with chatting(database.dsn, lambda _: PLAIN, context_limit=1_000_000) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        each: list[Counter[str]] = []
        for number in range(5):
            before = await counted(statements)
            await turn(chats, chat, f"question {number}")
            each.append(await counted(statements) - before)

    assert each == [FOLLOW_UP] * 5


async def test_another_chat_of_the_replica_reads_its_own_history_and_no_configuration(
    database: Database, statements: Statements
):
    async with chatting(database.dsn, lambda _: PLAIN) as chats:
        await chats.resting(await chats.begin())
        chat = await chats.begin()
        await chats.resting(chat)
        chats.parts.histories.forget(chat)
        before = await counted(statements)
        await turn(chats, chat, "again")

        assert await counted(statements) - before == {**FOLLOW_UP, "list_prompt_messages": 1}


@pytest.mark.parametrize("calls", [1, 7])
async def test_a_step_with_tools_is_two_statements_more_however_many_it_calls(
    database: Database, statements: Statements, calls: int
):
    step = Turn(Say("I look."), *(Call("look", "{}") for _ in range(calls)))
    script = [step, PLAIN, step, step, step, PLAIN]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")], context_limit=1_000_000) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        before = await counted(statements)
        await turn(chats, chat, "look three times")
        seen = await counted(statements) - before

    assert seen == {**FOLLOW_UP, "save_draft": 3, "commit_step": 3 + 1}
