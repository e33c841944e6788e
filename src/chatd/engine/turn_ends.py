"""What is made when a turn has ended: the label of the turn, and now and then a summary of the chat."""

from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core import chat_summary, labels
from chatd.core.chat_summary import is_due, report_snippet, summary_of, summary_question
from chatd.core.labels import Ending, Fixed, FromModel, label_for, label_of
from chatd.core.messages import Message
from chatd.core.push_message import PushMessage, is_told, turn_message
from chatd.core.said_text import last_answer
from chatd.core.side_kind import SideKind
from chatd.engine.short_answers import Question, ShortAnswers
from chatd.engine.side_jobs import SideJobs, SideStore
from chatd.observe.logs import get_logger
from chatd.providers.stream import ModelCallFailed

_WRITE_SECONDS: Final = 30.0  # to store a label, besides the time that its model has
_log = get_logger("chatd.turn-ends")


class EndedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that has come to rest, with all that is in memory then. `history` has its last answer in it, and
    `history_version` is that after it."""

    chat_id: UUID
    owner_id: UUID
    is_child: bool
    ending: Ending
    history_version: int
    model_config_id: UUID
    history: Sequence[Message]
    title: str = ""  # as it was when the turn began; empty when nobody has looked
    error: str | None = None  # of a turn that failed, as it is stored


class LabelMade(msgspec.Struct, frozen=True, kw_only=True):
    """None: the chat has no label any more."""

    chat_id: UUID
    owner_id: UUID
    label: str | None
    history_version: int


class SummaryMade(msgspec.Struct, frozen=True, kw_only=True):
    chat_id: UUID
    owner_id: UUID
    summary: str
    history_version: int


def _told_nobody(_user_id: UUID, _message: PushMessage) -> None:
    pass


class TurnEnds:
    """`on_label` and `on_summary` announce what was stored, `push` tells the owner's browsers; all return at once.
    `newest_title` lays a title that was made meanwhile over the one that a turn knows."""

    def __init__(
        self,
        jobs: SideJobs,
        store: SideStore,
        answers: ShortAnswers,
        *,
        clock: Clock,
        on_label: Callable[[LabelMade], None],
        on_summary: Callable[[SummaryMade], None],
        push: Callable[[UUID, PushMessage], None] = _told_nobody,
        newest_title: Callable[[UUID, str], str] = lambda _, known: known,
    ) -> None:
        self._jobs = jobs
        self._store = store
        self._answers = answers
        self._clock = clock
        self._on_label = on_label
        self._on_summary = on_summary
        self._push = push
        self._newest_title = newest_title

    def ended(self, turn: EndedTurn) -> None:
        """Returns at once. Labels belong to root chats; of a child the beginning of its report is shown, and nobody is
        told."""
        if turn.is_child:
            self._child_ended(turn)
            return
        plan = label_for(turn.ending, last_answer(turn.history))
        is_labelled = False
        if plan is not None:
            seconds = labels.SECONDS + _WRITE_SECONDS
            is_labelled = self._jobs.start(
                SideKind.LABEL, turn.chat_id, lambda: self._label(turn, plan), seconds=seconds
            )
        if turn.ending is Ending.FAILED or not is_labelled:
            self._tell(turn, None)  # else the label says best what was done, and tells
        if turn.ending is Ending.FINISHED and (question := summary_question(turn.history)):
            seconds = chat_summary.TOTAL_SECONDS
            self._jobs.start(SideKind.SUMMARY, turn.chat_id, lambda: self._summarise(turn, question), seconds=seconds)

    def _child_ended(self, turn: EndedTurn) -> None:
        if turn.ending is Ending.FINISHED and (snippet := report_snippet(last_answer(turn.history))):
            self._jobs.start(
                SideKind.SUMMARY, turn.chat_id, lambda: self._store_summary(turn, snippet), seconds=_WRITE_SECONDS
            )

    async def _label(self, turn: EndedTurn, plan: Fixed | FromModel) -> None:
        made = None if isinstance(plan, Fixed) else await self._from_model(turn, plan)
        label = plan.label if isinstance(plan, Fixed) else made or plan.otherwise
        stored = await self._store.set_turn_label(id=turn.chat_id, history_version=turn.history_version, label=label)
        if stored is None:
            return  # the chat has moved on, and its next turn gets a label of its own
        self._on_label(
            LabelMade(chat_id=turn.chat_id, owner_id=turn.owner_id, label=label, history_version=turn.history_version)
        )
        if turn.ending is not Ending.FAILED:
            self._tell(turn, made)

    def _tell(self, turn: EndedTurn, label: str | None) -> None:
        """The owner's browsers, with what is in memory."""
        if not is_told(turn.ending):
            return
        message = turn_message(
            turn.ending,
            chat_id=turn.chat_id,
            title=self._newest_title(turn.chat_id, turn.title),
            history=turn.history,
            label=label,
            error=turn.error,
        )
        self._push(turn.owner_id, message)

    async def _from_model(self, turn: EndedTurn, plan: FromModel) -> str | None:
        """The model's label if it has a good one in time."""
        try:
            async with self._clock.timeout(labels.SECONDS, timer="label"):
                answer = await self._answers.answer(
                    Question(
                        chat_id=turn.chat_id,
                        kind=SideKind.LABEL,
                        model_config_id=turn.model_config_id,
                        prompt=labels.PROMPT,
                        text=plan.question,
                        most_tokens=labels.MOST_TOKENS,
                    )
                )
        except (ModelCallFailed, TimeoutError) as error:
            _log.info("a turn gets the fixed label", chat_id=str(turn.chat_id), error=str(error) or "too slow")
            return None
        return label_of(answer)

    async def _summarise(self, turn: EndedTurn, question: str) -> None:
        since = await self._store.count_messages_since_summary(id=turn.chat_id, history_version=turn.history_version)
        if since is None or not is_due(has_summary=since.has_summary, new_messages=since.new_messages):
            return
        async with self._clock.timeout(chat_summary.SECONDS, timer="chat summary"):
            answer = await self._answers.answer(
                Question(
                    chat_id=turn.chat_id,
                    kind=SideKind.SUMMARY,
                    model_config_id=turn.model_config_id,
                    prompt=chat_summary.PROMPT,
                    text=question,
                    most_tokens=chat_summary.MOST_TOKENS,
                )
            )
        summary = summary_of(answer)
        if summary is None:
            _log.info("an answer is no summary", chat_id=str(turn.chat_id), characters=len(answer))
            return
        await self._store_summary(turn, summary)

    async def _store_summary(self, turn: EndedTurn, summary: str) -> None:
        stored = await self._store.set_chat_summary(
            id=turn.chat_id, history_version=turn.history_version, summary=summary
        )
        if stored is None:
            return
        self._on_summary(
            SummaryMade(
                chat_id=turn.chat_id, owner_id=turn.owner_id, summary=summary, history_version=turn.history_version
            )
        )
