"""Titles of new chats, made while their first turn runs."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.messages import Message
from chatd.core.side_kind import SideKind
from chatd.core.titles import (
    MOST_TOKENS,
    PROMPT,
    SECONDS,
    first_message,
    title_of,
    title_question,
    title_question_of_all,
)
from chatd.engine.short_answers import Question, ShortAnswers
from chatd.engine.side_jobs import SideJobs, SideStore
from chatd.observe.logs import get_logger

_MOST_KEPT: Final = 1024  # titles that turns under way may still have to be told of
_log = get_logger("chatd.titles")


class TitleMade(msgspec.Struct, frozen=True, kw_only=True):
    """A title that is stored. Whoever knows the chat by `replaced` should call it `title` from now on."""

    chat_id: UUID
    owner_id: UUID
    title: str
    replaced: str


class BegunChat(msgspec.Struct, frozen=True, kw_only=True):
    """A chat whose turn begins, with all that is in memory then."""

    chat_id: UUID
    owner_id: UUID
    title: str
    model_config_id: UUID
    history: Sequence[Message]


class Titles:
    """`on_title` announces what was made; it must return at once."""

    def __init__(
        self, jobs: SideJobs, store: SideStore, answers: ShortAnswers, on_title: Callable[[TitleMade], None]
    ) -> None:
        self._jobs = jobs
        self._store = store
        self._answers = answers
        self._on_title = on_title
        self._made: OrderedDict[UUID, TitleMade] = OrderedDict()

    def begun(self, chat: BegunChat) -> None:
        """Make a title, if this is the chat's first turn and nobody has given it one. Returns at once."""
        first = first_message(chat.history, chat.title)
        if first is None or not (question := title_question(first)):
            return
        self._jobs.start(SideKind.TITLE, chat.chat_id, lambda: self._make(chat, question), seconds=SECONDS)

    def laid_over(self, chat_id: UUID, known: str) -> str:
        """The title for an event about the chat, of which `known` was read some time ago: a newer one of ours, unless
        it was given by someone."""
        made = self._made.get(chat_id)
        return made.title if made is not None and known == made.replaced else known

    async def propose(self, chat: BegunChat) -> str | None:
        """A new title for a chat that has gone on, not stored; None when the model has none. Raises ModelCallFailed."""
        question = title_question_of_all(chat.history)
        return await self._ask(chat, question) if question else None

    async def replace(self, chat_id: UUID, owner_id: UUID, title: str, *, expected: str) -> bool:
        """Store a title that was proposed, and tell of it. False when the chat has another one than expected."""
        if await self._store.replace_chat_title(title=title, id=chat_id, expected=expected) is None:
            return False
        made = TitleMade(chat_id=chat_id, owner_id=owner_id, title=title, replaced=expected)
        self._keep(made)
        self._on_title(made)
        return True

    async def _make(self, chat: BegunChat, question: str) -> None:
        title = await self._ask(chat, question)
        if title is None or title == chat.title:
            return
        if not await self.replace(chat.chat_id, chat.owner_id, title, expected=chat.title):
            _log.info("a chat got another title meanwhile", chat_id=str(chat.chat_id))

    async def _ask(self, chat: BegunChat, question: str) -> str | None:
        answer = await self._answers.answer(
            Question(
                chat_id=chat.chat_id,
                kind=SideKind.TITLE,
                model_config_id=chat.model_config_id,
                prompt=PROMPT,
                text=question,
                most_tokens=MOST_TOKENS,
            )
        )
        title = title_of(answer)
        if title is None:
            _log.info("an answer is no title", chat_id=str(chat.chat_id), characters=len(answer))
        return title

    def _keep(self, made: TitleMade) -> None:
        self._made[made.chat_id] = made
        self._made.move_to_end(made.chat_id)
        while len(self._made) > _MOST_KEPT:
            self._made.popitem(last=False)
