"""What can be done at the terminal besides talking: the queue, files, models, and what is shown of a turn's trouble."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.cli.chat_commands import Commands
from chatd.client import Client
from chatd.engine.tools.live_output import LiveOutput
from chatd.wire.chat_requests import UpdateChat
from chatd.wire.chats import ChatQueuedMessage
from cli.talking import id_in, place
from cli.terminal import END, INTERRUPT, terminal
from server.configured_models import model


async def test_what_waits_is_listed_moved_rewritten_dropped_and_sent(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here, here.at_terminal() as screen:
        await screen.until(">")
        screen.type("wait\n")
        await screen.until("Once")
        for number, text in enumerate(("first", "second", "third"), 1):
            screen.type(f"{text}\n")
            await screen.until(f"queued {number}: {text}")
        screen.type("/move 3 1\n")
        await screen.until("1. third")
        await screen.until("3. second")
        screen.type("/edit 2 first, better\n")
        await screen.until("Edited: first, better")
        screen.type("/hold 3\n")
        await screen.until("Held: second")
        screen.type("/edit 1\n")
        await screen.until("/cancel leaves it as it is.")
        screen.type("third, better\n")
        await screen.until("Edited: third, better")
        screen.type("/drop 3\n")
        await screen.until("Dropped: second")
        screen.type("/queue\n")
        await screen.until("1. third, better")
        await screen.until("2. first, better")
        screen.type("/drop 7\n")
        await screen.until("a number from 1 to 2")
        screen.type("/send 2\n")
        await screen.until("> first, better")
        await screen.until("Hi.")
        await screen.until("> third, better")
        await screen.until("Hi.")
        await screen.until("\n\x1b[1m>")
        screen.type("/queue\n")
        await screen.until("Nothing waits.")
        screen.type("/quit\n")
        code = await screen.ended()

    assert code == 0
    assert "Traceback" not in screen.screen


async def test_a_message_that_comes_while_another_is_moved_stays_behind_it():
    def waits(id: int) -> ChatQueuedMessage:
        return ChatQueuedMessage(
            id=id, chat_id=UUID(int=1), model_config_id=None, content=[], created_at=datetime(2026, 1, 1, tzinfo=UTC)
        )

    class Talking:
        def __init__(self) -> None:
            self.chat_id, self.queue, self.editing = UUID(int=1), [waits(1), waits(2)], None

        def leave(self) -> None: ...
        def switch(self, chat_id: UUID) -> None: ...

        async def reorder_queue(self, chat_id: UUID, ids: list[int]) -> None:
            self.queue = [*reversed(self.queue), waits(3)]  # as the stream tells meanwhile

        def note(self, *lines: str) -> None: ...

    talk: Any = Talking()
    move = Commands(talk, talk, talk, talk).find("/move 2 1")
    assert move is not None
    await move()

    assert [one.id for one in talk.queue] == [2, 1, 3]


async def test_the_chat_is_named_weighed_interrupted_and_edited(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here, here.at_terminal() as screen:
        await screen.until("/help lists commands")
        screen.type("/cost\n")
        await screen.until("There is no chat yet.")
        screen.type("/nonsense\n")
        await screen.until("There is no command /nonsense.")
        screen.type("/help\n")
        await screen.until("/interrupt")
        screen.type("//help\n")
        await screen.until("Hi.")
        screen.type("/title Owls by night\n")
        await screen.until("Title: Owls by night")
        screen.type("/cost\n")
        await screen.until(" model call")
        screen.type("wait\n")
        await screen.until("Once")
        screen.type("/interrupt\n")
        await screen.until("stopping")
        await screen.until("\n\x1b[1m>")
        screen.type("/interrupt\n")
        await screen.until("Nothing runs.")
        screen.type("/edit last hello\n")
        await screen.until("Hi.")
        await screen.until("> hello")
        await screen.until("Hi.")
        screen.type(END)
        code = await screen.ended()
        async with Client(here.url, here.token) as client:
            chat = await client.chat(id_in(screen.screen))
            page = await client.messages(chat.id)

    assert (code, chat.title) == (0, "Owls by night")
    assert [message.content[0]["text"] for message in page.messages] == ["Hi.", "hello", "Hi.", "/help"]


async def test_another_model_and_effort_are_those_of_the_next_message(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here:
        [first] = await _models(here.url, here.token)
        await model(
            here.running.owner, str(first.ai_provider_id), "scripted-model-2", context_limit=9000, display_name="Other"
        )
        async with here.at_terminal("--model", "scripted-model-2") as screen:
            await screen.until("A new chat with Other.")
            screen.type("/model\n")
            await screen.until("● Other")
            screen.type("/model x\n")
            await screen.until("There is no model x.")
            screen.type("/effort hard\n")
            await screen.until("hard is no effort.")
            screen.type("/effort low\n")
            await screen.until("Effort low")
            screen.type("hello\n")
            await screen.until("Hi.")
            await screen.until("\n\x1b[1m>")
            screen.type(f"/model {first.model}\n")
            await screen.until("from your next message on.")
            screen.type("hello\n")
            await screen.until("Hi.")
            screen.type(END)
            await screen.ended()
            async with Client(here.url, here.token) as client:
                page = await client.messages(id_in(screen.screen))
        unknown = await here.run("--model", "nothing like it", "hello")

    asked = [message for message in page.messages if message.role == "user"]
    assert [message.model_config_id == first.id for message in asked] == [True, False]
    assert asked[1].reasoning_effort == "low"
    assert (unknown.code, "You can choose: " in unknown.err) == (1, True)


async def _models(url: str, token: str) -> Any:
    async with Client(url, token) as client:
        return await client.models()


async def test_files_go_with_a_message_from_the_command_line_and_while_talking(database: Any, tmp_path: Path):
    (tmp_path / "plan.md").write_text("# Plan\n")
    (tmp_path / "dot.gif").write_bytes(b"GIF89a\x01\x00\x01\x00\x00\x00\x00;")
    async with place(database, tmp_path) as here:
        sent = await here.run("--file", "plan.md", "-f", "dot.gif", "look")
        piped = await here.run("--file", "-", "look", stdin="from a pipe")
        missing = await here.run("--file", "nothing.md", "look")
        async with here.at_terminal("-c") as screen:
            await screen.until("> [input.txt]")
            await screen.until("Hi.")
            screen.type("/attach nothing.md\n")
            await screen.until("can't be read")
            screen.type("/attach plan.md\n")
            await screen.until("[plan.md] goes with your next message.")
            screen.type("and this\n")
            await screen.until("Hi.")
            screen.type(END)
            await screen.ended()
        async with Client(here.url, here.token) as client:
            first = (await client.messages(id_in(sent.err))).messages[-1].content
            second = (await client.messages(id_in(piped.err))).messages

    assert (sent.code, sent.out, piped.code, missing.code) == (0, "Hi.\n", 0, 1)
    assert "nothing.md can't be read: No such file or directory." in missing.err
    assert [part.get("media_type") for part in first] == [None, "text/markdown", "image/gif"]
    assert [part["type"] for part in second[1].content] == ["text", "file"], "it went on with the last chat"
    assert screen.plain.count("and this") == 1, "what was typed is not shown again"


async def test_a_retry_is_counted_down_in_its_line_and_then_gone(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here:
        chat = str(await here.begun())
        async with here.at_terminal(chat, "stumble") as screen:
            await screen.until("is temporarily overloaded. Trying again in 1 s")
            await screen.until("Hi.")
            code = await screen.ended()
        here.play.has_stumbled = False
        piped = await here.run(chat, "stumble")

    assert code == 0
    assert "Trying again" not in screen.plain
    assert (piped.code, piped.out) == (0, "Hi.\n")
    assert "Trying again in 1 s" in piped.err


async def test_what_a_running_tool_says_is_seen_in_place_until_its_result_comes(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here, here.at_terminal("wait") as screen:
        await screen.until("Once")
        [episode] = here.running.replica.engine.parts.episodes.open_episodes()
        live = episode.live = LiveOutput(episode.announce)
        say = live.of("toolu_1")
        say("compiling one.c")
        await screen.until("│ compiling one.c")
        say("compiling one.c\n" + "\n".join(f"step {number}\x1b[31m red\x1b[2J" for number in range(9)))
        await screen.until("│ step 8 red")
        shown = screen.plain
        live.end("toolu_1")
        here.play.go_on.set()
        await screen.until("a time")
        code = await screen.ended()

    assert code == 0
    assert "  │ step 4 red\n  │ step 5 red\n  │ step 6 red\n  │ step 7 red\n  │ step 8 red" in shown
    assert "step 3" not in shown
    assert "step" not in screen.plain


async def test_thoughts_are_short(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here, here.at_terminal("ponder") as screen:
        await screen.until("Done.")
        await screen.ended()

    assert 50 < screen.plain.count("Hm.") < 80


async def test_one_goes_on_in_a_copy_and_writes_it_to_a_file(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here, here.at_terminal() as screen:
        await screen.until(">")
        screen.type("use a tool\n")
        await screen.until("no such tool.")
        await screen.until("\n\x1b[1m>")
        screen.type("/fork Owls, again\n")
        await screen.until("Back to the other one: chatd chat")
        first = await screen.until("Owls, again")
        await screen.until("> use a tool")
        await screen.until("● find_owls")
        await screen.until("\n\x1b[1m>")
        screen.type("think\n")
        await screen.until("at ")
        await screen.until("\n\x1b[1m>")
        screen.type("/export owls.html\n")
        await screen.until("Written: owls.html")
        screen.type("/export nowhere/owls.md\n")
        await screen.until("can't be written")
        screen.type(END)
        code = await screen.ended()

    page = (tmp_path / "owls.html").read_text()
    assert code == 0
    assert "Owls, again" in page
    assert "use a tool" in page
    assert "find_owls" in page
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]  # noqa: PTH208
    left = first.split("chatd chat")[-1] + screen.screen.rpartition("Go on:")[2]
    assert len(set(re.findall(r"[0-9a-f-]{36}", left))) == 2, "one leaves the copy, and knows of the other"


@pytest.mark.parametrize("environ", [{}, {"TERM": "dumb"}, {"NO_COLOR": "1"}])
async def test_no_word_of_a_model_or_a_tool_or_a_title_can_command_the_terminal(
    database: Any, tmp_path: Path, environ: dict[str, str]
):
    async with place(database, tmp_path) as here:
        async with here.at_terminal(**environ) as screen:
            await screen.until(">")
            screen.type("attack\n")
            await screen.until("no such tool.")
            await screen.until(">")
            screen.type(END)
            await screen.ended()
            async with Client(here.url, here.token) as client:
                chat = (await client.chats())[0].id
                await client.update_chat(chat, UpdateChat(title="t\x1b]0;evil title\x07i\x9b2Jtle"))
        async with here.at_terminal(str(chat), **environ) as again:
            await again.until("no such tool.")
            again.type(END)
            await again.ended()
        async with here.at_terminal("--json", str(chat), **environ) as events:
            await events.ended()

    assert "title" in again.plain
    for seen in (screen, again):
        assert "abcdefgh" in seen.plain
        assert "evil title" not in seen.screen
        assert not set(seen.screen) & set("\x07\x08\x9b\u202e")
        if environ:
            assert "\x1b" not in seen.screen
    assert not set(events.screen) & set("\x1b\x07\x08\x9b\u202e")


@pytest.mark.parametrize("command", ["export", "fork", "list"])
async def test_an_export_or_json_that_is_read_at_a_terminal_commands_nothing(
    database: Any, tmp_path: Path, command: str
):
    async with place(database, tmp_path) as here:
        chat = await here.begun("attack")
        async with Client(here.url, here.token) as client:
            await client.update_chat(chat, UpdateChat(title="abcde\x9b31m\u202e"))
        words = {"export": ["export", str(chat)], "fork": ["fork", str(chat), "--json"], "list": ["--json"]}
        async with terminal("chats", *words[command], cwd=here.home, **here.environ) as screen:
            code = await screen.ended()

    assert code == 0
    assert "abcde" in screen.screen
    assert not set("\x1b\x9b\u202e\x08\x07") & set(screen.screen)


async def test_a_terminal_that_knows_nothing_gets_text_as_it_is_written(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here, here.at_terminal("think", TERM="dumb") as screen:
        await screen.until("They **do** fly.")
        code = await screen.ended()

    assert code == 0
    assert "\x1b" not in screen.screen


async def test_an_error_of_a_turn_is_told_in_words_and_the_talk_goes_on(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here, here.at_terminal() as screen:
        await screen.until(">")
        screen.type("fail\n")
        await screen.until("did not accept the credentials. Check the API key")
        await screen.until("\n\x1b[1m>")
        screen.type("hello\n")
        await screen.until("Hi.")
        await screen.until("\n\x1b[1m>")
        screen.type(INTERRUPT)
        code = await screen.ended()

    assert code == 0
