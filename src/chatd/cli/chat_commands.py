"""What can be typed besides messages: `/queue`, `/model` and their like."""

import re
from collections.abc import Awaitable, Callable
from typing import Final, Protocol
from uuid import UUID

import msgspec

from chatd.cli.chat_composing import Composing, model_name
from chatd.cli.chat_screen import QUEUED_LONGEST, ChatScreen, text_of
from chatd.cli.export_file import format_of, path_typed, save_export
from chatd.cli.terminal_text import one_line
from chatd.client import Client, WrongState
from chatd.core.errors import ChatdError
from chatd.core.reasoning import ReasoningEffort
from chatd.core.roles import Role
from chatd.wire.chat_requests import UpdateChat
from chatd.wire.chats import ChatQueuedMessage

_COMMAND: Final = re.compile(r"/([a-z]+)(?:\s+(\S.*))?")
_NEWEST: Final = 50  # messages among which the last one of the user is looked for
_LEFT: Final = 20  # columns of the help's first column


class Talking(Protocol):
    """The conversation that commands are typed in."""

    chat_id: UUID | None
    queue: list[ChatQueuedMessage]  # what waits, as it is known here
    editing: int | None  # of the queue: the next line that is typed replaces it

    def leave(self) -> None: ...

    def switch(self, chat_id: UUID) -> None:
        """To another chat: what was said there is shown."""
        ...


class _Command(msgspec.Struct, frozen=True):
    name: str
    arguments: str
    help: str
    run: Callable[[str], Awaitable[None]]


