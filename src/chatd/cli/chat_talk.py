"""A conversation with a chat: what is sent, what is followed, and what Ctrl-C means."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Final
from uuid import UUID

from chatd.cli.chat_screen import ChatScreen
from chatd.client import Client, WrongState
from chatd.client.events import ActionRequired, Event, RawEvent, StatusChanged, TurnFailed, read_event
from chatd.core.errors import ChatdError
from chatd.core.states import Status

ANSWERED: Final = 0
FAILED: Final = 1
STOPPED: Final = 130  # as a shell says of a command that Ctrl-C has ended
LATEST: Final = 20  # messages that are shown of a chat that one comes back to

Show = Callable[[RawEvent, Event], None]


class Talk:
    """`once` or `interactively`, one time; both give the exit code. Ctrl-C stops the turn; when there is none, or at
    the second time, it leaves. The chat goes on without us."""

    def __init__(self, client: Client, screen: ChatScreen, show: Show, chat_id: UUID | None) -> None:
        self.chat_id = chat_id
        self._client = client
        self._screen = screen
        self._show = show
        self._status: Status | None = None
        self._stop_asked = False  # of this turn
        self._was_stopped = False
        self._left = False
        self._tasks: asyncio.TaskGroup | None = None
        self._running: list[asyncio.Task[None]] = []
        self._code = ANSWERED

    @property
    def is_at_work(self) -> bool:
        return self._status in (Status.RUNNING, Status.INTERRUPTING)

    async def once(self, message: str | None) -> int:
        """Send a message, if there is one, and follow the chat until it rests."""

        async def act() -> None:
            begin = 0 if message is None else await self._say(message)
            await self._follow(begin, until_resting=True)

        return await self._run(act())

    async def interactively(self, lines: AsyncGenerator[str]) -> int:
        """Send what is typed, and show the chat until the user leaves."""

        async def act() -> None:
            begin = 0 if self.chat_id is None else await self._show_latest()
            if self.chat_id is not None:
                self._start(self._follow(begin, until_resting=False))
            else:
                self._screen.prompt()
            async with aclosing(lines):
                async for line in lines:
                    is_new = self.chat_id is None
                    await self._try_to_say(line)
                    if is_new and self.chat_id is not None:
                        self._start(self._follow(0, until_resting=False))
            self._leave()

        await self._run(act())
        return ANSWERED

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

    def _start(self, act: Coroutine[Any, Any, None]) -> None:
        assert self._tasks is not None
        self._running.append(self._tasks.create_task(act, name="talk"))

    def _on_interrupt(self) -> None:
        if self.is_at_work and not self._stop_asked and self.chat_id is not None:
            self._stop_asked = self._was_stopped = True
            self._start(self._interrupt(self.chat_id))
        else:
            self._leave()

    def _leave(self) -> None:
        self._left = True
        for task in self._running:
            task.cancel()

    async def _interrupt(self, chat_id: UUID) -> None:
        try:
            await self._client.interrupt(chat_id)
        except WrongState:
            pass  # it rests already
        except ChatdError as error:
            self._screen.note(f"✗ {error.message}")

    async def _try_to_say(self, text: str) -> None:
        """A message that is refused ends nothing: another one may be taken."""
        before = self._status
        try:
            await self._say(text)
        except ChatdError as error:
            self._status = before
            self._screen.not_yet(text)
            self._screen.note(f"✗ {error.message}" + (f" {error.detail}" if error.detail else ""))
            self._screen.prompt()

    async def _say(self, text: str) -> int:
        """The newest message that need not be shown again."""
        self._screen.typed(text)
        self._status = Status.RUNNING  # until the stream says more
        if self.chat_id is None:
            self.chat_id = (await self._client.create_chat(text)).id
            return 0
        sent = await self._client.send(self.chat_id, text)
        if sent.message is not None:
            return sent.message.id
        self._screen.not_yet(text)
        newest = (await self._client.messages(self.chat_id, limit=1)).messages
        return newest[0].id if newest else 0

    async def _show_latest(self) -> int:
        assert self.chat_id is not None
        chat = await self._client.chat(self.chat_id)
        page = await self._client.messages(self.chat_id, limit=LATEST)
        self._screen.note(chat.title + (" (the latest messages)" if page.has_more else ""))
        for message in reversed(page.messages):
            self._screen.show_message(message)
        return page.messages[0].id if page.messages else 0

    async def _follow(self, begin: int, *, until_resting: bool) -> None:
        assert self.chat_id is not None
        async with aclosing(self._client.raw_events(self.chat_id, after_id=begin)) as events:
            async for raw in events:
                event = read_event(raw)
                self._show(raw, event)
                if isinstance(event, StatusChanged):
                    if self._status is Status.INTERRUPTING:
                        self._stop_asked = False  # it has stopped; what comes now is another turn
                    self._status = event.status.status
                if self._rests(event):
                    if until_resting:
                        return
                    self._stop_asked = False
                    self._screen.prompt()

    def _rests(self, event: Event) -> bool:
        """Why a chat rests is told after its status."""
        if isinstance(event, TurnFailed | ActionRequired):
            self._code = FAILED
            return True
        return isinstance(event, StatusChanged) and event.status.status is Status.WAITING
