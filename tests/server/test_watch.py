"""The feed of a user's chats: what changes in them is told to every list, and to nobody else's."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import msgspec
import pytest

from chatd.core.access import OPERATOR
from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.sidebar import WatchKind
from chatd.core.states import Status
from chatd.minting import uuid7
from chatd.server.watch.loop import MOST_PENDING, READ_AGAIN, WatchLoop
from chatd.store.actor import acting_as
from chatd.store.chat_hints import ChatHint
from chatd.store.owner_hints import OwnerEvent, OwnerEventKind
from chatd.store.transitions import Applied, NewChat
from chatd.testing.fake_clock import START, FakeClock
from chatd.testing.vendors.script import Say, Turn
from server.chat_api import CHATS, PATIENCE, ChatApi, chat_api
from server.running import Api
from server.streaming import TRANSPORTS, Transport

WATCH = f"{CHATS}/watch"


class Feed:
    """What was told, one by one."""

    def __init__(self, events: AsyncIterator[dict[str, Any]]) -> None:
        self._events = events
        self.seen: list[tuple[str, str]] = []  # kind and chat

    async def until(self, kind: str, chat: dict[str, Any]) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while True:
                event = await anext(self._events)
                self.seen.append((event["kind"], event["chat"]["id"]))
                if (event["kind"], event["chat"]["id"]) == (kind, chat["id"]):
                    return event["chat"]


@asynccontextmanager
async def watching(api: Api, transport: Transport) -> AsyncIterator[Feed]:
    headers = {"Authorization": f"Bearer {api.token}"}
    async with aiohttp.ClientSession(headers=headers) as http:
        if transport == "websocket":
            async with http.ws_connect(f"{api.url}{WATCH}") as socket:
                yield Feed(_messages(socket))
        else:
            accept = {"Accept": "text/event-stream"}
            async with http.get(f"{api.url}{WATCH}", headers=accept, timeout=None) as response:
                assert response.status == 200
                yield Feed(_sent_events(response))


async def _messages(socket: aiohttp.ClientWebSocketResponse) -> AsyncIterator[dict[str, Any]]:
    async for message in socket:
        if event := msgspec.json.decode(message.data):  # else it is a sign of life
            yield event


async def _sent_events(response: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    async for line in response.content:
        if line.startswith(b"data: "):
            yield msgspec.json.decode(line.removeprefix(b"data: "))


@pytest.mark.behaviour("STREAM-6")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_list_is_told_what_becomes_of_its_chats(database: Any, tmp_path: Path, transport: Transport):
    async with chat_api(database.dsn, tmp_path, [Turn(Say("Hello."))]) as chats:
        await chats.running.replica.hints.wait_connected()
        async with watching(chats.mia, transport) as feed:
            chat = await chats.create()
            begun = await feed.until("created", chat)
            rested = await feed.until("status_change", chat)
            while rested["status"] != "waiting":
                rested = await feed.until("status_change", chat)
            await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"title": "Another title"})
            titled = await feed.until("title_change", chat)
            while titled["title"] != "Another title":
                titled = await feed.until("title_change", chat)
            await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"archived": True})
            archived = await feed.until("deleted", chat)
            await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"archived": False})
            back = await feed.until("created", chat)

    assert begun["title"]
    assert (archived["archived"], back["archived"]) == (True, False)


@pytest.mark.behaviour("STREAM-6")
async def test_a_list_hears_nothing_of_the_chats_of_others(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Turn(Say("Hello."))]) as chats:
        await chats.running.replica.hints.wait_connected()
        async with watching(chats.mia, "websocket") as mias, watching(chats.running.owner, "websocket") as olgas:
            hers = await chats.create()
            await chats.resting(hers)
            olgas_own = await chats.create(api=chats.running.owner)
            await olgas.until("created", olgas_own)
            await mias.until("created", hers)

    assert {id for _, id in olgas.seen} == {olgas_own["id"]}
    assert {id for _, id in mias.seen} == {hers["id"]}


@pytest.mark.behaviour("STREAM-6")
async def test_other_lists_are_told_of_labels_places_and_plan_mode(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Turn(Say("Hello."))]) as chats:
        first, second = [await chats.create() for _ in range(2)]
        for chat in (first, second):
            await chats.resting(chat)
        await chats.running.replica.hints.wait_connected()
        async with watching(chats.mia, "websocket") as feed:

            async def told(chat: dict[str, Any], holds: Callable[[Any], bool], **fields: Any) -> None:
                """Changes that come together may be told together: what counts is what a list knows in the end."""
                changed = await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", fields)
                assert changed.status == 204, changed
                while not holds(await feed.until("chat_change", chat)):
                    pass

            await told(first, lambda chat: chat["labels"] == {"team": "a"}, labels={"team": "a"})
            await told(first, lambda chat: chat["pin_order"] == 1, pin_order=1)
            await told(second, lambda chat: chat["pin_order"] == 2, pin_order=1)  # it is appended
            await told(second, lambda chat: chat["plan_mode"] == "plan", plan_mode="plan")
            await chats.mia.call("PATCH", f"{CHATS}/{second['id']}", {"pin_order": 1})
            while (await feed.until("chat_change", first))["pin_order"] != 2:
                pass  # the one that made room is told of too


@pytest.mark.behaviour("STREAM-6")
async def test_a_chat_comes_with_its_children(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [Turn(Say("Hello."))]) as chats:
        chat = await chats.create()
        await chats.resting(chat)
        child = await begin_child(chats, chat)
        await chats.running.replica.hints.wait_connected()
        async with watching(chats.mia, "websocket") as feed:
            await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"title": "Another title"})
            told = await feed.until("title_change", chat)

    assert [one["id"] for one in told["children"]] == [str(child)]


async def begin_child(
    chats: ChatApi, parent: dict[str, Any], *, title: str = "a part of it", said: str = "look"
) -> UUID:
    """As an agent does."""
    child = NewChat(
        id=uuid7(START),
        organization_id=UUID(parent["organization_id"]),
        owner_id=UUID(parent["owner_id"]),
        model_config_id=UUID(chats.model_id),
        title=title,
        parent_id=UUID(parent["id"]),
    )
    asked = NewMessage(role=Role.USER, parts=(TextPart(text=said),))
    with acting_as(OPERATOR):
        made = await chats.running.replica.engine.transitions.create_chat(child, [asked])
    assert isinstance(made, Applied), made
    return child.id


async def test_who_is_not_signed_in_watches_nothing(serving: Any):
    async with serving() as running:
        answers = [await running.api.call(method, WATCH) for method in ("GET", "POST")]

    assert [answer.status for answer in answers] == [401, 405]


class Noting:
    """A client that reads when it is let."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.may_read = asyncio.Event()
        self.closed: str | None = None
        self._gone = asyncio.Event()

    async def open(self) -> None: ...

    async def send(self, events: Any) -> None:
        await self.may_read.wait()
        self.sent += [msgspec.json.decode(event.data) for event in events]

    async def beat(self) -> None: ...

    async def close(self, reason: str) -> None:
        self.closed = reason

    async def gone(self) -> None:
        await self._gone.wait()


