"""The Python client against a real server: chats, messages that are sent once, streams, errors with their reasons."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from chatd.client import BadRequest, Client, Missing, SignInNeeded, Unexpected, Unreachable, WrongState
from chatd.client.events import (
    ActionRequired,
    Event,
    MessageStored,
    PartCame,
    QueueChanged,
    RawEvent,
    StatusChanged,
    UnknownEvent,
    read_event,
)
from chatd.core.secret import Secret
from chatd.core.states import Status
from chatd.core.stream_picture import Picture
from chatd.server.serving import open_socket, socket_url
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Answer, Call, Hold, Say, Think, Turn
from chatd.wire.chat_requests import ClientTool, InputPart, ToolResult, UpdateChat
from chatd.wire.chats import ChatMessage
from client.cutting import cutting_way
from server.running import PASSWORD, Running
from server.scripted import scripted_server

PATIENCE = 60
NUMBERS = [f"{number}, " for number in range(1, 30)]


class Play:
    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.finish = asyncio.Event()

    def __call__(self, asked: Asked) -> Answer:
        match asked.last_text:
            case "count":
                return Turn(Think("Hm,", " numbers."), Say(*NUMBERS))
            case "count slowly":
                return Turn(
                    Say(*NUMBERS), faults=[Hold(self.go_on, before_event=8), Hold(self.finish, before_event=20)]
                )
            case "look" if not asked.answers_a_call:
                return Turn(Call("look_up", '{"word": "owl"}'))
            case _:
                return Turn(Say("Hi."))


@asynccontextmanager
async def served(database: Any, tmp_path: Path) -> AsyncIterator[tuple[Running, Client, Play]]:
    play = Play()
    async with (
        asyncio.timeout(PATIENCE),
        scripted_server(database.dsn, tmp_path, play) as running,
        Client(running.api.url, running.owner.token) as client,
    ):
        yield running, client, play


async def until_resting(client: Client, chat: UUID, **begin: Any) -> list[Event]:
    seen: list[Event] = []
    async with aclosing(client.events(chat, **begin)) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, StatusChanged) and event.is_resting:
                return seen
    raise AssertionError("a stream has no end")


def texts(messages: list[ChatMessage]) -> list[str]:
    return [part["text"] for message in messages for part in message.content if part["type"] == "text"]


async def test_a_chat_is_begun_answered_listed_renamed_and_read(database: Any, tmp_path: Path):
    async with served(database, tmp_path) as (_, client, _):
        chat = await client.create_chat("hello", labels={"team": "owls"})
        seen = await until_resting(client, chat.id)
        await client.update_chat(chat.id, UpdateChat(title="Owls"))
        listed = await client.chats(q="title:owls")
        page = await client.messages(chat.id)
        me = await client.me()

    stored = [event.message for event in seen if isinstance(event, MessageStored)]
    assert texts(stored) == ["hello", "Hi."]
    assert [(one.id, one.title, one.labels) for one in listed] == [(chat.id, "Owls", {"team": "owls"})]
    assert texts(page.messages) == ["Hi.", "hello"]
    assert me.username == "olga"


async def test_a_message_that_is_sent_twice_with_one_key_is_there_once(database: Any, tmp_path: Path):
    async with served(database, tmp_path) as (_, client, _):
        chat = await client.create_chat("hello", key="the first")
        again = await client.create_chat("hello", key="the first")
        await until_resting(client, chat.id)
        sent = await client.send(chat.id, "more", key="the second")
        repeated = await client.send(chat.id, "more", key="the second")
        await until_resting(client, chat.id)
        page = await client.messages(chat.id)

    assert again.id == chat.id
    assert sent.message is not None
    assert repeated.message is not None
    assert repeated.message.id == sent.message.id
    assert texts(page.messages) == ["Hi.", "more", "Hi.", "hello"]


async def test_a_request_whose_answer_is_lost_is_sent_again_and_done_once(database: Any, tmp_path: Path):
    async with served(database, tmp_path) as (running, _, _), cutting_way(running.api.url) as way:
        async with Client(way.url, running.owner.token) as client:
            way.posts = [0, 100]
            chat = await client.create_chat("hello")
            assert not way.posts
            await until_resting(client, chat.id)
        async with Client(way.url, running.owner.token) as client:
            way.posts = [20]
            await client.send(chat.id, "more")
            await until_resting(client, chat.id)
            page = await client.messages(chat.id)
            chats = await client.chats()

    assert way.cuts == 3
    assert [one.id for one in chats] == [chat.id]
    assert texts(page.messages) == ["Hi.", "more", "Hi.", "hello"]


async def test_a_message_to_a_busy_chat_whose_answer_is_lost_waits_once(database: Any, tmp_path: Path):
    async with served(database, tmp_path) as (running, whole, play), cutting_way(running.api.url) as way:
        chat = await whole.create_chat("count slowly")
        way.posts = [0, 60]  # lost before its first byte, and in the middle
        async with Client(way.url, running.owner.token) as client:
            sent = await client.send(chat.id, "next")
            again = await client.send(chat.id, "next")
        waiting = (await whole.messages(chat.id)).queued_messages
        play.go_on.set()
        play.finish.set()
        await until_resting(whole, chat.id)
        page = await whole.messages(chat.id)

    assert way.cuts == 2
    assert sent.queued_message is not None
    assert again.queued_message is not None
    assert [waits.id for waits in waiting] == [sent.queued_message.id, again.queued_message.id], "one for each call"
    assert texts(page.messages)[:4] == ["Hi.", "next", "Hi.", "next"]


async def test_a_stream_that_is_cut_again_and_again_goes_on_without_a_gap(database: Any, tmp_path: Path):
    async with served(database, tmp_path) as (running, whole, play), cutting_way(running.api.url) as way:
        chat = await whole.create_chat("count")
        await until_resting(whole, chat.id)
        await whole.send(chat.id, "count slowly")
        seen: list[dict[str, Any]] = []
        picture = Picture()
        pauses = [play.go_on, play.finish]
        way.streams = [900, 1300, 1700, 300]  # within the first picture; the last one in the head of the answer
        async with Client(way.url, running.owner.token) as client, aclosing(client.raw_events(chat.id)) as events:
            async for event in events:
                seen.append(msgspec.json.decode(event.data))
                picture.apply(seen[-1])
                if seen[-1]["type"] == "message_part" and pauses and way.cut_streams():  # in the middle of the answer
                    pauses.pop(0).set()
                if picture.status == "waiting" and len(picture.messages) == 4 and not picture.parts:
                    break

    assert way.cuts == 6
    ids = [event["id"] for event in seen]
    assert len(ids) == len(set(ids)), "none twice"
    messages = [event.message for event in map(_read, seen) if isinstance(event, MessageStored)]
    assert texts(messages) == ["count", "".join(NUMBERS), "count slowly", "".join(NUMBERS)]
    parts = [event["message_part"] for event in seen if event["type"] == "message_part"]
    live = "".join(part["part"]["text"] for part in parts)
    assert live.startswith("".join(NUMBERS[:8])), "it went on after a cut"
    assert "".join(NUMBERS).startswith(live), "none lost; the rest came as a message"


def _read(event: dict[str, Any]) -> Event:
    return read_event(RawEvent(event.get("id"), msgspec.json.encode(event)))


async def test_a_turn_is_interrupted_and_keeps_what_was_said(database: Any, tmp_path: Path):
    async with served(database, tmp_path) as (_, client, _):
        chat = await client.create_chat("count slowly")
        queued = None
        seen: list[Event] = []
        async with aclosing(client.events(chat.id)) as events:
            async for event in events:
                seen.append(event)
                if isinstance(event, PartCame) and queued is None:
                    queued = await client.send(chat.id, "and then")
                    assert queued.queued_message is not None
                if isinstance(event, QueueChanged) and event.queued_messages:
                    await client.delete_queued(chat.id, event.queued_messages[0].id)
                    await client.interrupt(chat.id)
                if isinstance(event, StatusChanged) and event.is_resting:
                    break

    statuses = [event.status.status for event in seen if isinstance(event, StatusChanged)]
    said = [event.message for event in seen if isinstance(event, MessageStored) and event.message.role == "assistant"]
    assert statuses[-1] is Status.WAITING
    assert texts(said)[0].startswith("1, ")


async def test_a_tool_of_the_client_is_called_and_its_result_posted(database: Any, tmp_path: Path):
    async with served(database, tmp_path) as (_, client, _):
        chat = await client.create_chat("look", tools=[ClientTool(name="look_up", description="Looks a word up.")])
        asked: list[str] = []
        async with aclosing(client.events(chat.id)) as events:
            async for event in events:
                if isinstance(event, ActionRequired):
                    call = event.action_required.tool_calls[0]
                    asked.append(call.tool_name)
                    result = ToolResult(tool_call_id=call.tool_call_id, output={"is": "a bird"})
                    await client.submit_tool_results(chat.id, [result])
                if isinstance(event, StatusChanged) and event.status.status is Status.WAITING:
                    break
        page = await client.messages(chat.id)

    assert asked == ["look_up"]
    assert [message.role for message in page.messages] == ["assistant", "tool", "assistant", "user"]


async def test_refusals_are_errors_of_their_kind_with_the_words_of_the_server(database: Any, tmp_path: Path):
    async with served(database, tmp_path) as (running, client, _):
        with pytest.raises(Missing, match="Chat not found") as missing:
            await client.chat(UUID(int=7))
        with pytest.raises(Missing):
            await until_resting(client, UUID(int=7))
        with pytest.raises(BadRequest) as bad:
            await client.create_chat([InputPart(type="text", text=" ")])
        chat = await client.create_chat("hello")
        await until_resting(client, chat.id)
        await client.send(chat.id, "other words", key="k")
        with pytest.raises(WrongState):
            await client.send(chat.id, "more", key="k")
        with pytest.raises(BadRequest):
            await until_resting(client, chat.id, after="nonsense")
        async with Client(running.api.url, "no-token") as stranger:
            with pytest.raises(SignInNeeded) as nobody:
                await stranger.chats()
            with pytest.raises(SignInNeeded):
                await until_resting(stranger, chat.id)

    assert missing.value.status == 404
    assert [validation.field for validation in bad.value.validations] == ["content[0].text"]
    assert "not valid" in nobody.value.message


async def test_who_signs_in_acts_with_the_session_until_it_is_ended(database: Any, tmp_path: Path):
    async with served(database, tmp_path) as (running, _, _), Client(f"{running.api.url}/") as client:
        with pytest.raises(SignInNeeded):
            await client.log_in("olga", Secret("a wrong password"))
        await client.log_in("olga", Secret(PASSWORD))
        me = await client.me()
        await client.log_out()
        with pytest.raises(SignInNeeded):
            await client.me()

    assert me.email == "olga@example.com"


async def test_a_server_that_is_not_there_and_one_that_is_no_chatd_are_told_apart():
    sock = open_socket("127.0.0.1", 0)
    url = socket_url(sock)
    sock.close()

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()
        writer.close()

    other = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with Client(url) as client:
        with pytest.raises(Unreachable, match="can't be reached"):
            await client.me()
        with pytest.raises(Unreachable):
            await until_resting(client, UUID(int=1))
    async with Client(f"http://127.0.0.1:{other.sockets[0].getsockname()[1]}") as client:
        with pytest.raises(Unexpected):
            await client.me()
    async with Client("nonsense") as client:
        with pytest.raises(Unexpected):
            await client.me()
    other.close()
    await other.wait_closed()


def test_an_event_of_a_newer_server_is_handed_on_as_it_is():
    raw = RawEvent("9.9", b'{"id":"9.9","type":"dance","chat_id":"x","steps":3}')

    assert read_event(raw) == UnknownEvent("9.9", "dance", raw.data)


def test_the_client_brings_nothing_of_the_server_along():
    program = "import chatd.client, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()

    assert "chatd.client.stream" in loaded
    for package in ("chatd.server", "chatd.store", "chatd.engine", "litestar", "asyncpg", "structlog", "typer"):
        assert package not in loaded


async def test_what_waits_is_held_rewritten_put_in_order_and_sent(database: Any, tmp_path: Path):
    async with served(database, tmp_path) as (_, client, play):
        chat = await client.create_chat("count slowly")
        sent = [await client.send(chat.id, text) for text in ("one", "two", "three")]
        one, two, three = (waits.queued_message.id for waits in sent if waits.queued_message is not None)
        held = await client.hold_queued(chat.id, two)
        await client.release_queued(chat.id, two, "two, better")
        await client.reorder_queue(chat.id, [three, two, one])
        await client.delete_queued(chat.id, one)
        waiting = (await client.messages(chat.id)).queued_messages
        play.go_on.set()
        play.finish.set()
        await until_resting(client, chat.id)
        page = await client.messages(chat.id)

    assert held.held_until is not None
    assert [waits.content[0]["text"] for waits in waiting] == ["three", "two, better"]
    assert texts(page.messages)[:4] == ["Hi.", "two, better", "Hi.", "three"]


async def test_a_file_is_uploaded_once_more_when_the_answer_is_lost_and_sent_with_a_message(
    database: Any, tmp_path: Path
):
    async with served(database, tmp_path) as (running, _, _), cutting_way(running.api.url) as way:
        way.posts = [10]
        async with Client(way.url, running.owner.token) as client:
            plan = await client.upload("der Plan; \u201cneu\u201d.md", b"# Plan\n")
            chat = await client.create_chat([InputPart(type="text", text="Read this."), plan])
            await until_resting(client, chat.id)
            page = await client.messages(chat.id)
            cost = await client.chat_cost(chat.id)
            [model] = await client.models()
            with pytest.raises(BadRequest):
                await client.upload("program", b"\x7fELF\0\0")

    file = page.messages[-1].content[1]
    assert way.cuts == 1
    assert (file["name"], file["media_type"]) == ("der Plan; \u201cneu\u201d.md", "text/markdown")
    assert (cost.request_count > 0, model.is_default) == (True, True)
