"""What people and prompts read of chats: lists and their pages, what is unread, where a prompt begins, the queue."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest
import pytest_asyncio

from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role, Visibility
from chatd.store.transitions import Applied
from chatd.testing.postgres import Database
from store.authorization_cases import FIRST_PAGE, PINNED
from store.transition_driver import Chats, answer, applied, fence, open_chats, result
from store.world import add_user, new_id


@pytest_asyncio.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as chats:
        yield chats


async def started(chats: Chats, *messages: NewMessage, parent: UUID | None = None, **fields: Any) -> Applied:
    new = msgspec.structs.replace(chats.new_chat(parent=parent), **fields)
    return applied(await chats.transitions.create_chat(new, messages or [chats.user()], take=chats.take()))


def said(role: Role, text: str, visibility: Visibility = Visibility.BOTH, *, compressed: bool = False) -> NewMessage:
    return NewMessage(role=role, parts=(TextPart(text=text),), visibility=visibility, compressed=compressed)


async def listed(chats: Chats, *, archived: bool = False) -> list[UUID]:
    """Page by page, two at a time."""
    found: list[UUID] = []
    where: dict[str, Any] = {**FIRST_PAGE, "max_rows": 2}
    while page := await chats.sql.list_chats(archived=archived, **where):
        found += [chat.id for chat in page]
        where |= {"before_updated_at": page[-1].updated_at, "before_id": page[-1].id}
    return found


async def test_the_last_active_root_comes_first_on_every_page(chats: Chats):
    made = [await started(chats) for _ in range(5)]
    ids = [one.change.chat_id for one in made]
    await started(chats, parent=ids[0])
    assert await listed(chats) == ids[::-1]

    await chats.transitions.finish_turn(fence(made[1]))

    assert await listed(chats) == [ids[1], ids[4], ids[3], ids[2], ids[0]]


async def test_chats_of_one_moment_are_all_listed_once(chats: Chats):
    ids = sorted([(await started(chats)).change.chat_id for _ in range(5)])
    await chats.raw("UPDATE chat_state SET updated_at = '2020-01-01', snapshot_version = snapshot_version + 1")

    assert await listed(chats) == ids[::-1]


async def test_archived_chats_are_a_list_of_their_own_and_not_pinned(chats: Chats):
    made, other = await started(chats), await started(chats)
    id = made.change.chat_id
    await chats.sql.pin_chat(id=id, place=1)
    await chats.transitions.finish_turn(fence(made))
    await chats.transitions.archive(id)

    assert await listed(chats) == [other.change.chat_id]
    assert await listed(chats, archived=True) == [id]
    assert await chats.sql.list_pinned_chats(owner_id=chats.owner.id, **PINNED) == []


async def test_a_chat_is_found_by_any_of_its_labels(chats: Chats):
    both = (await started(chats, labels={"team": "a", "ticket": "1"})).change.chat_id
    one = (await started(chats, labels={"team": "a"})).change.chat_id
    await started(chats)

    async def found(labels: str) -> list[UUID]:
        page = await chats.sql.list_labeled_chats(archived=False, labels=labels, **FIRST_PAGE)
        return [chat.id for chat in page]

    assert await found('{"team": "a"}') == [one, both]
    assert await found('{"team": "a", "ticket": "1"}') == [both]
    assert await found('{"team": "b"}') == []
    await chats.sql.update_chat(id=one, title=None, labels='{"team": "b"}', plan_mode=None)
    assert await found('{"team": "b"}') == [one]


async def test_chats_are_found_by_their_status_and_by_their_pull_request(chats: Chats):
    running, resting, draft = [await started(chats) for _ in range(3)]
    for made in (resting, draft):
        await chats.transitions.finish_turn(fence(made))
    for made, is_draft in ((resting, False), (draft, True)):
        await chats.raw(
            "INSERT INTO chat_diff_statuses (chat_id, pull_request_state, pull_request_draft, stale_at)"
            " VALUES ($1, 'open', $2, 'infinity')",
            made.change.chat_id,
            is_draft,
        )
    await chats.sql.pin_chat(id=draft.change.chat_id, place=1)
    names = {running.change.chat_id: "running", resting.change.chat_id: "resting", draft.change.chat_id: "draft"}

    async def found(**wanted: Any) -> list[list[str]]:
        one_page: dict[str, Any] = {**FIRST_PAGE, **wanted}
        pages = [
            await chats.sql.list_chats(archived=False, **one_page),
            await chats.sql.list_labeled_chats(archived=False, labels="{}", **one_page),
            await chats.sql.list_pinned_chats(owner_id=chats.owner.id, **{**PINNED, **wanted}),
        ]
        return [[names[chat.id] for chat in page] for page in pages]

    assert await found(statuses=["running"]) == [["running"], ["running"], []]
    assert await found(statuses=["waiting", "error"]) == [["draft", "resting"], ["draft", "resting"], ["draft"]]
    assert await found(pull_requests=["draft"]) == [["draft"], ["draft"], ["draft"]]
    assert await found(pull_requests=["open"]) == [["resting"], ["resting"], []]
    assert await found(pull_requests=["open", "draft"], statuses=["running"]) == [[], [], []]


async def test_pinned_chats_come_in_their_order_and_a_child_is_never_pinned(chats: Chats):
    first, second = [(await started(chats)).change.chat_id for _ in range(2)]
    child = (await started(chats, parent=first)).change.chat_id
    await chats.sql.pin_chat(id=first, place=7)
    await chats.sql.pin_chat(id=second, place=1)
    appended = await chats.sql.list_pinned_chats(owner_id=chats.owner.id, **PINNED)
    await chats.sql.pin_chat(id=second, place=1)

    pinned = await chats.sql.list_pinned_chats(owner_id=chats.owner.id, **PINNED)

    assert [chat.id for chat in appended] == [first, second]
    assert [(chat.id, chat.pin_order) for chat in pinned] == [(second, 1), (first, 2)]
    with pytest.raises(asyncpg.CheckViolationError):
        await chats.sql.pin_chat(id=child, place=1)


async def test_the_children_of_a_root_are_all_its_descendants_the_youngest_first(chats: Chats):
    root = (await started(chats)).change.chat_id
    child = (await started(chats, parent=root)).change.chat_id
    grandchild = (await started(chats, parent=child)).change.chat_id
    await started(chats)

    everyone = await chats.sql.list_child_chats(root_chat_ids=[root, new_id()], max_rows=5)
    youngest = await chats.sql.list_child_chats(root_chat_ids=[root], max_rows=1)

    assert [chat.id for chat in everyone] == [grandchild, child]
    assert [chat.id for chat in youngest] == [grandchild]
    assert everyone[0].parent_chat_id == child


async def test_a_chat_is_unread_from_an_answer_until_it_is_read(chats: Chats):
    made = await started(chats)
    id, sql = made.change.chat_id, chats.sql
    assert not await sql.has_unread(chat_id=id)
    step = applied(await chats.transitions.commit_step(fence(made), [answer("hi")]))
    last = step.messages[-1].id
    assert await sql.has_unread(chat_id=id)

    # Never past the last message, never back.
    assert await sql.mark_chat_read(id=id, message_id=2**62) == last
    assert await sql.mark_chat_read(id=id, message_id=last - 1) is None
    assert not await sql.has_unread(chat_id=id)

    await chats.transitions.commit_step(fence(step), [answer("more")])
    assert await sql.has_unread(chat_id=id)
    [shown] = await sql.list_chats(archived=False, **FIRST_PAGE)
    assert shown.has_unread
    assert shown.last_read_message_id == last


async def test_messages_are_read_in_pages_without_what_is_for_the_model(chats: Chats):
    made = await started(chats, said(Role.SYSTEM, "rules", Visibility.MODEL), chats.user("one"))
    step = applied(
        await chats.transitions.commit_step(
            fence(made), [answer("two"), said(Role.TOOL, "three", Visibility.USER), answer("four")]
        )
    )
    id, ids = step.change.chat_id, [made.messages[1].id, *(message.id for message in step.messages)]
    sql = chats.sql

    newest = await sql.list_messages_page(chat_id=id, before_id=None, after_id=None, max_rows=3)
    older = await sql.list_messages_page(chat_id=id, before_id=newest[-1].id, after_id=None, max_rows=3)
    assert [row.id for row in (*newest, *older)] == ids[::-1]
    after = await sql.list_messages_after(chat_id=id, after_id=ids[1], max_rows=1)
    assert [row.id for row in after] == [ids[2]]
    assert await sql.get_message(chat_id=id, id=made.messages[0].id) is None
    assert await sql.get_message(chat_id=new_id(), id=ids[0]) is None


async def test_a_prompt_begins_with_the_system_and_the_newest_summary(chats: Chats):
    made = await started(chats, said(Role.SYSTEM, "rules"), chats.user("old"))
    id, now = made.change.chat_id, fence(made)

    async def prompt() -> list[str]:
        rows = await chats.sql.list_prompt_messages(chat_id=id)
        return [msgspec.json.decode(row.content)[0]["text"] for row in rows]

    async def compact(number: int) -> None:
        nonlocal now
        summary = said(Role.USER, f"summary {number}", Visibility.MODEL, compressed=True)
        note = said(Role.ASSISTANT, "compacted", Visibility.USER, compressed=True)
        report = said(Role.TOOL, "report", compressed=True)
        now = fence(await chats.transitions.commit_step(now, [summary, note, report]))
        shown = said(Role.USER, "only shown", Visibility.USER)
        now = fence(await chats.transitions.commit_step(now, [shown, answer("new")]))

    assert await prompt() == ["rules", "old"]
    await compact(1)
    assert await prompt() == ["rules", "summary 1", "new"]
    await compact(2)
    assert await prompt() == ["rules", "summary 2", "new"]
    # Hidden summaries are no longer where a prompt begins.
    await chats.transitions.edit_message(id, made.messages[1].id, chats.user("other"))
    assert await prompt() == ["rules", "other"]


async def test_the_queue_is_read_in_order_with_who_holds_what(chats: Chats):
    do, made, holder = chats.transitions, await started(chats), new_id()
    id = made.change.chat_id
    first, second = [applied(await do.send_message(id, chats.user(text))).change.queued_id or 0 for text in "ab"]
    await do.reorder_queued(id, [second, first])
    await do.hold_queued(id, second, holder=holder)

    queue = await chats.sql.list_queued_messages(chat_id=id)

    assert [(row.id, row.held_by, row.held_until is not None) for row in queue] == [
        (second, holder, True),
        (first, None, False),
    ]


async def test_a_draft_is_read_until_its_step_is_stored(chats: Chats):
    made = await started(chats)
    now = fence(await chats.transitions.save_draft(fence(made), answer("half", calls=[("c", "look")])))

    draft = await chats.sql.get_draft(chat_id=now.chat_id)

    assert draft is not None
    assert msgspec.json.decode(draft.content)[0]["text"] == "half"
    await chats.transitions.commit_step(now, [answer("half", calls=[("c", "look")]), result("c", "look")])
    assert await chats.sql.get_draft(chat_id=now.chat_id) is None


async def test_a_chat_is_read_with_its_state_and_its_title_can_change(chats: Chats):
    made = await started(chats)
    id = made.change.chat_id

    changed = await chats.sql.update_chat(id=id, title="Better", labels=None, plan_mode=None)
    chat, state = await chats.sql.get_chat(id=id), await chats.sql.get_chat_state(chat_id=id)

    assert changed is not None
    assert chat is not None
    assert state is not None
    assert (changed.title, chat.title) == ("Better", "Better")
    assert (chat.status, chat.snapshot_version, chat.runner_id) == (state.status, 1, made.change.runner_id)
    for missing in (
        await chats.sql.get_chat(id=new_id()),
        await chats.sql.get_chat_state(chat_id=new_id()),
        await chats.sql.update_chat(id=new_id(), title="x", labels=None, plan_mode=None),
    ):
        assert missing is None


async def test_the_cost_of_a_child_is_its_roots_and_the_dearest_come_first(chats: Chats):
    cheap, dear = await started(chats), await started(chats)
    child = await started(chats, parent=dear.change.chat_id)
    for made, cost in ((cheap, 5), (dear, 4), (child, 3)):
        paid = msgspec.structs.replace(answer("x"), cost_microdollars=cost, runtime_ms=10)
        await chats.transitions.commit_step(fence(made), [paid])
    [period] = await chats.sql._db.fetch("SELECT now() - interval '1 hour', now() + interval '1 hour'")
    asked: dict[str, Any] = {"owner_id": chats.owner.id, "since": period[0], "until": period[1]}

    sums = await chats.sql.sum_cost_by_chat(**asked, max_rows=5)

    assert [(row.root_chat_id, int(row.cost_microdollars), row.answers) for row in sums] == [
        (dear.change.chat_id, 7, 2),
        (cheap.change.chat_id, 5, 1),
    ]
    assert await chats.sql.sum_runtime_ms(**asked) == 30
    other = await add_user(chats.sql, "other")
    asked["owner_id"] = other.id
    assert await chats.sql.sum_runtime_ms(**asked) == 0