class Commands:
    """`find` tells whether a line is a command; what it gives is awaited once and raises ChatdError."""

    def __init__(self, client: Client, screen: ChatScreen, composing: Composing, talk: Talking) -> None:
        self._client = client
        self._screen = screen
        self._composing = composing
        self._talk = talk
        commands = [
            _Command("queue", "", "what waits to be sent", self._queue),
            _Command("edit", "N [TEXT]", "rewrite message N; `/edit last TEXT` your last one", self._edit),
            _Command("hold", "N", "keep message N from being sent, for two minutes", self._hold),
            _Command("move", "N PLACE", "put message N to another place", self._move),
            _Command("drop", "N", "take message N out of the queue", self._drop),
            _Command("send", "N", "send message N now; the turn stops for it", self._promote),
            _Command("interrupt", "", "stop the turn, as Ctrl-C does", self._interrupt),
            _Command("attach", "FILE", "send a file with the next message", self._attach),
            _Command("model", "[NAME]", "choose the model, or list them", self._model),
            _Command("effort", "LEVEL", "how hard the model thinks", self._effort),
            _Command("title", "[TEXT]", "rename the chat, or show its title", self._title),
            _Command("compact", "", "summarise the chat, so that it takes less context", self._compact),
            _Command("cost", "", "what the chat has cost", self._cost),
            _Command("fork", "[TITLE]", "go on in a copy of the chat", self._fork),
            _Command("export", "FILE", "write the chat to a file: .md, .html or .json", self._export),
            _Command("cancel", "", "leave a message that you edit, and files, as they were", self._cancel),
            _Command("help", "", "this list", self._help),
            _Command("quit", "", "leave, as Ctrl-D does; the chat goes on", self._quit),
        ]
        self._commands = {command.name: command for command in commands}

    def find(self, line: str) -> Callable[[], Awaitable[None]] | None:
        """A message may begin with a slash, too: `/etc/hosts` is none of ours, and `//help` is the message `/help`."""
        typed = _COMMAND.fullmatch(line.strip())
        if typed is None:
            return None
        command, arguments = self._commands.get(typed[1]), typed[2] or ""
        if command is None:
            return lambda: self._unknown(typed[1])
        return lambda: command.run(arguments.strip())

    async def _unknown(self, name: str) -> None:
        raise ChatdError(f"There is no command /{name}.", detail="/help lists them. Two slashes send it as a message.")

    async def _help(self, _: str) -> None:
        for command in self._commands.values():
            typed = f"/{command.name} {command.arguments}".strip()
            self._screen.note(f"  {typed:{_LEFT}}{command.help}")

    async def _quit(self, _: str) -> None:
        self._talk.leave()

    # The queue

    async def _queue(self, _: str) -> None:
        if not self._talk.queue:
            self._screen.note("Nothing waits.")
        for place, waits in enumerate(self._talk.queue, 1):
            held = " (held)" if waits.held_until is not None else ""
            self._screen.note(f"  {place}. {one_line(text_of(waits.content), QUEUED_LONGEST)}{held}")

    async def _edit(self, typed: str) -> None:
        number, _, text = typed.partition(" ")
        if number == "last":
            await self._edit_last(text.strip())
            return
        waits = self._waiting(number)
        held = await self._client.hold_queued(self._chat, waits.id)
        self._talk.editing = waits.id
        if text.strip():
            await self.rewrite(text.strip())
            return
        self._screen.note(text_of(held.content), "  Type what it is to be. /cancel leaves it as it is.")

    async def rewrite(self, text: str) -> None:
        """The message that is being edited."""
        edited, self._talk.editing = self._talk.editing, None
        assert edited is not None
        released = (await self._client.release_queued(self._chat, edited, text)).queued_message
        self._talk.queue = [released if released and one.id == edited else one for one in self._talk.queue]
        self._screen.note(f"Edited: {one_line(text, QUEUED_LONGEST)}")

    async def _edit_last(self, text: str) -> None:
        if not text:
            raise ChatdError("There is no new text.", detail="Type it behind the command: /edit last TEXT")
        newest = (await self._client.messages(self._chat, limit=_NEWEST)).messages
        last = next((message for message in newest if message.role is Role.USER), None)
        if last is None:
            raise ChatdError("There is no message of yours among the last ones.")
        await self._client.edit(self._chat, last.id, text)

    async def _hold(self, typed: str) -> None:
        held = await self._client.hold_queued(self._chat, self._waiting(typed).id)
        self._screen.note(f"Held: {one_line(text_of(held.content), QUEUED_LONGEST)}")

    async def _move(self, typed: str) -> None:
        number, _, to = typed.partition(" ")
        moved, ids = self._waiting(number), [waits.id for waits in self._talk.queue]
        place = self._place(to)
        ids.remove(moved.id)
        ids.insert(place, moved.id)
        await self._client.reorder_queue(self._chat, ids)
        order = {id: place for place, id in enumerate(ids)}
        self._talk.queue.sort(key=lambda waits: order.get(waits.id, len(order)))  # one may have come meanwhile
        await self._queue("")

    async def _drop(self, typed: str) -> None:
        waits = self._waiting(typed)
        await self._client.delete_queued(self._chat, waits.id)
        self._gone(waits)
        self._screen.note(f"Dropped: {one_line(text_of(waits.content), QUEUED_LONGEST)}")

    async def _promote(self, typed: str) -> None:
        waits = self._waiting(typed)
        await self._client.promote_queued(self._chat, waits.id)
        self._gone(waits)

    async def _cancel(self, _: str) -> None:
        self._composing.taken()
        editing, self._talk.editing = self._talk.editing, None
        if editing is not None:
            await self._client.release_queued(self._chat, editing)

    def _gone(self, waits: ChatQueuedMessage) -> None:
        """The stream says so too, but the next command may be faster."""
        self._talk.queue = [other for other in self._talk.queue if other.id != waits.id]

    def _waiting(self, number: str) -> ChatQueuedMessage:
        return self._talk.queue[self._place(number)]

    def _place(self, number: str) -> int:
        if not self._talk.queue:
            raise ChatdError("Nothing waits.")
        number = number.strip()
        if not (number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= len(self._talk.queue)):
            raise ChatdError(f"Say which one: a number from 1 to {len(self._talk.queue)}.", detail="/queue lists them.")
        return int(number) - 1

    # The chat

    @property
    def _chat(self) -> UUID:
        if self._talk.chat_id is None:
            raise ChatdError("There is no chat yet.", detail="It begins with your first message.")
        return self._talk.chat_id

    async def _interrupt(self, _: str) -> None:
        try:
            await self._client.interrupt(self._chat)
        except WrongState:
            self._screen.note("Nothing runs.")

    async def _attach(self, path: str) -> None:
        if not path:
            names = ", ".join(name for name, _ in self._composing.files)
            raise ChatdError(f"Attached so far: {names or 'nothing'}.", detail="Give a file: /attach FILE")
        name = await self._composing.attach(path)
        self._screen.note(f"[{name}] goes with your next message.")

    async def _model(self, name: str) -> None:
        if name:
            self._screen.note(
                f"{model_name(await self._composing.choose_model(name))} answers from your next message on."
            )
            return
        current = (await self._client.chat(self._talk.chat_id)).last_model_config_id if self._talk.chat_id else None
        chosen = self._composing.model and self._composing.model.id
        for model in await self._composing.models():
            is_current = model.id == (chosen or current) if chosen or current else model.is_default
            self._screen.note(f"  {'●' if is_current else ' '} {model_name(model)}  {one_line(model.model, 60)}")

    async def _effort(self, word: str) -> None:
        if not word:
            raise ChatdError("Say how hard the model is to think.", detail=f"There are: {', '.join(ReasoningEffort)}.")
        self._screen.note(f"Effort {self._composing.choose_effort(word)} from your next message on.")

    async def _title(self, text: str) -> None:
        if text:
            await self._client.update_chat(self._chat, UpdateChat(title=text))
        self._screen.note(f"Title: {text or (await self._client.chat(self._chat)).title}")

    async def _compact(self, _: str) -> None:
        await self._client.compact(self._chat)
        self._screen.note("The chat is being summarised.")

    async def _cost(self, _: str) -> None:
        cost = await self._client.chat_cost(self._chat)
        unknown = f", and {cost.unpriced_request_count} whose price is not known" if cost.unpriced_request_count else ""
        priced = cost.request_count - cost.unpriced_request_count
        self._screen.note(
            f"${cost.total_cost_micros / 1e6:.4f} for {priced} model call{'' if priced == 1 else 's'}{unknown}."
        )

    async def _fork(self, title: str) -> None:
        made = await self._client.fork(self._chat, title=title or None)
        self._screen.note("This is a copy.", f"Back to the other one: chatd chat {self._chat}")
        self._talk.switch(made.id)

    async def _export(self, typed: str) -> None:
        if not typed:
            raise ChatdError("Say where to.", detail="/export FILE; .md, .html or .json tell what it is to be.")
        path = path_typed(typed)
        await save_export(self._client, self._chat, format_of(path), path)
        self._screen.note(f"Written: {path}")