def hint(chat: int, snapshot: int, status: Status) -> ChatHint:
    return ChatHint(UUID(int=chat), snapshot, 1, 1, 1, 1, status, archived=False)


@asynccontextmanager
async def looping(sink: Any, reads: list[UUID]) -> AsyncIterator[WatchLoop]:
    async def read(chat_id: UUID) -> Any:
        reads.append(chat_id)
        return {"id": str(chat_id)}

    async def may_stay() -> bool:
        return True

    loop = WatchLoop(UUID(int=1), read, sink, FakeClock(), may_stay)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(loop.run())
        await FakeClock().advance(0)
        yield loop
        loop.stop()
        await running


async def test_a_slow_list_is_told_once_of_a_chat_that_changed_often():
    sink, reads = Noting(), list[UUID]()
    async with looping(sink, reads) as loop:
        loop.chat_changed(hint(7, 1, Status.RUNNING))
        await FakeClock().advance(0)  # the client does not take it
        for snapshot in range(2, 40):
            loop.chat_changed(hint(8, snapshot, Status.RUNNING if snapshot % 2 else Status.WAITING))
        loop.told(OwnerEvent(OwnerEventKind.TITLE, UUID(int=8), "a title"))
        sink.may_read.set()
        while len(sink.sent) < 3:
            await FakeClock().advance(0)

    assert [(event["kind"], UUID(event["chat"]["id"]).int) for event in sink.sent] == [
        (WatchKind.CREATED, 7),
        (WatchKind.STATUS_CHANGE, 8),
        (WatchKind.TITLE_CHANGE, 8),
    ]
    assert len(reads) == 2


async def test_a_list_that_missed_too_much_reads_it_again():
    sink, reads = Noting(), list[UUID]()
    async with looping(sink, reads) as loop:
        for chat in range(MOST_PENDING + 5):
            loop.chat_changed(hint(chat, 5, Status.WAITING))
        sink.may_read.set()
        while sink.closed is None:
            await FakeClock().advance(0)

    assert sink.closed == READ_AGAIN


async def test_a_gap_in_what_is_heard_ends_the_feed():
    sink, reads = Noting(), list[UUID]()
    async with looping(sink, reads) as loop:
        loop.missed()
        while sink.closed is None:
            await FakeClock().advance(0)

    assert sink.closed == READ_AGAIN
