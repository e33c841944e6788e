"""The model's answer to a prompt: streamed to readers, tried again as long as that makes sense, kept while it comes."""

from collections.abc import Sequence

import msgspec

from chatd.core.accumulate import Answer
from chatd.core.failure import Failure, FailureKind
from chatd.core.model import FinishReason, ModelEvent, ModelRequest, PromptMessage
from chatd.core.parts import ReasoningPart, ToolResultPart
from chatd.core.preview import Preview, Previewer
from chatd.core.retry import GiveUp, decide, retry_payload
from chatd.core.roles import Role
from chatd.engine.at_work import ChatAtWork
from chatd.engine.flight import Flight
from chatd.engine.models import ResolvedModel
from chatd.engine.parts import EngineParts
from chatd.engine.ways_out import TurnFailed
from chatd.observe.logs import get_logger
from chatd.providers.stream import ModelCallFailed

MOST_PAUSES = 20  # of a vendor within one answer; each is a search or a page that it read
MOST_EMPTY = 3  # attempts when an answer ends with nothing and no reason; asked again, most models find words
_log = get_logger("chatd.step")


class Asking:
    """Puts requests to the model of a chat at work."""

    def __init__(self, chat: ChatAtWork, parts: EngineParts) -> None:
        self._chat = chat
        self._transitions = parts.transitions
        self._episodes = parts.episodes
        self._calls = parts.calls
        self._clock = parts.clock
        self._meter = parts.meter

    async def answer(self, request: ModelRequest, model: ResolvedModel, flight: Flight) -> Answer:
        """The whole answer. Raises TurnFailed when there will be none, Changed, NotOurs."""
        for _ in range(MOST_PAUSES):
            answer = await self._tried(_with_said(request, flight), model, flight)
            if answer.finish is not FinishReason.PAUSE:
                return _checked(answer, flight, model)
            flight.pause(answer)
        raise TurnFailed(_failure(model, "The provider paused too often within one answer."))

    async def _tried(self, request: ModelRequest, model: ResolvedModel, flight: Flight) -> Answer:
        while True:
            try:
                answer = await self._attempt(request, model, flight)
            except ModelCallFailed as failed:
                await self._wait_to_retry(model, failed.failure, failed)
                continue
            if answer.finish is not FinishReason.OTHER or _says_something(answer, flight):
                return answer
            is_last = self._chat.facts.generation_attempt >= MOST_EMPTY
            message = f"{model.provider} ended its answer without saying anything."
            empty = msgspec.structs.replace(_failure(model, message, answer.finish_detail), retryable=not is_last)
            await self._wait_to_retry(model, empty, None)

    async def _wait_to_retry(self, model: ResolvedModel, failure: Failure, cause: Exception | None) -> None:
        decision = decide(failure, self._chat.facts.generation_attempt, self._clock.now())
        if isinstance(decision, GiveUp):
            raise TurnFailed(decision.failure) from cause
        self._meter.retried(model, failure.kind)
        payload = msgspec.json.encode(retry_payload(failure, decision)).decode()
        _log.warning(
            "a model call failed and is tried again",
            chat_id=str(self._chat.chat_id),
            kind=str(failure.kind),
            provider=failure.provider,
            status_code=failure.status_code,
            attempt=decision.attempt,
            delay_ms=decision.delay_ms,
            detail=failure.detail,
        )
        await self._chat.commit(
            lambda fence: self._transitions.record_retry(fence, retry=payload),
            landed=lambda before, now: now.retry_version > before.retry_version,
        )
        await self._chat.wait(decision.delay_seconds, timer="retry")
        await self._chat.begin_attempt(self._transitions)

    async def _attempt(self, request: ModelRequest, model: ResolvedModel, flight: Flight) -> Answer:
        facts = self._chat.facts
        episode = self._episodes.open(facts.chat_id, facts.history_version, facts.generation_attempt)
        if not episode.last:
            for part in flight.said:  # before a pause, in an attempt before this one
                episode.add(Preview(Role.TOOL if isinstance(part, ToolResultPart) else Role.ASSISTANT, part))
        previewer = Previewer()

        def show(events: Sequence[ModelEvent], at: str) -> None:
            for event in events:
                if preview := previewer.previews(event, at):
                    episode.add(preview)
            episode.announce()

        async with self._chat.news.unless_changed():
            return await self._calls.answer(request, model, flight.new_attempt(), show)


def _with_said(request: ModelRequest, flight: Flight) -> ModelRequest:
    if not flight.said:
        return request
    so_far = PromptMessage(Role.ASSISTANT, flight.said, request.provider)
    return msgspec.structs.replace(request, messages=(*request.messages, so_far))


def _checked(answer: Answer, flight: Flight, model: ResolvedModel) -> Answer:
    """Nothing but thoughts before a filter struck is no answer."""
    if answer.finish is FinishReason.CONTENT_FILTER and not _says_something(answer, flight):
        detail = answer.finish_detail
        failure = _failure(model, f"{model.provider} refused to answer for reasons of its content policy.", detail)
        raise TurnFailed(msgspec.structs.replace(failure, kind=FailureKind.CONTENT_FILTER))
    return answer


def _says_something(answer: Answer, flight: Flight) -> bool:
    return any(not isinstance(part, ReasoningPart) for part in (*flight.said, *answer.parts))


def _failure(model: ResolvedModel, message: str, detail: str = "") -> Failure:
    return Failure(
        kind=FailureKind.UNKNOWN,
        provider=model.provider,
        status_code=None,
        retryable=False,
        message=message,
        detail=detail,
    )
