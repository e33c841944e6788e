"""Chats that run, with titles, labels and summaries made around their turns by the same scripted vendor."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from chatd.background import beside
from chatd.clock import Clock
from chatd.core import chat_summary, labels, titles
from chatd.core.labels import Ending
from chatd.core.messages import Message
from chatd.core.push_message import PushMessage
from chatd.core.titles import fallback_title
from chatd.engine.meter import NO_METER, EngineMeter
from chatd.engine.models import Models
from chatd.engine.short_answers import ShortAnswers
from chatd.engine.side_costs import SideCosts
from chatd.engine.side_jobs import SideJobs
from chatd.engine.titles import BegunChat, TitleMade, Titles
from chatd.engine.turn_ends import EndedTurn, LabelMade, SummaryMade, TurnEnds
from chatd.providers.catalogue import load_catalogue
from chatd.providers.hosts import Outbound
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Answer, Say, Turn
from engine.chatting import Chatting, chatting
from engine.deployment import PATIENCE

Made = TitleMade | LabelMade | SummaryMade


def asks_for(asked: Asked) -> str:
    """What a request is for: "title", "label", "summary" or "turn"."""
    system = str(asked.body.get("system", ""))
    for name, prompt in (("title", titles.PROMPT), ("label", labels.PROMPT), ("summary", chat_summary.PROMPT)):
        if prompt[:25] in system:
            return name
    return "turn"


class Script:
    """Answers by what is asked for: each in turn, the last one again and again."""

    def __init__(self, **answers: Answer | list[Answer]) -> None:
        self._answers = {name: given if isinstance(given, list) else [given] for name, given in answers.items()}
        self.asked: list[str] = []
        self.questions: list[Asked] = []

    def __call__(self, asked: Asked) -> Answer:
        name = asks_for(asked)
        self.asked.append(name)
        self.questions.append(asked)
        answers = self._answers.get(name, [Turn(Say("Done it."))])
        return answers.pop(0) if len(answers) > 1 else answers[0]


class Around:
    def __init__(self, chats: Chatting, override: Callable[[], UUID | None]) -> None:
        self.chats = chats
        self.made: list[Made] = []
        self._news = asyncio.Event()
        parts = chats.parts
        self.jobs = SideJobs(clock=parts.clock)
        store = parts.store

        async def overridden() -> UUID | None:
            return override()

        models = Models(parts.store, load_catalogue(None), Outbound())
        costs = SideCosts(store)
        answers = ShortAnswers(models, calls=parts.calls, costs=costs, clock=parts.clock, override=overridden)
        self.titles = Titles(self.jobs, store, answers, self._note)
        self.pushed: list[tuple[UUID, PushMessage]] = []
        self.ends = TurnEnds(
            self.jobs,
            store,
            answers,
            clock=parts.clock,
            on_label=self._note,
            on_summary=self._note,
            push=lambda user_id, message: self.pushed.append((user_id, message)),
            newest_title=self.titles.laid_over,
        )

    async def begin(self, text: str, *, title: str | None = None) -> UUID:
        """A chat as clients make it, with the title that it has at once, and its title under way."""
        chat_id = await self.chats.begin(text)
        [first] = await self.chats.messages(chat_id)
        known = fallback_title(first.parts) if title is None else title
        await self.rename(chat_id, known)
        self.begun(chat_id, known, [first])
        return chat_id

    async def first_message(self, text: str) -> Message:
        """Of a chat that has run already."""
        chat_id = await self.chats.begin(text)
        await self.chats.resting(chat_id)
        return (await self.chats.messages(chat_id))[0]

    def begun(self, chat_id: UUID, title: str, history: Any) -> None:
        self.titles.begun(self._chat(chat_id, title, history))

    async def propose(self, chat_id: UUID) -> str | None:
        return await self.titles.propose(self._chat(chat_id, "", await self.chats.messages(chat_id)))

    def _chat(self, chat_id: UUID, title: str, history: Any) -> BegunChat:
        return BegunChat(
            chat_id=chat_id,
            owner_id=self.chats.deployment.user_id,
            title=title,
            model_config_id=self.chats.model_id,
            history=history,
        )

    async def ended(
        self,
        chat_id: UUID,
        ending: Ending = Ending.FINISHED,
        *,
        is_child: bool = False,
        title: str = "",
        error: str = "",
    ) -> None:
        """What a turn that has come to rest says."""
        state = await self.chats.resting(chat_id)
        self.ends.ended(
            EndedTurn(
                chat_id=chat_id,
                owner_id=self.chats.deployment.user_id,
                is_child=is_child,
                ending=ending,
                history_version=state["history_version"],
                model_config_id=self.chats.model_id,
                history=await self.chats.messages(chat_id),
                title=title,
                error=error or None,
            )
        )

    async def rename(self, chat_id: UUID, title: str) -> None:
        await self.chats.deployment.pool.execute("UPDATE chats SET title = $2 WHERE id = $1", chat_id, title)

    async def row(self, chat_id: UUID) -> dict[str, Any]:
        return dict(await self.chats.deployment.pool.fetchrow("SELECT * FROM chats WHERE id = $1", chat_id))

    async def paid(self) -> list[dict[str, Any]]:
        """What was stored of costs beside the turns, in order."""
        rows = await self.chats.deployment.pool.fetch("SELECT * FROM side_costs ORDER BY id")
        return [dict(row) for row in rows]

    async def until_made(self, count: int = 1) -> list[Made]:
        async with asyncio.timeout(PATIENCE):
            while len(self.made) < count:
                self._news.clear()
                await self._news.wait()
        return self.made

    async def idle(self) -> None:
        """Until no job is left."""
        async with asyncio.timeout(PATIENCE):
            while self.jobs.alive:
                await asyncio.get_running_loop().run_in_executor(None, lambda: None)

    def _note(self, made: Made) -> None:
        self.made.append(made)
        self._news.set()


@asynccontextmanager
async def around_turns(
    dsn: str,
    script: Script,
    *,
    override: Callable[[], UUID | None] = lambda: None,
    meter: Callable[[Clock], EngineMeter] = lambda _: NO_METER,
) -> AsyncIterator[Around]:
    async with chatting(dsn, script, context_limit=100_000, meter=meter) as chats:
        around = Around(chats, override)
        async with beside({"side jobs": around.jobs.run()}):
            await chats.fake_clock.advance(0)  # the jobs' own first step
            yield around
