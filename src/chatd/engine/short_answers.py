"""Short answers of a model to questions of our own: titles, labels, summaries."""

from collections.abc import Awaitable, Callable
from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.accumulate import Accumulator
from chatd.core.errors import ChatdError, NotFound
from chatd.core.model import ModelRequest, PromptMessage
from chatd.core.parts import TextPart
from chatd.core.reasoning import ReasoningEffort
from chatd.core.retry import GiveUp, decide
from chatd.core.roles import Role
from chatd.core.side_kind import SideKind
from chatd.core.usage import Usage
from chatd.engine.meter import NO_METER, EngineMeter
from chatd.engine.model_calls import ModelCalls
from chatd.engine.models import Models, ResolvedModel
from chatd.engine.side_costs import SideCosts
from chatd.observe.logs import get_logger
from chatd.providers.stream import ModelCallFailed

MOST_ATTEMPTS: Final = 3  # more would not fit into the time that these have
_THINKING_TOKENS: Final = 2048  # for models that can't be told not to think
_log = get_logger("chatd.short-answers")

# The configured model for such work, if an administrator has set one.
Override = Callable[[], Awaitable[UUID | None]]


async def no_override() -> UUID | None:
    return None


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked about a chat, and by which of its models unless another is set for such work."""

    chat_id: UUID
    kind: SideKind
    model_config_id: UUID
    prompt: str
    text: str
    most_tokens: int


class ShortAnswers:
    """What an answer takes is paid for by the owner of the chat, whatever comes of it."""

    def __init__(
        self,
        models: Models,
        *,
        calls: ModelCalls,
        costs: SideCosts,
        clock: Clock,
        override: Override = no_override,
        meter: EngineMeter = NO_METER,
    ) -> None:
        self._meter = meter
        self._models = models
        self._calls = calls
        self._costs = costs
        self._clock = clock
        self._override = override

    async def answer(self, question: Question) -> str:
        """In words; empty when there is no model to ask. Raises ModelCallFailed when none of the attempts succeeds."""
        model = await self._model(question.model_config_id)
        if model is None:
            return ""
        request = _request(model, question)
        attempt = 1
        while True:
            try:
                return await self._asked(question, model, request)
            except ModelCallFailed as failed:
                decision = decide(failed.failure, attempt, self._clock.now())
                if isinstance(decision, GiveUp) or attempt >= MOST_ATTEMPTS:
                    raise
                self._meter.retried(model, failed.failure.kind)
            attempt += 1
            await self._clock.sleep(decision.delay_seconds, timer="side retry")

    async def _model(self, chat_model: UUID) -> ResolvedModel | None:
        """The configured one, and no other if that can't be used: whoever set it wants no other to be paid for."""
        override = await self._override()
        try:
            model: ResolvedModel | None = await self._models.model_for(override or chat_model)
        except NotFound:
            model = None if override else await self._models.default_model()
        except ChatdError as error:
            _log.info("a model can't be asked", model_config_id=str(override or chat_model), error=error.message)
            return None
        return model if model is not None and model.is_enabled else None

    async def _asked(self, question: Question, model: ResolvedModel, request: ModelRequest) -> str:
        accumulator = Accumulator(model.protocol.name)
        is_whole = False
        try:
            answer = await self._calls.answer(request, model, accumulator)
            is_whole = True
        finally:
            # What a vendor has counted of an answer that failed or was cut off, it charges for.
            if is_whole or accumulator.usage != Usage():
                await self._costs.paid(question.chat_id, question.kind, model, accumulator.usage)
        return "".join(part.text for part in answer.parts if isinstance(part, TextPart))


def _request(model: ResolvedModel, question: Question) -> ModelRequest:
    # A model that nobody knows may think too.
    may_think = model.capabilities.reasoning or model.max_output_tokens is None
    most = question.most_tokens + (_THINKING_TOKENS if may_think else 0)
    return ModelRequest(
        model=model.model,
        provider=str(model.provider_id),
        messages=(
            PromptMessage(Role.SYSTEM, (TextPart(text=question.prompt),)),
            PromptMessage(Role.USER, (TextPart(text=question.text),)),
        ),
        max_output_tokens=min(most, model.max_output_tokens or most),
        reasoning_effort=model.effort(ReasoningEffort.NONE),  # the least that it can be told
        cache_prompt=False,  # it is asked once
        capabilities=model.capabilities,
        options=model.vendor_options,
    )
