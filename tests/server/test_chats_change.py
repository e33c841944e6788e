"""What people set for chats over HTTP, and that archiving reads nothing twice."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.store.owner_hints import OwnerEventKind, owner_topic, read_owner_event
from chatd.testing.statements import Statements
from chatd.testing.vendors.script import Hold, Say, Turn
from server.chat_api import CHATS, ChatApi, chat_api
from server.configured_models import wrong


async def change(chats: ChatApi, chat: dict[str, Any], **fields: Any) -> Any:
    return await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", fields)


async def test_what_is_set_is_shown_and_what_is_left_out_stays(chats: ChatApi):
    chat = await chats.create("hello", labels={"team": "a"})
    await chats.resting(chat)
    answers = [
        await change(chats, chat, title="  Better  "),
        await change(chats, chat, plan_mode="plan"),
        await change(chats, chat),
    ]
    shown = (await chats.mia.get(f"{CHATS}/{chat['id']}")).body
    answers.append(await change(chats, chat, labels={"ticket": "1"}, plan_mode=""))
    relabeled = (await chats.mia.get(f"{CHATS}/{chat['id']}")).body

    assert [answer.status for answer in answers] == [204] * 4
    assert (shown["title"], shown["plan_mode"], shown["labels"]) == ("Better", "plan", {"team": "a"})
    assert (relabeled["title"], relabeled["labels"], relabeled.get("plan_mode")) == ("Better", {"ticket": "1"}, None)
    assert relabeled["updated_at"] == shown["updated_at"]


async def test_a_new_title_is_told_to_the_owner(chats: ChatApi):
    chat = await chats.create()
    await chats.resting(chat)
    told: asyncio.Queue[Any] = asyncio.Queue()
    subscription = chats.running.replica.hints.subscribe(
        owner_topic(UUID(chat["owner_id"])),
        lambda hint: told.put_nowait(read_owner_event(getattr(hint, "payload", b""))),
    )
    await chats.running.replica.hints.wait_connected()
    await change(chats, chat, title="Better")
    async with asyncio.timeout(30):
        while (event := await told.get()) is None or event.value != "Better":
            pass
    subscription.close()

    assert event.kind is OwnerEventKind.TITLE


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"title": " "}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": "a\0b"}, "title"),
        ({"labels": {"a b": "c"}}, "labels"),
        ({"labels": {str(number): "x" for number in range(51)}}, "labels"),
        ({"archived": False}, "archived"),
        ({"pin_order": -1}, "pin_order"),
        ({"archived": True, "pin_order": 1}, "pin_order"),
        ({"plan_mode": "no"}, "plan_mode"),
        ({"workspace_id": "01b8dac5-b400-7fff-9025-14a40e4c331b"}, "workspace_id"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_what_can_not_be_set_is_named_and_nothing_is_changed(chats: ChatApi, fields: dict[str, Any], named: str):
    chat = await chats.create(labels={"team": "a"})
    await chats.resting(chat)
    refused = await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"labels": {"b": "c"}, **fields})
    shown = (await chats.mia.get(f"{CHATS}/{chat['id']}")).body

    assert wrong(refused) == [named]
    assert (shown["labels"], shown["archived"], shown["pin_order"]) == ({"team": "a"}, False, 0)


async def test_a_chat_at_work_can_not_be_archived_and_one_at_rest_can_be_brought_back(database: Any, tmp_path: Path):
    go = asyncio.Event()
    async with chat_api(database.dsn, tmp_path, [Turn(Say("one"), faults=(Hold(go),))]) as chats:
        chat = await chats.create()
        busy = await change(chats, chat, archived=True, title="not this")
        go.set()
        await chats.resting(chat)
        await change(chats, chat, pin_order=1)
        statuses = [(await change(chats, chat, archived=flag)).status for flag in (True, True, False)]
        shown = (await chats.mia.get(f"{CHATS}/{chat['id']}")).body

    assert (busy.status, busy.body["detail"]) == (409, "Interrupt it, or wait until its turn ends.")
    assert statuses == [204, 400, 204]
    assert (shown["archived"], shown["pin_order"]) == (False, 0)
    assert shown["title"] != "not this"


@pytest.mark.behaviour("STATE-7")
async def test_archiving_uses_the_row_that_the_request_has_read(statements: Statements, database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path) as chats:
        chat = await chats.create()
        await chats.resting(chat)
        made: dict[str, list[list[int]]] = {"archive": [], "unarchive": []}
        for archived in (True, False) * 4:
            before = dict(await statements.by_query())
            assert (await change(chats, chat, archived=archived)).status == 204
            after = dict(await statements.by_query())
            name = "archive" if archived else "unarchive"
            made[name].append(
                [
                    sum(calls - before.get(query, 0) for query, calls in after.items() if sign in query)
                    for sign in (f"FROM {name}(", "FROM chats", "FROM chat_state", "UPDATE chats")
                ]
            )

    # The transition, and the one read before it; at first the label of the turn is made at the same time.
    assert [min(counts) for counts in made.values()] == [[1, 1, 0, 0]] * 2


async def test_what_was_read_is_read_and_what_comes_later_is_not(chats: ChatApi):
    chat = await chats.create()
    unread = await chats.resting(chat)
    path = f"{CHATS}/{chat['id']}"
    newest = (await chats.mia.get(f"{path}/messages")).body["messages"][0]["id"]
    await chats.mia.put(f"{path}/read", {"message_id": newest - 1})
    partly = (await chats.mia.get(path)).body
    seen = await chats.mia.put(f"{path}/read", {"message_id": newest + 10**9})
    fully = (await chats.mia.get(path)).body
    await chats.mia.put(f"{path}/read", {"message_id": 0})
    never_back = (await chats.mia.get(path)).body
    await chats.send(chat, "more")
    later = await chats.resting(chat)

    assert seen.status == 204
    states = (unread, partly, fully, never_back, later)
    assert [state["has_unread"] for state in states] == [True, True, False, False, True]


async def test_who_may_not_change_a_chat_may_not_ask_for_nothing_either(chats: ChatApi):
    chat = await chats.create()
    auditor = await chats.running.add_user("aud", "auditor")
    answers = [await auditor.call("PATCH", f"{CHATS}/{chat['id']}", body) for body in ({}, {"title": ""})]

    assert [answer.status for answer in answers] == [403, 403]
