"""Search over titles and messages: it finds what a look at every message would, whatever happened to them."""

import asyncio
import os
import random
from itertools import pairwise
from typing import Any
from uuid import UUID

import msgspec
import pytest

from chatd.core.access import OwnedBy
from chatd.core.messages import NewMessage
from chatd.core.parts import ReasoningPart, TextPart
from chatd.core.roles import Role, Visibility
from chatd.core.snippets import read_snippet
from chatd.store.queries import SearchChatsRow
from chatd.store.transitions import Fence
from chatd.testing.postgres import Database
from store.authorization_cases import SEARCH
from store.transition_driver import Chats, answer, applied, fence, open_chats
from store.world import add_user, new_id

WORDS = ("owl", "fox", "hen", "bee", "ant", "elk", "Yak", "cod")
PROGRAMS = 60 if os.environ.get("CHATD_TEST_LONG") else 6
STEPS = 60  # several turns, edits and rounds of the index in a handful of chats


async def index(chats: Chats, *chat_ids: UUID, most: int = 100) -> None:
    """Until nothing is left to do."""
    waiting = list(chat_ids)
    while waiting:
        waiting = [row.chat_id for row in await chats.sql.index_messages(chat_ids=waiting, most=most)]


async def search(chats: Chats, words: str, **fields: Any) -> list[SearchChatsRow]:
    asked: dict[str, Any] = {
        "owner_id": chats.owner.id,
        "archived": False,
        **SEARCH,
        "max_rows": 50,
        "words": words,
        **fields,
    }
    return await chats.sql.search_chats(**asked)


async def found(chats: Chats, words: str, **fields: Any) -> list[UUID]:
    return [row.id for row in await search(chats, words, **fields)]


async def said(chats: Chats, text: str, reply: str = "well", *, title: str = "A chat") -> tuple[UUID, Fence]:
    """A chat in which that was said, at work on the next turn."""
    new = msgspec.structs.replace(chats.new_chat(), title=title)
    made = applied(await chats.transitions.create_chat(new, [chats.user(text)], take=chats.take()))
    now = fence(await chats.transitions.commit_step(fence(made), [answer(reply)]))
    await index(chats, now.chat_id)
    return now.chat_id, now


class Oracle:
    """Chats as a reader sees them, looked at one message after the other."""

    def __init__(self, chats: Chats, numbers: random.Random) -> None:
        self.chats, self.numbers = chats, numbers
        self.fences: dict[UUID, Fence] = {}

    def words(self) -> str:
        return " ".join(self.numbers.choices(WORDS, k=self.numbers.randint(1, 4)))

    async def step(self) -> None:
        do, numbers = self.chats.transitions, self.numbers
        action = numbers.choice(["create", "say", "say", "answer", "answer", "edit", "edit", "rename", "hide", "fork"])
        if action == "create" or not self.fences:
            new = msgspec.structs.replace(self.chats.new_chat(), title=self.words())
            made = applied(await do.create_chat(new, [self.chats.user(self.words())], take=self.chats.take()))
            self.fences[new.id] = fence(made)
            return
        id = numbers.choice(list(self.fences))
        view = await self.chats.look(id)
        row = view["state"]
        now = Fence(id, UUID(row["runner_id"] or str(new_id())), row["history_version"])
        if action == "rename":
            await self.chats.sql.update_chat(id=id, title=self.words(), labels=None, plan_mode=None)
        elif action == "fork":
            fork = new_id()
            applied(await do.fork_chat(fork, id, owner_id=self.chats.owner.id, title=self.words()))
            self.fences[fork] = now
        elif action == "edit":
            users = [m["id"] for m in view["messages"] if m["role"] == "user" and not m["deleted"]]
            message = self.chats.user(self.words())
            await do.edit_message(id, numbers.choice(users), message, take=self.chats.take())
        elif row["status"] == "waiting":
            await do.send_message(id, self.chats.user(self.words()), take=self.chats.take())
        elif row["runner_id"]:
            hidden = NewMessage(role=Role.USER, parts=(TextPart(text=self.words()),), visibility=Visibility.MODEL)
            thought = NewMessage(
                role=Role.ASSISTANT, parts=(ReasoningPart(text=self.words()), TextPart(text=self.words()))
            )
            rows = [hidden, thought] if action == "hide" else [answer(self.words())]
            await do.commit_step(now, rows, finish=action == "answer")

    async def fitting(self, fits: Any) -> dict[UUID, int | None]:
        """Each chat that fits, and the newest message that does."""
        hits: dict[UUID, int | None] = {}
        for id in self.fences:
            view = await self.chats.look(id)
            newest = [
                message["id"]
                for message in view["messages"]
                if message["role"] in ("user", "assistant") and message["visibility"] != "model"
                if not message["deleted"]
                if fits([word for part in message["content"] if part["type"] == "text" for word in split(part["text"])])
            ]
            if newest or fits(split(view["chat"]["title"])):
                hits[id] = max(newest, default=None)
        return hits


