"""One turn of a chat: prepared once, then step after step until it is over."""

from collections.abc import Sequence
from typing import Final

import msgspec

from chatd.core.compaction import MOST_REENTRIES, Due, Futile, check, context_tokens, has_answers
from chatd.core.failure import Failure, FailureKind, Wording
from chatd.core.messages import Message, NewMessage
from chatd.core.model import ModelRequest
from chatd.core.parts import TextPart, ToolCallPart, ToolResultPart, is_known
from chatd.core.preview import Preview
from chatd.core.prompt import prompt_of
from chatd.core.retry import seconds_left
from chatd.core.roles import Role, Visibility
from chatd.core.step import local_calls
from chatd.core.turn import (
    AnswerCalls,
    AwaitClient,
    CallModel,
    CompactNow,
    FinishTurn,
    Situation,
    StopAtLimit,
    current_turn,
    decide,
    steps_of_turn,
)
from chatd.engine.at_work import ChatAtWork
from chatd.engine.compact import Compacting
from chatd.engine.flight import Flight
from chatd.engine.left_behind import left_behind
from chatd.engine.models import ResolvedModel
from chatd.engine.parts import EngineParts
from chatd.engine.prepared import Prepared
from chatd.engine.prompt_data import PromptData
from chatd.engine.step import Asking
from chatd.engine.tool_step import Done, ToolStep
from chatd.engine.tools.live_output import LiveOutput
from chatd.engine.tools.results import result_budget
from chatd.engine.tools.tool import ToolCall, ToolContext
from chatd.engine.turn_workspace import TurnWorkspace
from chatd.engine.ways_out import TurnFailed
from chatd.observe.logs import get_logger
from chatd.workspaces.resolving import Resolved

_log = get_logger("chatd.turn")
_STOPPED: Final = "This turn was stopped after {steps} steps. Send a message to let it go on."


