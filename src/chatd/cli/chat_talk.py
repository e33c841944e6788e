"""A conversation with a chat: what is sent, what is followed, and what Ctrl-C means."""

import asyncio
import math
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Final
from uuid import UUID

from chatd.cli.chat_commands import Commands
from chatd.cli.chat_composing import Composing, model_name
from chatd.cli.chat_screen import ChatScreen
from chatd.client import Client, WrongState
from chatd.client.events import (
    ActionRequired,
    Event,
    PartCame,
    PreviewReset,
    QueueChanged,
    RawEvent,
    Retrying,
    StatusChanged,
    TurnFailed,
    read_event,
)
from chatd.clock import Clock
from chatd.core.errors import ChatdError
from chatd.core.retry import RetryPayload
from chatd.core.states import Status
from chatd.wire.chats import ChatQueuedMessage

ANSWERED: Final = 0
FAILED: Final = 1
STOPPED: Final = 130  # as a shell says of a command that Ctrl-C has ended
LATEST: Final = 20  # messages that are shown of a chat that one comes back to

Show = Callable[[RawEvent, Event], None]


class Talk:
    """`once` or `interactively`, one time; both give the exit code. Ctrl-C stops the turn; when there is none, or at
    the second time, it leaves. The chat goes on without us."""

    def __init__(
        self,
        client: Client,
        screen: ChatScreen,
        show: Show,
        chat_id: UUID | None,
        *,
        composing: Composing,
        clock: Clock,
    ) -> None:
        self.chat_id = chat_id
        self.queue: list[ChatQueuedMessage] = []
        self.editing: int | None = None
        self._client = client
        self._screen = screen
        self._show = show
        self._composing = composing
        self._clock = clock
        self._commands = Commands(client, screen, composing, self)
        self._status: Status | None = None
        self._stop_asked = False  # of this turn
        self._was_stopped = False
        self._left = False
        self._tasks: asyncio.TaskGroup | None = None
        self._running: list[asyncio.Task[None]] = []
        self._following: asyncio.Task[None] | None = None
        self._countdown: asyncio.Task[None] | None = None
        self._retried = (0, 0)  # the attempt that it is about
        self._code = ANSWERED

    @property
    def is_at_work(self) -> bool:
        return self._status in (Status.RUNNING, Status.INTERRUPTING)

    async def once(self, message: str | None) -> int:
        """Send a message, if there is one or a file, and follow the chat until it rests."""

        async def act() -> None:
            says = message is not None or self._composing.files
            begin = await self._say(message or "") if says else 0
            await self._follow(begin, until_resting=True)

        return await self._run(act())

    async def interactively(self, lines: AsyncGenerator[str]) -> int:
        """Send what is typed, and show the chat until the user leaves."""

        async def act() -> None:
            if self.chat_id is None:
                await self._greet()
                self._screen.prompt()
            else:
                self.switch(self.chat_id)
            async with aclosing(lines):
                async for line in lines:
                    await self._take(line)
            self.leave()

        await self._run(act())
        return ANSWERED

    def switch(self, chat_id: UUID) -> None:
        if self._following is not None:
            self._following.cancel()
        self.chat_id, self.queue, self.editing, self._status = chat_id, [], None, None
        self._screen.begin_chat()
        self._following = self._start(self._come_back())

    def leave(self) -> None:
        self._left = True
        for task in self._running:
            task.cancel()

    async def _run(self, act: Coroutine[Any, Any, None]) -> int:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._on_interrupt)
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                self._start(act)
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        return STOPPED if self._left or self._was_stopped else self._code

    def _start(self, act: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        assert self._tasks is not None
        task = self._tasks.create_task(act, name="talk")
        self._running = [*(other for other in self._running if not other.done()), task]
        return task

    def _on_interrupt(self) -> None:
        if self.is_at_work and not self._stop_asked and self.chat_id is not None:
            self._stop_asked = self._was_stopped = True
            self._start(self._interrupt(self.chat_id))
        else:
            self.leave()

    async def _interrupt(self, chat_id: UUID) -> None:
        try:
            await self._client.interrupt(chat_id)
        except WrongState:
            pass  # it rests already
        except ChatdError as error:
            self._screen.note(f"✗ {error.message}")

    # What is typed

    async def _take(self, line: str) -> None:
        self._screen.entered()
        if command := self._commands.find(line):
            chat_id = self.chat_id
            await self._try(command)
            if not self.is_at_work and not self._left and self.chat_id == chat_id:
                self._screen.prompt()
        elif self.editing is not None:
            await self._try(lambda: self._commands.rewrite(line))
        else:
            await self._try_to_say(line.removeprefix("/") if line.startswith("//") else line)

    async def _try(self, act: Callable[[], Awaitable[object]]) -> bool:
        """What is refused ends nothing."""
        try:
            await act()
        except ChatdError as error:
            self._screen.note(f"✗ {error.message}", *([f"  {error.detail}"] if error.detail else []))
            return False
        return True

    async def _try_to_say(self, text: str) -> None:
        is_new = self.chat_id is None
        if not await self._try(lambda: self._say(text)):
            self._screen.not_yet(text)
            if not self.is_at_work:
                self._screen.prompt()
        elif is_new:
            self._following = self._start(self._follow(0, until_resting=False))

    async def _say(self, text: str) -> int:
        """The newest message that need not be shown again."""
        self._screen.typed(text)
        before, self._status = self._status, Status.RUNNING  # until the stream says more
        try:
            return await self._send(text)
        except ChatdError:
            self._status = before
            raise

    async def _send(self, text: str) -> int:
        composing, content = self._composing, self._composing.content(text)
        model, effort = composing.model and composing.model.id, composing.effort
        if self.chat_id is None:
            made = await self._client.create_chat(content, model_config_id=model, reasoning_effort=effort)
            self.chat_id = made.id
            composing.taken()
            return 0
        sent = await self._client.send(self.chat_id, content, model_config_id=model, reasoning_effort=effort)
        composing.taken()
        if sent.message is not None:
            return sent.message.id
        self._screen.not_yet(text)
        newest = (await self._client.messages(self.chat_id, limit=1)).messages
        return newest[0].id if newest else 0

    # What is shown

    async def _greet(self) -> None:
        models = await self._composing.models()
        model = self._composing.model or next((model for model in models if model.is_default), None)
        who = f"A new chat with {model_name(model)}." if model else "A new chat."
        self._screen.note(f"{who} /help lists commands, Ctrl-D leaves.")

    async def _come_back(self) -> None:
        """To a chat that is there."""
        await self._follow(await self._show_latest(), until_resting=False)

    async def _show_latest(self) -> int:
        assert self.chat_id is not None
        chat = await self._client.chat(self.chat_id)
        page = await self._client.messages(self.chat_id, limit=LATEST)
        model = await self._composing.model_of(chat.last_model_config_id)
        known = f" · {model_name(model)}" if model else ""
        self._screen.note(f"{chat.title}{known}{' (the latest messages)' if page.has_more else ''}")
        for message in reversed(page.messages):
            self._screen.show_message(message)
        return page.messages[0].id if page.messages else 0

    async def _follow(self, begin: int, *, until_resting: bool) -> None:
        assert self.chat_id is not None
        stream = self._client.raw_events(self.chat_id, after_id=begin, on_lost=self._tell_lost)
        async with aclosing(stream) as events:
            async for raw in events:
                event = read_event(raw)
                if self._ends_retry(event):
                    self._stop_countdown()
                self._show(raw, event)
                self._note(event)
                if self._rests(event):
                    if until_resting:
                        return
                    self._stop_asked = False
                    self._screen.prompt()
                elif self.is_at_work and self._countdown is None:
                    self._screen.busy()

    def _tell_lost(self) -> None:
        if self.is_at_work:  # else nothing is waited for
            self._screen.note("… The connection is lost. It is tried again; the chat goes on meanwhile.")

    def _note(self, event: Event) -> None:
        match event:
            case StatusChanged(status=status):
                if self._status is Status.INTERRUPTING:
                    self._stop_asked = False  # it has stopped; what comes now is another turn
                self._status = status.status
            case QueueChanged(queued_messages=queued):
                self.queue = list(queued)
                if self.editing not in {waits.id for waits in queued}:
                    self.editing = None  # it was sent, or taken out
            case Retrying(retry=retry):
                self._retried = event.of
                self._countdown = self._start(self._count_down(retry))
            case _:
                pass

    def _rests(self, event: Event) -> bool:
        """Why a chat rests is told after its status."""
        if isinstance(event, TurnFailed | ActionRequired):
            self._code = FAILED
            return True
        return isinstance(event, StatusChanged) and event.status.status is Status.WAITING

    async def _count_down(self, retry: RetryPayload) -> None:
        """Clocks of others may be wrong: never longer than the wait was when it began."""
        left = min((retry.retrying_at - self._clock.now()).total_seconds(), retry.delay_ms / 1000)
        while left > 0:
            seconds = math.ceil(left)
            self._screen.count_down(retry, seconds)
            await self._clock.sleep(left - seconds + 1, timer="countdown")
            left = seconds - 1

    def _ends_retry(self, event: Event) -> bool:
        match event:
            case PreviewReset():
                return event.of != self._retried
            case PartCame(message_part=part):
                return (part.history_version, part.generation_attempt) != self._retried
            case StatusChanged(status=status):
                return status.status is not Status.RUNNING
            case _:
                return isinstance(event, Retrying)

    def _stop_countdown(self) -> None:
        if self._countdown is not None:
            self._countdown.cancel()
            self._countdown = None