def split(text: str) -> list[str]:
    return text.lower().split()


def questions(numbers: random.Random) -> list[tuple[str, Any]]:
    one, two = numbers.sample([word.lower() for word in WORDS], 2)
    return [
        (one.upper(), lambda words: one in words),
        (f"{one} {two}", lambda words: one in words and two in words),
        (f"{one} -{two}", lambda words: one in words and two not in words),
        (f"{one} or {two}", lambda words: one in words or two in words),
        (f'"{one} {two}"', lambda words: any(pair == (one, two) for pair in pairwise(words))),
    ]


@pytest.mark.parametrize("seed", range(PROGRAMS))
async def test_a_search_finds_what_a_look_at_every_message_finds(seed: int, database: Database):
    numbers = random.Random(seed)
    async with open_chats(database.dsn) as chats:
        oracle = Oracle(chats, numbers)
        for _ in range(STEPS):
            await oracle.step()
            if numbers.random() < 0.3:  # at any moment, and not always to the end
                some = numbers.sample(list(oracle.fences), min(3, len(oracle.fences)))
                await chats.sql.index_messages(chat_ids=some, most=numbers.choice([1, 2, 50]))
        await index(chats, *oracle.fences, most=3)

        for words, fits in [question for _ in range(4) for question in questions(numbers)]:
            rows = await search(chats, words)
            assert {row.id: row.message_id for row in rows} == await oracle.fitting(fits), words
            assert [row.id for row in rows] == [
                row.id for row in sorted(rows, key=lambda row: (row.updated_at, row.id), reverse=True)
            ]


async def test_nothing_is_shown_of_a_hidden_message_whose_words_are_still_known(database: Database):
    async with open_chats(database.dsn) as chats:
        id, _ = await said(chats, "the secret owl")
        first = (await chats.look(id))["messages"][0]["id"]
        applied(await chats.transitions.edit_message(id, first, chats.user("fox")))

        assert [row.snippet for row in await search(chats, "owl")] == ["A chat"]


async def test_what_is_due_is_found_by_going_round_all_chats(database: Database):
    async with open_chats(database.dsn) as chats:
        ids = sorted([(await said(chats, "owl"))[0] for _ in range(5)])
        for id in ids[1:3]:
            view = await chats.look(id)
            first = view["messages"][0]["id"]
            applied(await chats.transitions.edit_message(id, first, chats.user("fox")))

        seen: list[tuple[UUID, bool]] = []
        after = UUID(int=0)
        while page := await chats.sql.list_unindexed_chats(after_id=after, max_rows=2):
            seen += [(row.chat_id, row.is_due) for row in page]
            after = page[-1].chat_id

        assert [id for id, is_due in seen if is_due] == ids[1:3]
        assert await found(chats, "fox") == []
        await index(chats, *ids)
        assert sorted(await found(chats, "fox")) == ids[1:3]
        assert sorted(await found(chats, "owl")) == [ids[0], *ids[3:]]


async def test_who_comes_second_leaves_the_work_to_who_is_at_it(database: Database):
    async with open_chats(database.dsn, connections=2) as chats:
        id, _ = await said(chats, "owl")
        async with chats.sql.transaction() as tx:
            await tx.index_messages(chat_ids=[id], most=10)
            rows = await asyncio.wait_for(chats.sql.index_messages(chat_ids=[id], most=10), 30)

        assert [(row.chat_id, row.is_busy) for row in rows] == [(id, True)]