class Turn:
    """`flight` is the step under way, for whoever cuts it. `only_compacted`: nobody wanted an answer."""

    def __init__(self, chat: ChatAtWork, prepared: Prepared, parts: EngineParts) -> None:
        self.flight: Flight | None = None
        self.only_compacted = False
        self._chat = chat
        self._parts = parts
        self._prepared = prepared
        self._asking = Asking(chat, parts)
        self._compacting = Compacting(chat, parts)
        self._store = parts.store
        self._transitions = parts.transitions
        self._episodes = parts.episodes
        self._clock = parts.clock
        self._meter = parts.meter
        self._data = PromptData(parts.store)
        self._steps_before = 0
        self._reentries = 0
        self._workspace = TurnWorkspace(
            parts.workspaces,
            parts.clock,
            chat_id=chat.chat_id,
            ancestors=prepared.ancestors,
            epoch=chat.epoch,
            visited=self._visited,
        )

    def _visited(self, found: Resolved | None) -> None:
        chat, visits = self._chat, self._parts.visits
        if found is None:
            visits.left(chat.chat_id)
        else:
            visits.reached(chat.chat_id, chat.facts.owner_id, found)

    async def run(self) -> None:
        """Until the turn is over. Raises TurnFailed, Changed, NotOurs, LetGo."""
        try:
            with self._meter.turn(self._chat.chat_id, self._prepared.model):
                await self._run()
            await self._workspace.acknowledge()
        finally:
            await self._workspace.close()

    async def _run(self) -> None:
        facts = self._chat.facts
        is_taken_over = self._chat.needs_attempt
        if facts.generation_attempt == 0 or is_taken_over:
            if facts.retry_state and (left := seconds_left(facts.retry_state, self._clock.now())):
                await self._chat.wait(left, timer="retry")
            # What is streamed from now on is another attempt than what was streamed before.
            await self._chat.begin_attempt(self._transitions)
            self._chat.needs_attempt = False
        await self._inform()
        if self._chat.facts.has_draft:
            await self._settle_draft()
        elif is_taken_over and current_turn(await self._chat.history()):
            await self._compact_if_due()  # it may be where the owner before us ended
        over = False
        while not over:
            self._chat.check_draining()
            over = await self._next(await self._chat.history())

    async def _next(self, history: Sequence[Message]) -> bool:
        """Do what is next; whether the turn is over then."""
        situation = Situation(
            client_tools=self._prepared.tools.client_names,
            stopping_tools=self._prepared.tools.stopping_names,
            compaction_requested=self._chat.facts.compaction_requested_at is not None,
            steps_before=self._steps_before,
        )
        match decide(history, situation):
            case CallModel():
                return await self._step(history)
            case AnswerCalls(calls):
                await self._answer_calls(calls)
                return False
            case AwaitClient():
                await self._chat.commit(self._transitions.enter_requires_action)
                return True
            case CompactNow():
                then = decide(history, msgspec.structs.replace(situation, compaction_requested=False))
                over = self.only_compacted = isinstance(then, FinishTurn | StopAtLimit)
                await self._compact(history, context_tokens(history), is_manual=True, finish=over)
                return over
            case FinishTurn():
                await self._chat.commit(self._transitions.finish_turn)
                return True
            case StopAtLimit(steps):
                return await self._stop(steps)

    async def _inform(self) -> None:
        async with self._chat.news.unless_changed():
            self._prepared = await self._parts.preparing.informed(self._prepared, self._workspace)

    # A step

    async def _step(self, history: Sequence[Message]) -> bool:
        self._prepared = await self._parts.preparing.refreshed(self._prepared, self._chat.facts)
        await self._inform()
        prepared = self._prepared
        flight = self.flight = Flight(
            self._chat.facts.history_version, prepared.model, prepared.effort, began=self._clock.monotonic()
        )
        try:
            request = await self._request(history, prepared.model)
            answer = await self._asking.answer(request, prepared.model, flight)
        except TurnFailed as failed:
            if failed.failure.wording is not Wording.CONTEXT_TOO_LONG or not has_answers(history):
                raise
            # The vendor counts otherwise than we do, or the user sent a book: what fits is summarised.
            await self._compact(history, prepared.window.limit, is_manual=False)
            return False
        self._meter.stepped(prepared.model)
        message = flight.whole(answer, self._clock.monotonic())
        calls = local_calls(message.parts)
        if calls:
            return await self._with_tools(flight, message, calls)
        if not message.parts:
            # Nothing was said, but it was paid for.
            message = msgspec.structs.replace(message, visibility=Visibility.MODEL)
        return await self._last(history, message)

    async def _last(self, history: Sequence[Message], message: NewMessage) -> bool:
        """An answer without calls ends the turn, unless the history has to be compacted first."""
        verdict = check([*history, message], self._prepared.window)
        if isinstance(verdict, Due | Futile):
            return await self._reenter(message, verdict)
        await self._chat.commit(lambda fence: self._transitions.commit_step(fence, [message], finish=True))
        self.flight = None
        return True

    async def _reenter(self, message: NewMessage, verdict: Due | Futile) -> bool:
        await self._chat.commit(lambda fence: self._transitions.commit_step(fence, [message]))
        self.flight = None
        if isinstance(verdict, Futile):
            with self._meter.compaction(self._prepared.summarizer):
                raise TurnFailed(_futile(self._prepared, verdict))
        if self._reentries >= MOST_REENTRIES:
            await self._chat.commit(self._transitions.finish_turn)
            return True
        self._reentries += 1
        history = await self._chat.history()
        await self._compact(history, verdict.tokens, is_manual=False)
        return await self._step(await self._chat.history())

    async def _with_tools(self, flight: Flight, message: NewMessage, calls: Sequence[ToolCallPart]) -> bool:
        ours = [call for call in calls if call.tool_name not in self._prepared.tools.client_names]
        if ours:
            await self._chat.commit(
                lambda fence: self._transitions.save_draft(fence, message),
                landed=lambda before, now: now.has_draft and not before.has_draft,
            )
            flight.drafted(message)
            await self._run_tools(flight, calls, is_new=True)
        await self._commit_step(flight, message, calls)
        return False

    async def _commit_step(self, flight: Flight, message: NewMessage, calls: Sequence[ToolCallPart]) -> None:
        rows = [flight.with_files(message, self._clock.monotonic()), *_results(calls, flight)]
        await self._chat.commit(lambda fence: self._transitions.commit_step(fence, rows))
        self.flight = None
        self._workspace.settled(self._chat.call_keys)
        await self._compact_if_due()

    async def _compact_if_due(self) -> None:
        history = await self._chat.history()
        match check(history, self._prepared.window):
            case Due(tokens):
                await self._compact(history, tokens, is_manual=False)
            case Futile() as verdict:
                with self._meter.compaction(self._prepared.summarizer):
                    raise TurnFailed(_futile(self._prepared, verdict))
            case _:
                pass

    async def _stop(self, steps: int) -> bool:
        notice = NewMessage(
            role=Role.ASSISTANT,
            parts=(TextPart(text=_STOPPED.format(steps=steps)),),
            visibility=Visibility.USER,
            model_config_id=self._prepared.model.config_id,
        )
        _log.warning("a turn was stopped at its limit", chat_id=str(self._chat.chat_id), steps=steps)
        await self._chat.commit(lambda fence: self._transitions.commit_step(fence, [notice], finish=True))
        return True

    # Tools

    async def _run_tools(self, flight: Flight, calls: Sequence[ToolCallPart], *, is_new: bool) -> None:
        facts, prepared = self._chat.facts, self._prepared
        episode = self._episodes.open(facts.chat_id, facts.history_version, facts.generation_attempt)

        live = episode.live = LiveOutput(episode.announce)

        def tell(done: Done) -> None:
            live.end(done.part.tool_call_id)
            flight.done(done.part, done.output.files)
            for file in done.output.files:
                episode.add(Preview(Role.ASSISTANT, file))
            episode.add(Preview(Role.TOOL, done.part))
            episode.announce()

        by_id = {call.tool_call_id: call for call in calls}

        def context(call: ToolCall) -> ToolContext:
            return ToolContext(
                chat_id=facts.chat_id,
                runner_id=self._chat.runner_id,
                owner_id=facts.owner_id,
                organization_id=prepared.organization_id,
                clock=self._clock,
                progress=live.of(call.id),
                if_cut=lambda output: flight.if_cut(tools.part(by_id[call.id], output)),
                workspace=self._workspace,
                skills=prepared.skills,
                budget=result_budget(prepared.model.context_limit),
                key=call.key,
            )

        tools = ToolStep(
            prepared.tools,
            context,
            context_limit=prepared.model.context_limit,
            clock=self._clock,
            tell=tell,
            measure=lambda name: self._meter.tool(prepared.model, name),
        )
        keyed = [
            (f"{self._chat.call_keys}{place}", call)
            for place, call in enumerate(calls)
            if call.tool_name not in prepared.tools.client_names and call.tool_call_id not in flight.results
        ]
        if tools.refuse_company(calls):
            return
        async with self._chat.news.unless_changed():
            await (tools.run(keyed) if is_new else tools.settle(keyed))

    async def _settle_draft(self) -> None:
        """Another process had this step's answer and then died: its calls are settled, the model is not asked again."""
        left = await left_behind(self._chat.facts, self._parts)
        message = left.draft
        if message is None:
            return
        calls = local_calls(message.parts)
        flight = self.flight = Flight(
            self._chat.facts.history_version,
            self._prepared.model,
            self._prepared.effort,
            began=self._clock.monotonic() - (message.runtime_ms or 0) / 1000,
        )
        flight.drafted(message)
        facts = self._chat.facts
        episode = self._episodes.open(facts.chat_id, facts.history_version, facts.generation_attempt)
        results, files = left.results(), left.files()
        for place, result in enumerate(results.values()):
            flight.done(result, () if place else files)
        for part in (*message.parts, *files, *results.values()):
            if is_known(part):
                episode.add(Preview(Role.TOOL if isinstance(part, ToolResultPart) else Role.ASSISTANT, part))
        await self._run_tools(flight, calls, is_new=False)
        await self._commit_step(flight, message, calls)

    async def _answer_calls(self, calls: Sequence[ToolCallPart]) -> None:
        """Calls in the history itself that nobody answered."""
        flight = Flight(self._chat.facts.history_version, self._prepared.model, None, began=self._clock.monotonic())
        await self._run_tools(flight, calls, is_new=False)
        rows = _results(calls, flight)
        await self._chat.commit(lambda fence: self._transitions.commit_step(fence, rows))
        self._workspace.settled(self._chat.call_keys)

    # The prompt

    async def _compact(self, history: Sequence[Message], tokens: int, *, is_manual: bool, finish: bool = False) -> None:
        prepared = self._prepared
        self._steps_before += steps_of_turn(history)
        with self._meter.compaction(prepared.summarizer):
            await self._compacting.compact(
                await self._request(history, prepared.summarizer),
                prepared.summarizer,
                prepared.window,
                tokens=tokens,
                is_manual=is_manual,
                finish=finish,
            )
        self.flight = None

    async def _request(self, history: Sequence[Message], model: ResolvedModel) -> ModelRequest:
        prepared = self._prepared
        origins = prepared.origins
        prompt = prompt_of(await self._data.filled(history), lambda config: origins.get(config, "") if config else "")
        if prompt.left_out:
            _log.warning(
                "parts that nobody can read are left out of a prompt",
                chat_id=str(self._chat.chat_id),
                types=sorted({kind for _, kind in prompt.left_out}),
            )
        leading = next(
            (place for place, message in enumerate(prompt.messages) if message.role is not Role.SYSTEM),
            len(prompt.messages),
        )
        sections = prepared.sections if leading else prepared.opening
        messages = (*prompt.messages[:leading], *sections, *prompt.messages[leading:])
        return ModelRequest(
            model=model.model,
            provider=model.origin,
            messages=messages,
            tools=prepared.tools.specs if model.capabilities.tools else (),
            max_output_tokens=model.max_output_tokens,
            temperature=model.options.temperature,
            top_p=model.options.top_p,
            top_k=model.options.top_k,
            presence_penalty=model.options.presence_penalty,
            frequency_penalty=model.options.frequency_penalty,
            reasoning_effort=prepared.effort if model is prepared.model else model.effort(None),
            capabilities=model.capabilities,
            options=model.vendor_options,
        )


def _results(calls: Sequence[ToolCallPart], flight: Flight) -> list[NewMessage]:
    """A message for each result, in the order of the calls."""
    done = [flight.results[call.tool_call_id] for call in calls if call.tool_call_id in flight.results]
    return [NewMessage(role=Role.TOOL, parts=(part,)) for part in done]


def _futile(prepared: Prepared, verdict: Futile) -> Failure:
    return Failure(
        kind=FailureKind.CONFIG,
        provider=prepared.model.provider,
        status_code=None,
        retryable=False,
        message=(
            f"Even the summary of this conversation does not fit: it takes {verdict.tokens} of the "
            f"{prepared.window.limit} tokens of the model's context. Choose a model with a larger one, or begin a new "
            "chat."
        ),
        detail="",
    )
