"""Titles are made beside the first turn, and nothing waits for them."""

from typing import Any

import pytest

from chatd.core.states import Status
from chatd.core.titles import SECONDS
from chatd.engine import titles
from chatd.engine.short_answers import MOST_ATTEMPTS
from chatd.engine.titles import TitleMade
from chatd.testing.vendors.script import Delay, Refuse, Say, Think, Turn
from engine.around_turns import Script, around_turns
from engine.deployment import new_id

ASKED = "Please fix the login redirect of the app"
FALLBACK = "Please fix the login redirect of…"
TITLE = Turn(Say("Fix login redirect"))


@pytest.mark.behaviour("SIDE-1")
async def test_a_title_is_made_beside_the_first_turn_stored_and_announced(database: Any):
    script = Script(title=Turn(Think("Hm."), Say('"Fix ', 'login redirect."')))
    async with around_turns(database.dsn, script) as around:
        chat = await around.begin(ASKED)
        [made] = await around.until_made()
        await around.chats.resting(chat)

        owner = around.chats.deployment.user_id
        assert made == TitleMade(chat_id=chat, owner_id=owner, title="Fix login redirect", replaced=FALLBACK)
        assert (await around.row(chat))["title"] == "Fix login redirect"
        asked = next(asked for asked in script.questions if ASKED in asked.last_text and "<message>" in asked.last_text)
        assert asked.body["max_tokens"] == 256
        assert "tools" not in asked.body


async def test_a_title_is_made_in_the_first_turn_only(database: Any):
    script = Script(title=TITLE)
    async with around_turns(database.dsn, script) as around:
        chat = await around.begin(ASKED)
        await around.until_made()
        await around.chats.resting(chat)
        await around.chats.send(chat, "And now?")
        await around.chats.resting(chat)
        around.begun(chat, FALLBACK, await around.chats.messages(chat))
        await around.idle()

        assert script.asked.count("title") == 1


async def test_a_chat_that_has_a_title_keeps_it(database: Any):
    script = Script(title=TITLE)
    async with around_turns(database.dsn, script) as around:
        chat = await around.begin(ASKED, title="Mine")
        await around.idle()

        assert (await around.row(chat))["title"] == "Mine"
        assert "title" not in script.asked


@pytest.mark.parametrize(
    "answer",
    [
        Turn(Say("I can't give this a title, but I could tell you more.")),
        Turn(Say("One\nTwo")),
        Turn(Say(" ")),
        Turn(Think("Hm.")),
    ],
)
async def test_an_answer_that_is_no_title_leaves_the_first_words(database: Any, answer: Turn):
    script = Script(title=answer)
    async with around_turns(database.dsn, script) as around:
        chat = await around.begin(ASKED)
        await around.chats.resting(chat)
        await around.idle()

        assert (await around.row(chat))["title"] == FALLBACK
        assert around.made == []
        assert script.asked.count("title") == 1


@pytest.mark.behaviour("SIDE-1")
async def test_the_end_of_a_turn_never_waits_for_a_title_and_the_title_comes_later(database: Any):
    slow = Turn(Say("Fix login redirect"), faults=[Delay(20)])
    async with around_turns(database.dsn, Script(title=slow)) as around:
        chat = await around.begin(ASKED)
        clock = around.chats.fake_clock
        state = await around.chats.resting(chat)
        await clock.wait_for("side title")
        await clock.wait_for("scripted vendor")

        assert state["status"] == Status.WAITING
        assert around.made == []
        assert around.titles.laid_over(chat, FALLBACK) == FALLBACK
        await clock.advance(20)
        await around.until_made()
        assert (await around.row(chat))["title"] == "Fix login redirect"


async def test_a_title_that_takes_too_long_is_given_up(database: Any):
    slow = Turn(Say("Fix login redirect"), faults=[Delay(1000)])
    async with around_turns(database.dsn, Script(title=slow)) as around:
        chat = await around.begin(ASKED)
        clock = around.chats.fake_clock
        await around.chats.resting(chat)
        await clock.wait_for("scripted vendor")
        await clock.advance(SECONDS)
        await around.idle()

        assert (await around.row(chat))["title"] == FALLBACK
        assert around.made == []


@pytest.mark.behaviour("SIDE-1")
async def test_a_title_that_fails_leaves_the_first_words_and_the_turn_alone(database: Any):
    script = Script(title=Refuse(401, "no such key"))
    async with around_turns(database.dsn, script) as around:
        chat = await around.begin(ASKED)
        state = await around.chats.resting(chat)
        await around.idle()

        assert state["status"] == Status.WAITING
        assert (await around.row(chat))["title"] == FALLBACK
        assert script.asked.count("title") == 1