async def test_only_those_chats_are_found_that_one_may_see_and_asks_for(database: Database):
    async with open_chats(database.dsn) as chats:
        mine, now = await said(chats, "owl")
        other = await add_user(chats.sql, "sam")
        new = msgspec.structs.replace(chats.new_chat(), owner_id=other.id)
        message = NewMessage(role=Role.USER, parts=(TextPart(text="owl"),), created_by=other.id)
        applied(await chats.transitions.create_chat(new, [message]))
        await index(chats, new.id)

        assert await found(chats, "owl") == [mine]
        assert await found(chats, "owl", owner_id=other.id) == [new.id]
        assert sorted(await found(chats, "owl", owner_id=None)) == sorted([mine, new.id])
        assert await found(chats, "owl", owner_id=None, authorize=OwnedBy(other.id), max_rows=1) == [new.id]
        assert await found(chats, "owl", authorize=OwnedBy(other.id)) == []
        assert await found(chats, "chat") == [mine], "by their titles too"
        assert await found(chats, f"of {chats.owner.id}") == []

        applied(await chats.transitions.finish_turn(now))
        applied(await chats.transitions.archive(mine))
        assert await found(chats, "owl") == []
        assert await found(chats, "owl", archived=True) == [mine]


@pytest.mark.parametrize(
    "words",
    [
        "\N{CJK UNIFIED IDEOGRAPH-5B57}" * 990,
        "x" * 990,
        "",
        "  ",
        "-owl",
        "!!!",
        "owl or -fox",
        "'",
        '"',
        "\\",
        "&|!():*<->",
    ],
)
async def test_a_question_without_a_word_to_look_up_finds_nothing(words: str, database: Database):
    async with open_chats(database.dsn) as chats:
        await said(chats, "owl")

        assert await found(chats, words) == []


async def test_pinned_chats_come_first_and_pages_follow_each_other(database: Database):
    async with open_chats(database.dsn) as chats:
        ids = [(await said(chats, "owl"))[0] for _ in range(5)]
        await chats.sql.pin_chat(id=ids[3], place=1)
        await chats.sql.pin_chat(id=ids[0], place=2)
        listed: list[UUID] = []
        after: dict[str, Any] = {}
        while page := await search(chats, "owl", max_rows=2, **after):
            listed += [row.id for row in page]
            last = page[-1]
            after = {
                "after_place": last.pin_order or 2**31 - 1,
                "after_updated_at": last.updated_at,
                "after_id": last.id,
            }

        assert listed == [ids[3], ids[0], ids[4], ids[2], ids[1]]
        assert await found(chats, "owl", with_pins=False) == ids[::-1]


async def test_a_snippet_is_a_piece_of_what_was_found_with_its_words_marked(database: Database):
    async with open_chats(database.dsn) as chats:
        text = "growl " * 3000 + "the <b>Owl</b> \x01sees\x02 the\n\nowl " + "two " * 3000
        long, _ = await said(chats, text)
        titled, _ = await said(chats, "nothing", title="A fox's \N{FOX FACE} title")

        (in_text,), (in_title,) = await search(chats, "owl"), await search(chats, "fox")
        snippet, of_title = read_snippet(in_text.snippet), read_snippet(in_title.snippet)

        assert in_text.id == long
        assert {snippet.text[start:end].lower() for start, end in snippet.marks} == {"owl"}
        assert "growl the <b>" in snippet.text, "with what stands before"
        assert len(snippet.text) < 300
        assert (in_title.id, in_title.message_id) == (titled, None)
        assert (of_title.text, of_title.marks) == ("A fox's \N{FOX FACE} title", ((2, 5),))


async def test_the_beginning_of_a_very_long_message_is_searched(database: Database):
    async with open_chats(database.dsn) as chats:
        words = " ".join(f"word{number}" for number in range(40_000))
        id, _ = await said(chats, f"{'x' * 3000} owl {words} fox", "\N{OWL} " * 70_000)

        assert await found(chats, "owl") == [id]
        assert await found(chats, "fox") == []


async def test_text_that_postgres_can_not_hold_as_it_is_can_be_searched(database: Database):
    async with open_chats(database.dsn) as chats:
        id, _ = await said(chats, "an\0owl \ud800 \ue000 fox")

        (row,) = await search(chats, "fox")

        assert row.id == id
        assert read_snippet(row.snippet).text.endswith("\ufffd \ue000 fox")
