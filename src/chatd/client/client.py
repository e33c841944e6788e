"""What a program does with a chatd server: sign in, begin and read chats, send messages, follow what happens."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote
from uuid import UUID

import aiohttp
import msgspec

from chatd.client.events import Event, RawEvent, read_event
from chatd.client.exchange import CONNECT_SECONDS, Exchange
from chatd.client.stream import ChatStream
from chatd.client.workspaces import TemplateCalls, WorkspaceCalls
from chatd.clock import Clock, SystemClock
from chatd.core.chat_search import search_term
from chatd.core.reasoning import ReasoningEffort
from chatd.core.secret import Secret
from chatd.minting import uuid7
from chatd.wire import chats as wire
from chatd.wire.chat_requests import (
    BusyBehavior,
    ClientTool,
    CreateChat,
    EditMessage,
    ForkChat,
    InputPart,
    ReleaseQueued,
    ReorderQueue,
    SendMessage,
    SubmitToolResults,
    ToolResult,
    UpdateChat,
)
from chatd.wire.costs import ChatCost
from chatd.wire.models import ModelConfig
from chatd.wire.users import LoggedIn, Login, User

CHATS: Final = "/api/experimental/chats"
USERS: Final = "/api/v2/users"
PAGE: Final = 200  # the most that the server gives at once

Content = str | Sequence[InputPart]
# A file that is written while it is read: as long as something comes now and then.
_LONG_ANSWER: Final = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS, sock_read=60.0)


class _Uploaded(msgspec.Struct, frozen=True):
    id: UUID


class Client:
    """Used with `async with`. Methods raise errors of `client/errors`.

    `create_chat`, `fork` and `send` are done once however often the connection breaks: each has a key, its own or the
    caller's, and a caller that gives the same one again gets what was answered the first time.
    """

    def __init__(self, url: str, token: Secret | str | None = None, *, clock: Clock | None = None) -> None:
        self.url = url.rstrip("/")
        self._token = Secret(token) if isinstance(token, str) else token
        self._clock = clock or SystemClock()
        self._http: aiohttp.ClientSession | None = None
        self._exchange: Exchange | None = None

    async def __aenter__(self) -> Self:
        # Without a cookie jar: the token is all that says who we are.
        self._http = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        self._exchange = Exchange(self._http, self.url, self._token, self._clock)
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        assert self._http is not None
        await self._http.close()

    @property
    def _to(self) -> Exchange:
        assert self._exchange is not None, "use the client with `async with`"
        return self._exchange

    @property
    def templates(self) -> TemplateCalls:
        """What workspaces are made of."""
        return TemplateCalls(self._to)

    @property
    def workspaces(self) -> WorkspaceCalls:
        """Where commands of chats run."""
        return WorkspaceCalls(self._to, self._new_key)

    async def log_in(self, login: str, password: Secret) -> LoggedIn:
        """Open a session. This client acts as that user from now on."""
        asked = Login(login=login, password=password.reveal())
        signed_in = await self._to.call("POST", f"{USERS}/login", LoggedIn, asked)
        self._to.token = Secret(signed_in.session_token)
        return signed_in

    async def log_out(self) -> None:
        """End the session, or revoke the API token, with which this client acts."""
        await self._to.call("POST", f"{USERS}/logout", type(None))
        self._to.token = None

    async def me(self) -> User:
        return await self._to.call("GET", f"{USERS}/me", User)

    async def chats(
        self, *, q: str = "", search: str = "", limit: int = 50, after_id: UUID | None = None
    ) -> list[wire.Chat]:
        """One page: pinned ones first, then the last active first. `after_id` is the last chat of the page before.
        `q` are terms such as `archived:true`; `search` are words of titles and messages, and `match` says where."""
        terms = " ".join((q, search_term(search) if search else "")).strip()
        query = {"q": terms or None, "limit": limit, "after_id": after_id}
        return await self._to.call("GET", CHATS, list[wire.Chat], query=query)

    async def create_chat(
        self,
        content: Content,
        *,
        key: str | None = None,
        model_config_id: UUID | None = None,
        reasoning_effort: ReasoningEffort | None = None,
        system_prompt: str = "",
        labels: Mapping[str, str] | None = None,
        tools: Sequence[ClientTool] = (),
        plan_mode: wire.PlanMode = "",
        workspace_id: UUID | None = None,
    ) -> wire.Chat:
        """Begin a chat with a message; it runs at once. `tools` are run by this client: `ActionRequired`."""
        asked = CreateChat(
            content=_parts(content),
            model_config_id=model_config_id,
            reasoning_effort=reasoning_effort,
            system_prompt=system_prompt,
            labels=dict(labels or {}),
            unsafe_dynamic_tools=list(tools),
            plan_mode=plan_mode,
            workspace_id=workspace_id,
        )
        return await self._to.call("POST", CHATS, wire.Chat, asked, key=key or self._new_key())

    async def chat(self, chat_id: UUID) -> wire.Chat:
        return await self._to.call("GET", f"{CHATS}/{chat_id}", wire.Chat)

    async def fork(
        self, chat_id: UUID, *, message_id: int | None = None, title: str | None = None, key: str | None = None
    ) -> wire.Chat:
        """A chat of one's own with the history of this one, up to a message. It rests until something is sent."""
        asked = ForkChat(message_id=message_id, title=title)
        return await self._to.call("POST", f"{CHATS}/{chat_id}/fork", wire.Chat, asked, key=key or self._new_key())

    async def export(self, chat_id: UUID, format: wire.ExportFormat = "markdown") -> AsyncGenerator[bytes]:
        """The whole chat as a file, in pieces. One that breaks off raises Unreachable: what came is not all."""
        path, query = f"{CHATS}/{chat_id}/export", {"format": format}
        async with self._to.open("GET", path, timeout=_LONG_ANSWER, query=query) as response:
            async for piece in response.content.iter_any():
                yield piece

    async def update_chat(self, chat_id: UUID, change: UpdateChat) -> None:
        await self._to.call("PATCH", f"{CHATS}/{chat_id}", type(None), change)

    async def messages(
        self, chat_id: UUID, *, before_id: int | None = None, after_id: int | None = None, limit: int = 50
    ) -> wire.ChatMessagesPage:
        """Newest first; with `after_id` alone, oldest first."""
        query = {"before_id": before_id, "after_id": after_id, "limit": limit}
        return await self._to.call("GET", f"{CHATS}/{chat_id}/messages", wire.ChatMessagesPage, query=query)

    async def send(
        self,
        chat_id: UUID,
        content: Content,
        *,
        key: str | None = None,
        busy_behavior: BusyBehavior = "queue",
        model_config_id: UUID | None = None,
        reasoning_effort: ReasoningEffort | None = None,
    ) -> wire.SentMessage:
        """To a chat that is at work: the message waits (`queued`), or stops the turn ("interrupt"). Another model or
        effort is the chat's from then on."""
        asked = SendMessage(
            content=_parts(content),
            busy_behavior=busy_behavior,
            model_config_id=model_config_id,
            reasoning_effort=reasoning_effort,
        )
        path = f"{CHATS}/{chat_id}/messages"
        return await self._to.call("POST", path, wire.SentMessage, asked, key=key or self._new_key())

    async def edit(self, chat_id: UUID, message_id: int, content: Content) -> wire.EditedMessage:
        """Replace a message of one's own and all that came after it."""
        path = f"{CHATS}/{chat_id}/messages/{message_id}"
        return await self._to.call("PATCH", path, wire.EditedMessage, EditMessage(content=_parts(content)))

    async def interrupt(self, chat_id: UUID) -> wire.Chat:
        """Stop what the chat does. What was written is kept."""
        return await self._to.call("POST", f"{CHATS}/{chat_id}/interrupt", wire.Chat)

    async def compact(self, chat_id: UUID) -> wire.Chat:
        """Have the conversation summarised, so that it takes less of the model's context."""
        return await self._to.call("POST", f"{CHATS}/{chat_id}/compact", wire.Chat)

    async def submit_tool_results(self, chat_id: UUID, results: Sequence[ToolResult]) -> None:
        """For each call that the chat waits for, once."""
        path = f"{CHATS}/{chat_id}/tool-results"
        await self._to.call("POST", path, type(None), SubmitToolResults(results=list(results)))

    async def delete_queued(self, chat_id: UUID, queued_id: int) -> None:
        await self._to.call("DELETE", f"{CHATS}/{chat_id}/queue/{queued_id}", type(None))

    async def hold_queued(self, chat_id: UUID, queued_id: int) -> wire.ChatQueuedMessage:
        """Keep a message from being sent while one edits it, until `held_until`; ask again for more time."""
        return await self._to.call("POST", f"{CHATS}/{chat_id}/queue/{queued_id}/hold", wire.ChatQueuedMessage)

    async def release_queued(self, chat_id: UUID, queued_id: int, content: Content | None = None) -> wire.SentMessage:
        """End the hold, with the new content if there is one. A chat that rests goes on with it."""
        asked = ReleaseQueued(content=None if content is None else _parts(content))
        return await self._to.call("POST", f"{CHATS}/{chat_id}/queue/{queued_id}/release", wire.SentMessage, asked)

    async def reorder_queue(self, chat_id: UUID, ids: Sequence[int]) -> None:
        """The ids of all messages that wait, first to last."""
        await self._to.call("PUT", f"{CHATS}/{chat_id}/queue", type(None), ReorderQueue(ids=list(ids)))

    async def promote_queued(self, chat_id: UUID, queued_id: int) -> wire.PromotedMessage:
        """Send a message now that waits. A chat that is at work stops for it."""
        return await self._to.call("POST", f"{CHATS}/{chat_id}/queue/{queued_id}/promote", wire.PromotedMessage)

    async def upload(self, name: str, content: bytes) -> InputPart:
        """Store a file, and give what names it in a message. The server tells by its content what it is, and takes
        images, PDF and text of up to 10 MiB; what no message names within a day is removed."""
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        }
        # Sent again when its answer was lost: the one that nobody names goes by itself.
        answer = await self._to.deliver(f"{CHATS}/files", _Uploaded, content, headers)
        return InputPart(type="file", file_id=answer.id)

    async def download_url(self, file_id: UUID) -> wire.FileDownload:
        """An address of a file that needs no token, for five minutes."""
        return await self._to.call("POST", f"{CHATS}/files/{file_id}/download-url", wire.FileDownload)

    async def models(self) -> list[ModelConfig]:
        """Those that a chat can have."""
        return await self._to.call("GET", f"{CHATS}/model-configs", list[ModelConfig])

    async def chat_cost(self, chat_id: UUID) -> ChatCost:
        return await self._to.call("GET", f"{CHATS}/{chat_id}/cost", ChatCost)

    async def events(self, chat_id: UUID, *, after: str | None = None, after_id: int = 0) -> AsyncGenerator[Event]:
        """What is known of the chat, then what happens, without an end; lost connections are made again and nothing
        is lost or repeated by that. `after`: from after the event of this id; `after_id`: without the messages up to
        this one. Who leaves early closes it: `contextlib.aclosing`."""
        async with aclosing(self.raw_events(chat_id, after=after, after_id=after_id)) as events:
            async for raw in events:
                yield read_event(raw)

    def raw_events(
        self,
        chat_id: UUID,
        *,
        after: str | None = None,
        after_id: int = 0,
        on_lost: Callable[[], None] | None = None,
    ) -> AsyncGenerator[RawEvent]:
        """As `events`, each as the JSON that the server sent. `on_lost` is called when the connection stays away."""
        return ChatStream(self._to, chat_id, after=after, after_id=after_id, on_lost=on_lost).events()

    def _new_key(self) -> str:
        return str(uuid7(self._clock.now()))


def _parts(content: Content) -> list[InputPart]:
    return [InputPart(type="text", text=content)] if isinstance(content, str) else list(content)
