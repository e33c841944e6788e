"""Lists of chats: whose, in which order, page by page, found by what."""

from typing import Any

import pytest

from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.minting import uuid7
from chatd.store.actor import acting_as
from chatd.store.transitions import Applied, NewChat
from server.chat_api import CHATS, ChatApi
from server.configured_models import wrong
from server.running import Api


async def listed(api: Api, query: str = "") -> list[str]:
    answer = await api.get(f"{CHATS}?{query}")
    assert answer.status == 200, answer
    return [chat["title"] for chat in answer.body]


async def made(chats: ChatApi, *titles: str, api: Api | None = None, **fields: Any) -> list[dict[str, Any]]:
    """Chats that rest, oldest first."""
    found: list[dict[str, Any]] = []
    for title in titles:
        chat = await chats.create("hello", api, **fields)
        await chats.resting(chat, api)
        await chats.running.owner.call("PATCH", f"{CHATS}/{chat['id']}", {"title": title})
        found.append(chat)
    return found


async def add_child(chats: ChatApi, parent: dict[str, Any]) -> str:
    """As an agent does."""
    replica = chats.running.replica
    person = await replica.identity.authenticate(chats.mia.token)
    assert person is not None
    child = NewChat(
        id=uuid7(replica.clock.now()),
        organization_id=parent["organization_id"],
        owner_id=person.user_id,
        model_config_id=parent["last_model_config_id"],
        title="child",
        parent_id=parent["id"],
    )
    message = NewMessage(role=Role.USER, parts=(TextPart(text="go"),), created_by=person.user_id)
    with acting_as(person):
        assert isinstance(await replica.engine.transitions.create_chat(child, [message]), Applied)
    return str(child.id)


@pytest.mark.behaviour("API-2")
async def test_a_page_is_full_whenever_there_are_enough_chats_that_one_may_see(chats: ChatApi):
    sam = await chats.running.add_user("sam")
    for number in range(4):
        await made(chats, f"mia {number}")
        await made(chats, f"sam {number}", api=sam)
    mias = (await chats.mia.get("/api/v2/users/me")).body["id"]

    async def pages(api: Api, query: str) -> list[list[str]]:
        found, after = [], ""
        while page := (await api.get(f"{CHATS}?limit=3&{query}{after}")).body:
            found.append([chat["title"] for chat in page])
            after = f"&after_id={page[-1]['id']}"
        return found

    own = [["mia 3", "mia 2", "mia 1"], ["mia 0"]]
    assert await pages(chats.mia, "") == own
    assert await pages(chats.mia, "owner=all") == own
    assert await pages(sam, f"owner={mias}") == []
    assert (await sam.get(f"{CHATS}?owner=mia")).status == 404
    assert await pages(chats.running.owner, "owner=mia") == own
    assert await pages(chats.running.owner, "") == []
    assert await pages(chats.running.owner, f"owner={mias}") == own
    everyones = [title for page in await pages(chats.running.owner, "owner=all") for title in page]
    assert everyones == [f"{name} {number}" for number in (3, 2, 1, 0) for name in ("sam", "mia")]
    assert await listed(chats.mia, "limit=2&offset=1") == ["mia 2", "mia 1"]


async def test_pinned_chats_come_first_in_their_order_on_every_page(chats: ChatApi):
    a, b, c, _ = await made(chats, "a", "b", "c", "d")

    async def pin(chat: dict[str, Any], place: int) -> None:
        answer = await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"pin_order": place})
        assert answer.status == 204, answer

    await pin(a, 1)
    await pin(b, 1)
    await pin(c, 9)
    appended = await listed(chats.mia)
    await pin(c, 1)
    moved = await listed(chats.mia)
    first = (await chats.mia.get(f"{CHATS}?limit=2")).body
    rest = await listed(chats.mia, f"limit=2&after_id={first[-1]['id']}")
    await pin(a, 0)

    assert appended == ["a", "b", "c", "d"]
    assert moved == ["c", "a", "b", "d"]
    assert [(chat["title"], chat["pin_order"]) for chat in first] == [("c", 1), ("a", 2)]
    assert rest == ["b", "d"]
    assert await listed(chats.mia) == ["c", "b", "d", "a"]


async def test_chats_are_found_by_title_labels_archive_and_whether_they_are_unread(chats: ChatApi):
    [plan] = await made(chats, "The Plan", labels={"team": "a", "ticket": "1"})
    [old] = await made(chats, "An old one", labels={"team": "a"})
    await made(chats, "other 100%")
    await chats.mia.call("PATCH", f"{CHATS}/{old['id']}", {"archived": True})
    await chats.mia.put(f"{CHATS}/{plan['id']}/read", {})

    assert await listed(chats.mia) == ["other 100%", "The Plan"]
    assert await listed(chats.mia, "q=title:plan") == ["The Plan"]
    assert await listed(chats.mia, 'q=TITLE:"the plan"') == ["The Plan"]
    assert await listed(chats.mia, "q=title:%25") == ["other 100%"]
    assert await listed(chats.mia, "q=archived:true") == ["An old one"]
    assert await listed(chats.mia, "q=has_unread:true") == ["other 100%"]
    assert await listed(chats.mia, "q=has_unread:false archived:false") == ["The Plan"]
    assert await listed(chats.mia, "label=team:a") == ["The Plan"]
    assert await listed(chats.mia, "label=team:a&label=ticket:2") == []
    assert await listed(chats.mia, "label=team:a&q=archived:true title:old") == ["An old one"]
    assert await listed(chats.mia, "q=source:created_by_me") == ["other 100%", "The Plan"]
    assert await listed(chats.mia, "q=source:shared_with_me") == []


async def test_children_are_in_their_root_and_not_in_the_list(chats: ChatApi):
    [root] = await made(chats, "root")
    child = await add_child(chats, root)
    [listed_root] = (await chats.mia.get(CHATS)).body
    alone = (await chats.mia.get(f"{CHATS}/{root['id']}")).body
    itself = (await chats.mia.get(f"{CHATS}/{child}")).body
    pinned = await chats.mia.call("PATCH", f"{CHATS}/{child}", {"pin_order": 1})
    archived = await chats.mia.call("PATCH", f"{CHATS}/{child}", {"archived": True})

    assert [one["id"] for one in listed_root["children"]] == [one["id"] for one in alone["children"]] == [child]
    assert (itself["parent_chat_id"], itself["root_chat_id"]) == (root["id"], root["id"])
    assert (wrong(pinned), wrong(archived)) == (["pin_order"], ["archived"])


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("q=plan", "q"),
        ("q=title:", "q"),
        ("q=:x", "q"),
        ("q=colour:red", "q"),
        ("q=archived:perhaps", "q"),
        ("q=archived:true archived:false", "q"),
        ("q=source:space", "q"),
        ("label=x", "label"),
        ("label=a:b&label=a:c", "label"),
        ("limit=-1", "limit"),
        ("after_id=01b8dac5-b400-7fff-9025-14a40e4c331b", "after_id"),
    ],
)
async def test_a_list_that_can_not_be_understood_is_refused(chats: ChatApi, query: str, named: str):
    assert wrong(await chats.mia.get(f"{CHATS}?{query}")) == [named]
