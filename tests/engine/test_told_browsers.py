"""What the owner's browsers are told when a turn ends, and when they are not."""

from typing import Any

import pytest

from chatd.core import labels
from chatd.core.labels import Ending
from chatd.core.push_message import FAILED
from chatd.core.side_kind import SideKind
from chatd.testing.vendors.script import Delay, Say, Turn
from engine.around_turns import Around, Script, around_turns

LABEL = Turn(Say("Fixed login redirect"))


def bodies(around: Around) -> list[str]:
    return [message.body for _, message in around.pushed]


@pytest.mark.behaviour("SIDE-2")
async def test_a_title_that_was_made_meanwhile_is_laid_over_the_one_that_the_turn_knows(database: Any):
    script = Script(title=Turn(Say("Login that loses its way")), label=LABEL)
    async with around_turns(database.dsn, script) as around:
        chat = await around.begin("fix the login")
        await around.until_made()
        await around.ended(chat, title="fix the login")
        await around.until_made(2)
        await around.idle()

        [(user_id, message)] = around.pushed
        assert user_id == around.chats.deployment.user_id
        assert (message.title, message.body) == ("Login that loses its way", "Fixed login redirect")
        assert message.url == f"/agents/{chat}"


async def test_a_turn_that_is_not_the_last_any_more_when_its_label_is_there_is_not_told(database: Any):
    slow = Turn(Say("Fixed login redirect"), faults=[Delay(10)])
    async with around_turns(database.dsn, Script(label=slow)) as around:
        chat = await around.chats.begin()
        await around.ended(chat)
        await around.chats.fake_clock.wait_for("scripted vendor")
        await around.chats.send(chat, "go on")
        await around.chats.resting(chat)
        await around.chats.fake_clock.advance(10)
        await around.idle()

        assert around.pushed == []


async def test_a_label_that_takes_too_long_is_not_waited_for(database: Any):
    never = Turn(Say("x"), faults=[Delay(1000)])
    async with around_turns(database.dsn, Script(label=never)) as around:
        chat = await around.chats.begin()
        await around.ended(chat)
        await around.chats.fake_clock.wait_for("scripted vendor")
        await around.chats.fake_clock.advance(labels.SECONDS)
        await around.idle()

        assert bodies(around) == ["Done it."]


async def test_where_there_is_no_room_for_a_label_the_turn_is_told_at_once(database: Any):
    async with around_turns(database.dsn, Script()) as around:
        chat = await around.chats.begin()
        await around.chats.resting(chat)
        around.jobs._most = 0
        await around.ended(chat)

        assert bodies(around) == ["Done it."]
        assert not around.jobs.start(SideKind.LABEL, chat, _nothing, seconds=1)


@pytest.mark.parametrize(
    ("ending", "error", "told"),
    [
        (Ending.FAILED, '{"message": "No such model."}', ["No such model."]),
        (Ending.FAILED, "", [FAILED]),
        (Ending.FAILED, "no JSON", [FAILED]),
        (Ending.INTERRUPTED, "", []),
        (Ending.WENT_ON, "", []),
        (Ending.AWAITS_CLIENT, "", []),
        (Ending.TIMED_OUT, "", []),
    ],
)
async def test_other_ends_are_told_only_if_they_failed(database: Any, ending: Ending, error: str, told: list[str]):
    async with around_turns(database.dsn, Script()) as around:
        chat = await around.chats.begin()
        await around.ended(chat, ending, error=error)
        await around.idle()

        assert bodies(around) == told


@pytest.mark.parametrize("ending", [Ending.FINISHED, Ending.FAILED])
async def test_nobody_is_told_of_a_child(database: Any, ending: Ending):
    async with around_turns(database.dsn, Script()) as around:
        chat = await around.chats.begin()
        await around.ended(chat, ending, is_child=True)
        await around.idle()

        assert around.pushed == []


async def _nothing() -> None:
    pass
