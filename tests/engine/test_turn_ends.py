"""Labels of turns and summaries of chats: made after a turn, stored only for the turn that they are of."""

from typing import Any

import pytest

from chatd.core import chat_summary, labels
from chatd.core.labels import Ending
from chatd.core.states import Status
from chatd.engine.turn_ends import LabelMade, SummaryMade
from chatd.testing.vendors.script import Delay, Refuse, Say, Turn
from engine.around_turns import Script, around_turns

LONG = "I looked at every redirect of the login and changed the one that lost its target. " * 5
LABEL = Turn(Say("Fixed login redirect"))
SUMMARY = Turn(Say("The user wanted a working login. The redirect was fixed."))


async def test_a_finished_turn_gets_a_label_which_is_announced(database: Any):
    async with around_turns(database.dsn, Script(label=LABEL)) as around:
        chat = await around.chats.begin()
        await around.ended(chat)
        [made] = await around.until_made()

        assert isinstance(made, LabelMade)
        assert (made.chat_id, made.label) == (chat, "Fixed login redirect")
        assert (await around.row(chat))["last_turn_summary"] == "Fixed login redirect"
        assert (await around.chats.resting(chat))["status"] == Status.WAITING


@pytest.mark.parametrize("answer", [Turn(Say("I did it.")), Refuse(401, "no"), Turn(Say("x"), faults=[Delay(1000)])])
async def test_without_a_good_label_in_time_the_turn_gets_the_fixed_one(database: Any, answer: Any):
    async with around_turns(database.dsn, Script(label=answer)) as around:
        chat = await around.chats.begin()
        await around.ended(chat)
        if isinstance(answer, Turn) and answer.faults:
            await around.chats.fake_clock.wait_for("scripted vendor")
            await around.chats.fake_clock.advance(labels.SECONDS)
        await around.until_made()

        assert (await around.row(chat))["last_turn_summary"] == "Finished"


@pytest.mark.parametrize(
    ("ending", "label"),
    [
        (Ending.FAILED, None),
        (Ending.INTERRUPTED, None),
        (Ending.WENT_ON, None),
        (Ending.AWAITS_CLIENT, "Waiting for input"),
        (Ending.TIMED_OUT, "before"),
    ],
)
async def test_other_ends_ask_no_model(database: Any, ending: Ending, label: str | None):
    script = Script()
    async with around_turns(database.dsn, script) as around:
        chat = await around.chats.begin()
        await around.chats.resting(chat)
        await around.chats.deployment.pool.execute("UPDATE chats SET last_turn_summary = 'before'")
        await around.ended(chat, ending)
        await around.idle()

        assert (await around.row(chat))["last_turn_summary"] == label
        assert set(script.asked) == {"turn"}


async def test_a_label_of_a_turn_that_is_over_is_not_stored(database: Any):
    slow = Turn(Say("Fixed login redirect"), faults=[Delay(10)])
    async with around_turns(database.dsn, Script(label=slow)) as around:
        chat = await around.chats.begin()
        await around.ended(chat)
        clock = around.chats.fake_clock
        await clock.wait_for("scripted vendor")
        await around.chats.send(chat, "go on")
        await around.chats.resting(chat)
        await clock.advance(10)
        await around.idle()

        assert (await around.row(chat))["last_turn_summary"] is None
        assert around.made == []


async def test_the_label_of_a_newer_turn_takes_the_place_of_one_that_is_under_way(database: Any):
    script = Script(label=[Turn(Say("Old label"), faults=[Delay(10)]), Turn(Say("New label"))])
    async with around_turns(database.dsn, script) as around:
        chat = await around.chats.begin()
        await around.ended(chat)
        await around.chats.fake_clock.wait_for("scripted vendor")
        await around.chats.send(chat, "go on")
        await around.ended(chat)
        await around.until_made()
        await around.idle()

        assert [made.label for made in around.made if isinstance(made, LabelMade)] == ["New label"]


