"""Search in one's chats: by words in titles and messages, combined with the other terms of a list."""

import asyncio
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest

from chatd.core.access import INDEXER
from chatd.core.chat_search import search_term
from chatd.server import search_index
from chatd.server.search_index import SearchIndex
from chatd.store.actor import acting_as
from server.chat_api import CHATS, PATIENCE, ChatApi, text
from server.configured_models import wrong
from server.running import Answer, Api, Running


async def due(running: Running) -> bool:
    """Whether something was said that can't be found yet."""
    with acting_as(INDEXER):
        rows = await running.replica.opened.store.list_unindexed_chats(after_id=UUID(int=0), max_rows=1000)
    return any(row.is_due for row in rows)


async def indexed(chats: ChatApi) -> None:
    """Once all that was said can be found."""
    replica = chats.running.replica
    index = SearchIndex(replica.opened.store, replica.clock)
    async with asyncio.timeout(PATIENCE):
        while True:
            await index.catch_up()
            if not await due(chats.running):
                return


async def search(api: Api, q: str, more: str = "") -> Answer:
    return await api.get(f"{CHATS}?q={quote(q)}{more}")


async def found(api: Api, q: str, more: str = "") -> list[str]:
    answer = await search(api, q, more)
    assert answer.status == 200, answer
    return [chat["id"] for chat in answer.body]


async def rested(chats: ChatApi, said: str, api: Api | None = None, **fields: Any) -> dict[str, Any]:
    chat = await chats.create(said, api, **fields)
    await chats.resting(chat, api)
    return chat


async def test_a_hit_says_where_it_is(chats: ChatApi):
    chat = await rested(chats, "Tell me about the Barn Owl, please.")
    await indexed(chats)
    message = (await chats.mia.get(f"{CHATS}/{chat['id']}/messages")).body["messages"][-1]

    (hit,) = (await search(chats.mia, "search:owl")).body

    match = hit["match"]
    assert hit["id"] == chat["id"]
    assert match["message_id"] == message["id"]
    assert match["snippet"] == "Tell me about the Barn Owl, please"
    assert [match["snippet"][start:end] for start, end in match["marks"]] == ["Owl"]
    assert "match" not in (await chats.mia.get(CHATS)).body[0]
    assert await found(chats.mia, search_term('"barn owl" -fox')) == [chat["id"]]


async def test_only_the_title_has_it(chats: ChatApi):
    chat = await rested(chats, "hello")
    await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"title": "A plan for winter"})

    (hit,) = (await search(chats.mia, "search:winter")).body

    assert hit["match"] == {"snippet": "A plan for winter", "marks": [[11, 17]]}


async def test_what_was_edited_away_is_not_found(chats: ChatApi):
    chat = await rested(chats, "the quick fox")
    await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"title": "Animals"})
    await indexed(chats)
    before = await found(chats.mia, "search:fox")
    first = (await chats.mia.get(f"{CHATS}/{chat['id']}/messages")).body["messages"][-1]
    await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}/messages/{first['id']}", {"content": [text("the slow owl")]})
    await chats.resting(chat)
    await indexed(chats)

    assert (before, await found(chats.mia, "search:fox")) == ([chat["id"]], [])
    assert await found(chats.mia, "search:owl") == [chat["id"]]


async def test_a_search_is_combined_with_the_other_terms(chats: ChatApi):
    one = await rested(chats, "owl one", labels={"team": "a"})
    two = await rested(chats, "owl two")
    await chats.mia.call("PATCH", f"{CHATS}/{two['id']}", {"archived": True})
    await indexed(chats)
    read = await chats.mia.put(f"{CHATS}/{one['id']}/read", {})

    assert read.status == 204, read
    assert await found(chats.mia, "search:owl") == [one["id"]]
    assert await found(chats.mia, "search:owl archived:true") == [two["id"]]
    assert await found(chats.mia, "search:owl", "&label=team:a") == [one["id"]]
    assert await found(chats.mia, "search:owl", "&label=team:b") == []
    assert await found(chats.mia, "search:owl has_unread:true") == []
    assert await found(chats.mia, "search:owl source:shared_with_me") == []
    assert wrong(await search(chats.mia, "search:owl title:x")) == ["q"]
    assert wrong(await search(chats.mia, 'search:""')) == ["q"]
    assert await found(chats.mia, "search:--") == []


@pytest.mark.behaviour("API-2")
async def test_a_page_of_hits_is_full_whenever_there_are_enough_that_one_may_see(chats: ChatApi):
    sam = await chats.running.add_user("sam")
    mine: list[str] = []
    for number in range(4):
        mine.append((await rested(chats, f"owl {number}"))["id"])
        await rested(chats, f"owl {number}", sam)
    await indexed(chats)

    pages: list[str] = []
    while page := await found(
        chats.mia, "search:owl", f"&owner=all&limit=3{f'&after_id={pages[-1]}' if pages else ''}"
    ):
        pages += page

    assert pages == mine[::-1]
    assert len(await found(chats.running.owner, "search:owl", "&owner=all")) == 8
    assert len(await found(chats.running.owner, "search:owl", "&owner=sam")) == 4
    assert await found(chats.running.owner, "search:owl") == []


async def test_what_is_said_is_found_a_moment_later_by_itself(chats: ChatApi):
    chat = await rested(chats, "a rare lammergeier")

    async with asyncio.timeout(PATIENCE):
        while await due(chats.running):
            pass

    assert await found(chats.mia, "search:lammergeier") == [chat["id"]]


async def test_a_long_history_is_made_searchable_in_several_rounds(chats: ChatApi, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search_index, "MESSAGES_AT_ONCE", 1)
    chat = await rested(chats, "first owl")
    for number in range(3):
        assert (await chats.send(chat, f"elk {number}")).status == 200
        await chats.resting(chat)
    await indexed(chats)

    assert [await found(chats.mia, f"search:{word}") for word in ("first", "elk", "2", "hi")] == [[chat["id"]]] * 4


@pytest.mark.parametrize("line", ["-" * 33, "- " * 300, "-(!&|)" * 100, '"' + "-" * 900])
async def test_a_ruled_line_in_what_is_looked_for_is_no_word(chats: ChatApi, line: str):
    chat = await rested(chats, "the blue owl")
    await indexed(chats)

    assert await found(chats.mia, search_term(f"{line} owl")) == [chat["id"]]
    assert await found(chats.mia, search_term(line)) == []
    assert await found(chats.mia, search_term("blue -owl")) == []
