"""One compaction: announced, summarised within its time, committed as one batch."""

import msgspec

from chatd.core.accumulate import Accumulator, Answer
from chatd.core.compaction import (
    INSTRUCTIONS,
    SUMMARY_SECONDS,
    TOOL_NAME,
    Compaction,
    Window,
    failed_result,
    newer_half,
)
from chatd.core.failure import Failure, FailureKind, Wording
from chatd.core.messages import NewMessage
from chatd.core.model import ModelRequest, PromptMessage, ToolChoice
from chatd.core.parts import TextPart, ToolCallPart
from chatd.core.preview import Preview
from chatd.core.retry import GiveUp, decide
from chatd.core.roles import Role
from chatd.core.times import iso
from chatd.engine.at_work import ChatAtWork
from chatd.engine.episodes import Episode
from chatd.engine.flight import cost_of
from chatd.engine.models import ResolvedModel
from chatd.engine.parts import EngineParts
from chatd.engine.ways_out import TurnFailed
from chatd.minting import uuid7
from chatd.providers.stream import ModelCallFailed


class Compacting:
    """Summarises the history of a chat at work."""

    def __init__(self, chat: ChatAtWork, parts: EngineParts) -> None:
        self._chat = chat
        self._transitions = parts.transitions
        self._episodes = parts.episodes
        self._calls = parts.calls
        self._clock = parts.clock
        self._meter = parts.meter

    async def compact(
        self,
        request: ModelRequest,
        model: ResolvedModel,
        window: Window,
        *,
        tokens: int,
        is_manual: bool,
        finish: bool = False,
    ) -> None:
        """`request` is what the model would be asked now; `finish`: the turn is over with it. Raises TurnFailed,
        Changed, NotOurs."""
        began = self._clock.monotonic()
        facts = self._chat.facts
        episode = self._episodes.open(facts.chat_id, facts.history_version, facts.generation_attempt)
        call_id = f"{TOOL_NAME}_{uuid7(self._clock.now())}"
        _show(episode, Preview(Role.ASSISTANT, ToolCallPart(tool_call_id=call_id, tool_name=TOOL_NAME)))
        try:
            answer = await self._summary(request, model)
            summary = _text(answer)
            if not summary:
                raise TurnFailed(_failure(model, "The summary of the conversation came back empty."))
        except TurnFailed as failed:
            self._tell_failed(episode, call_id, failed.failure.message)
            raise
        except BaseException:
            self._tell_failed(episode, call_id, "The compaction was interrupted.")
            raise
        compaction = Compaction(call_id=call_id, summary=summary, is_manual=is_manual, window=window, tokens=tokens)
        at = iso(self._clock.now())
        _show(episode, Preview(Role.TOOL, compaction.result(at)))
        call = NewMessage(
            role=Role.ASSISTANT,
            parts=(),
            model_config_id=model.config_id,
            usage=answer.usage,
            cost_microdollars=cost_of([answer.usage], model),
            runtime_ms=max(1, round((self._clock.monotonic() - began) * 1000)),
        )
        rows = compaction.messages(call, at)
        await self._chat.commit(
            lambda fence: self._transitions.commit_step(fence, rows, compacted=is_manual, finish=finish)
        )

    async def _summary(self, request: ModelRequest, model: ResolvedModel) -> Answer:
        messages, attempt = request.messages, 1
        try:
            async with self._chat.news.unless_changed(), self._clock.timeout(SUMMARY_SECONDS, timer="summary"):
                while True:
                    try:
                        asked = _for_summary(request, messages)
                        return await self._calls.answer(asked, model, Accumulator(model.protocol.name))
                    except ModelCallFailed as failed:
                        if failed.failure.wording is Wording.CONTEXT_TOO_LONG and (shorter := newer_half(messages)):
                            messages = shorter
                            continue
                        decision = decide(failed.failure, attempt, self._clock.now())
                        if isinstance(decision, GiveUp):
                            raise TurnFailed(decision.failure) from failed
                        self._meter.retried(model, failed.failure.kind)
                    attempt += 1
                    await self._clock.sleep(decision.delay_seconds, timer="retry")
        except TimeoutError:
            message = f"The conversation could not be summarised within {SUMMARY_SECONDS:.0f} seconds."
            failure = msgspec.structs.replace(_failure(model, message), kind=FailureKind.TIMEOUT)
            raise TurnFailed(failure) from None

    def _tell_failed(self, episode: Episode, call_id: str, reason: str) -> None:
        _show(episode, Preview(Role.TOOL, failed_result(call_id, reason, iso(self._clock.now()))))


def _for_summary(request: ModelRequest, messages: tuple[PromptMessage, ...]) -> ModelRequest:
    instructions = PromptMessage(Role.USER, (TextPart(text=INSTRUCTIONS),))
    return msgspec.structs.replace(
        request, messages=(*messages, instructions), tool_choice=ToolChoice.NONE, provider_tools=()
    )


def _show(episode: Episode, preview: Preview) -> None:
    episode.add(preview)
    episode.announce()


def _text(answer: Answer) -> str:
    texts = (part.text.strip() for part in answer.parts if isinstance(part, TextPart))
    return " ".join(text for text in texts if text)


def _failure(model: ResolvedModel, message: str) -> Failure:
    return Failure(
        kind=FailureKind.UNKNOWN, provider=model.provider, status_code=None, retryable=True, message=message, detail=""
    )