@pytest.mark.parametrize("failures", [1, MOST_ATTEMPTS])
async def test_a_busy_vendor_is_asked_a_few_times(database: Any, failures: int):
    script = Script(title=[*[Refuse(529, "Overloaded")] * failures, TITLE])
    async with around_turns(database.dsn, script) as around:
        chat = await around.begin(ASKED)
        clock = around.chats.fake_clock
        await around.chats.resting(chat)
        for wait in range(1, min(failures, MOST_ATTEMPTS - 1) + 1):
            await clock.wait_for("side retry")
            await clock.advance(wait)
        await around.idle()

        assert (await around.row(chat))["title"] == (FALLBACK if failures == MOST_ATTEMPTS else "Fix login redirect")
        assert script.asked.count("title") == min(failures + 1, MOST_ATTEMPTS)


async def test_who_renames_a_chat_meanwhile_has_the_last_word(database: Any):
    slow = Turn(Say("Fix login redirect"), faults=[Delay(20)])
    async with around_turns(database.dsn, Script(title=slow)) as around:
        chat = await around.begin(ASKED)
        clock = around.chats.fake_clock
        await clock.wait_for("scripted vendor")
        await around.rename(chat, "Mine")
        await clock.advance(20)
        await around.idle()

        assert (await around.row(chat))["title"] == "Mine"
        assert around.made == []
        assert around.titles.laid_over(chat, FALLBACK) == FALLBACK


@pytest.mark.behaviour("SIDE-1")
async def test_a_title_that_is_ready_is_laid_over_what_a_turn_knows_but_not_over_a_newer_one(database: Any):
    async with around_turns(database.dsn, Script(title=TITLE)) as around:
        chat = await around.begin(ASKED)
        await around.until_made()

        assert around.titles.laid_over(chat, FALLBACK) == "Fix login redirect"
        assert around.titles.laid_over(chat, "Mine") == "Mine"
        assert around.titles.laid_over(new_id(), FALLBACK) == FALLBACK


async def test_a_title_under_way_ends_with_the_replica(database: Any):
    slow = Turn(Say("Fix login redirect"), faults=[Delay(20)])
    async with around_turns(database.dsn, Script(title=slow)) as around:
        chat = await around.begin(ASKED)
        await around.chats.fake_clock.wait_for("scripted vendor")
        await around.chats.resting(chat)

    assert around.jobs.alive == 0
    assert around.made == []


async def test_a_provider_that_can_not_be_asked_costs_only_the_title(database: Any):
    script = Script(title=TITLE)
    async with around_turns(database.dsn, script) as around:
        first = await around.first_message(ASKED)
        await around.chats.deployment.pool.execute("UPDATE providers SET kind = 'azure', base_url = ''")
        around.begun(new_id(), FALLBACK, [first])
        await around.idle()

        assert script.asked.count("title") == 0
        assert around.made == []


async def test_a_model_that_is_set_for_titles_is_asked_or_none(database: Any):
    script = Script(title=TITLE)
    override = new_id()
    async with around_turns(database.dsn, script, override=lambda: override) as around:
        chat = await around.begin(ASKED)
        await around.chats.resting(chat)
        await around.idle()

        assert "title" not in script.asked
        override = around.chats.model_id
        around.begun(chat, FALLBACK, (await around.chats.messages(chat))[:1])
        await around.until_made()


async def test_a_new_title_is_proposed_from_how_the_chat_went_on(database: Any):
    script = Script(title=TITLE)
    async with around_turns(database.dsn, script) as around:
        chat = await around.begin(ASKED, title="Mine")
        await around.chats.resting(chat)
        await around.chats.send(chat, "And the logout")
        await around.chats.resting(chat)
        around.begun(chat, "Mine", await around.chats.messages(chat))
        proposed = await around.propose(chat)

        assert proposed == "Fix login redirect"
        assert (await around.row(chat))["title"] == "Mine"
        assert "<latest-message>\nAnd the logout" in script.questions[-1].last_text


async def test_a_title_that_is_the_one_it_has_is_no_news(database: Any):
    async with around_turns(database.dsn, Script(title=Turn(Say("Login redirect")))) as around:
        chat = await around.begin("Login redirect")
        await around.idle()

        assert (await around.row(chat))["title"] == "Login redirect"
        assert around.made == []


async def test_of_many_titles_the_newest_are_kept_for_turns_under_way(database: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(titles, "_MOST_KEPT", 1)
    async with around_turns(database.dsn, Script(title=TITLE)) as around:
        old, new = [await around.begin(ASKED) for _ in range(2)]
        await around.until_made(2)
        order = [made.chat_id for made in around.made]

        assert set(order) == {old, new}
        assert [around.titles.laid_over(chat, FALLBACK) for chat in order] == [FALLBACK, "Fix login redirect"]
