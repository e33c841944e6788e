"""`chatd chat` as a process: from scripts, and at a terminal, against a real server with a scripted model."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

from chatd.client import Client
from cli.talking import STYLES, id_in, place
from cli.terminal import END, INTERRUPT
from client.cutting import cutting_way


async def test_off_a_terminal_the_answer_is_all_that_standard_output_has(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here:
        answered = await here.run("think")
        chat = id_in(answered.err)
        again = await here.run(str(chat), "hello", "there")
        piped = await here.run(str(chat), stdin="use a tool\n")
        read = await here.run(str(chat))
        failed = await here.run("fail")

    assert answered.out == "They **do** fly.\n\n- at `night`\n"
    assert (answered.code, again.code, again.out) == (0, 0, "Hi.\n")
    assert piped.out == "Let me see.\nThere is no such tool.\n"
    assert '● find_owls {"where":"here"}' in piped.err
    assert "✗ find_owls" in piped.err
    assert read.out == "They **do** fly.\n\n- at `night`\nHi.\nLet me see.\nThere is no such tool.\n"
    assert (failed.code, failed.out) == (1, "")
    assert "✗ " in failed.err
    assert "Traceback" not in failed.err


async def test_events_are_printed_one_a_line_for_programs(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here:
        printed = await here.run("think", "--json")

    events = [json.loads(line) for line in printed.out.splitlines()]
    kinds = {event["type"] for event in events}
    assert (printed.code, printed.err) == (0, "")
    assert {"message", "status"} <= kinds
    assert events[-1]["status"] == {"status": "waiting"}


async def test_what_can_not_be_sent_is_said(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here:
        nothing = await here.run()
        no_id = await here.run("01a1df24-e414-7ca5-8746-d1ccff48", "hello")
        missing = await here.run(str(UUID(int=7)), "hello")
        no_text = await here.run(stdin="\udcff\udcfe")

    assert (nothing.code, "nothing to send" in nothing.err) == (1, True)
    assert (no_id.code, "no id of a chat" in no_id.err) == (1, True)
    assert (missing.code, missing.out) == (1, "")
    assert missing.err.startswith("chatd: Chat not found"), missing.err
    assert (no_text.code, "no text" in no_text.err, "--file -" in no_text.err) == (1, True, True)


async def test_at_a_terminal_one_talks_and_sees_thoughts_and_markdown(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here, here.at_terminal() as screen:
        await screen.until(">")
        screen.type("think\n")
        await screen.until("• at ")
        await screen.until(">")
        screen.type("use a tool\n")
        await screen.until("no such tool.")
        await screen.until(">")
        screen.type(END)
        code = await screen.ended()

    plain = STYLES.sub("", screen.screen).replace("\r\n", "\n")
    assert code == 0
    assert "\x1b[2mOwls" in screen.screen, "thoughts are dim"
    assert "\x1b[1mdo\x1b[0m" in screen.screen
    assert plain.count("They do fly.") == 1, "what was seen live is not printed again"
    assert plain.count("Let me see.") == 1
    assert plain.count("● find_owls") == 1
    assert plain.count("✗ find_owls") == 1
    assert plain.count("use a tool") == 1
    assert "Go on: chatd chat" in plain


async def test_ctrl_c_stops_the_turn_and_the_second_one_leaves(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here, here.at_terminal() as screen:
        await screen.until(">")
        screen.type("wait\n")
        await screen.until("Once")
        screen.type(INTERRUPT)
        await screen.until(">")
        screen.type("hello\n")
        await screen.until("Hi.")
        await screen.until(">")
        screen.type(INTERRUPT)
        code = await screen.ended()
        async with Client(here.url, here.token) as client:
            page = await client.messages(id_in(screen.screen))

    assert code == 0
    texts = [part["text"] for message in page.messages for part in message.content if part["type"] == "text"]
    assert texts[:2] == ["Hi.", "hello"]
    assert texts[2].startswith("Once")
    assert "Traceback" not in screen.screen


async def test_one_comes_back_to_a_chat_that_is_at_work_and_queues_a_message(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here:
        chat = await here.begun()
        async with here.at_terminal(str(chat), "wait") as asking:
            await asking.until("Once")
            async with here.at_terminal(str(chat)) as screen:
                await screen.until("Hi.")
                await screen.until("Once")
                screen.type("hello again\n")
                await screen.until("queued 1: hello again")
                here.play.go_on.set()
                await screen.until("a time")
                await screen.until("> hello again")
                await screen.until("Hi.")
                await screen.until(">")
                screen.type(END)
                code = await screen.ended()
            asked = await asking.ended()

    assert (code, asked) == (0, 0)
    assert "a time" in asking.screen


async def test_a_connection_that_is_lost_is_made_again_without_a_word(database: Any, tmp_path: Path):
    async with (
        place(database, tmp_path) as here,
        cutting_way(here.url) as way,
        here.at_terminal("wait", CHATD_URL=way.url) as screen,
    ):
        await screen.until("Once")
        assert way.cut_all() == 1
        here.play.go_on.set()
        await screen.until("a time")
        code = await screen.ended()

    assert code == 0
    assert "Once upon a time\nGo on:" in screen.plain


async def test_a_connection_that_stays_away_is_told_of_once_and_the_answer_goes_on(database: Any, tmp_path: Path):
    async with (
        place(database, tmp_path) as here,
        cutting_way(here.url) as way,
        here.at_terminal("wait", CHATD_URL=way.url) as screen,
    ):
        await screen.until("Once")
        way.streams = [0, 0, 0, 0]
        assert way.cut_all() == 1
        await screen.until("The connection is lost.")
        here.play.go_on.set()
        await screen.until("a time")
        code = await screen.ended()

    assert code == 0
    assert screen.plain.count("The connection is lost.") == 1


async def test_who_leaves_with_two_ctrl_c_is_told_how_to_come_back(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here, here.at_terminal("wait") as screen:
        await screen.until("Once")
        screen.type(INTERRUPT)
        screen.type(INTERRUPT)
        code = await screen.ended()

    assert code == 130
    assert id_in(screen.screen)


async def test_a_script_that_is_interrupted_stops_the_turn_and_says_so_in_its_exit_code(database: Any, tmp_path: Path):
    async with place(database, tmp_path) as here, here.at_terminal("wait") as screen:
        await screen.until("Once")
        screen.type(INTERRUPT)
        code = await screen.ended()
        async with Client(here.url, here.token) as client:
            chat = await client.chat(id_in(screen.screen))

    assert (code, chat.status) == (130, "waiting")
    assert "Go on: chatd chat" in screen.screen