async def test_a_long_enough_chat_gets_a_summary_and_a_new_one_after_three_messages(database: Any):
    script = Script(turn=Turn(Say(LONG)), label=LABEL, summary=SUMMARY)
    async with around_turns(database.dsn, script) as around:
        chat = await around.chats.begin()
        await around.ended(chat)
        await around.until_made(2)
        await around.idle()
        assert [made.summary for made in around.made if isinstance(made, SummaryMade)] == [
            "The user wanted a working login. The redirect was fixed."
        ]
        stored = await around.row(chat)
        assert stored["summary"].startswith("The user wanted")
        for _ in range(3):
            assert script.asked.count("summary") == 1
            await around.chats.send(chat, "go on")
            await around.ended(chat)
            await around.idle()

        assert script.asked.count("summary") == 2
        assert (await around.row(chat))["summary_generated_at"] > stored["summary_generated_at"]


@pytest.mark.parametrize(
    "answer", [Turn(Say("A. B. C. D. E. F. G.")), Refuse(401, "no"), Turn(Say("x"), faults=[Delay(1000)])]
)
async def test_without_a_good_summary_the_last_one_stays(database: Any, answer: Any):
    script = Script(turn=Turn(Say(LONG)), label=LABEL, summary=answer)
    async with around_turns(database.dsn, script) as around:
        chat = await around.chats.begin()
        await around.chats.resting(chat)
        await around.chats.deployment.pool.execute("UPDATE chats SET summary = 'before'")
        await around.ended(chat)
        if isinstance(answer, Turn) and answer.faults:
            await around.until_made()  # the label, whose time would be over too
            await around.chats.fake_clock.wait_for("scripted vendor")
            await around.chats.fake_clock.advance(chat_summary.SECONDS)
        await around.idle()

        stored = await around.row(chat)
        assert stored["summary"] == "before"
        assert stored["last_turn_summary"] == "Fixed login redirect"


async def test_a_summary_of_a_history_that_has_moved_on_is_not_stored(database: Any):
    slow = Turn(Say("Old. News."), faults=[Delay(10)])
    async with around_turns(database.dsn, Script(turn=Turn(Say(LONG)), label=LABEL, summary=slow)) as around:
        chat = await around.chats.begin()
        await around.ended(chat)
        await around.chats.fake_clock.wait_for("scripted vendor")
        await around.chats.send(chat, "go on")
        await around.chats.resting(chat)
        await around.chats.fake_clock.advance(10)
        await around.idle()

        assert (await around.row(chat))["summary"] is None


async def test_a_short_chat_is_not_summarised(database: Any):
    script = Script(label=LABEL)
    async with around_turns(database.dsn, script) as around:
        chat = await around.chats.begin()
        await around.ended(chat)
        await around.idle()

        assert "summary" not in script.asked


async def test_of_a_child_the_beginning_of_its_report_is_stored_and_no_model_is_asked(database: Any):
    script = Script(turn=Turn(Say("# Report\n\nI **fixed** it. It works.\n\nDetails.")))
    async with around_turns(database.dsn, script) as around:
        chat = await around.chats.begin()
        await around.ended(chat, is_child=True)
        await around.until_made()
        stored = await around.row(chat)

        assert stored["summary"] == "I fixed it. It works."
        assert stored["last_turn_summary"] is None
        assert set(script.asked) == {"turn"}


@pytest.mark.parametrize("ending", [ending for ending in Ending if ending is not Ending.FINISHED])
async def test_only_a_finished_turn_leads_to_a_summary(database: Any, ending: Ending):
    script = Script(turn=Turn(Say(LONG)), label=LABEL, summary=SUMMARY)
    async with around_turns(database.dsn, script) as around:
        chat = await around.chats.begin()
        await around.ended(chat, ending)
        await around.idle()

        assert "summary" not in script.asked
        assert (await around.row(chat))["summary"] is None
