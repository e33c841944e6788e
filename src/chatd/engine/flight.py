"""A step in flight: what is there of it at any moment, so that nothing that a user saw is lost when it is cut."""

from collections.abc import Sequence

import msgspec

from chatd.core.accumulate import Accumulator, Answer
from chatd.core.cost import cost_microdollars
from chatd.core.interrupted import interrupted_messages
from chatd.core.messages import NewMessage
from chatd.core.model import ProtocolName
from chatd.core.parts import FilePart, Part, ToolResultPart
from chatd.core.reasoning import ReasoningEffort
from chatd.core.roles import Role
from chatd.core.usage import Usage
from chatd.core.vendor_order import vendor_first
from chatd.engine.models import ResolvedModel

_UNTOLD = Usage()  # of a call that ended before its vendor said what it used


class Flight:
    """Of one step over one history version. `began` is monotonic time: retries and tools count."""

    def __init__(
        self, history_version: int, model: ResolvedModel, effort: ReasoningEffort | None, *, began: float
    ) -> None:
        self.history_version = history_version
        self.results: dict[str, ToolResultPart] = {}
        self._model = model
        self._effort = effort
        self._began = began
        self._said: list[Part] = []  # before a pause of the vendor
        self._used: list[Usage] = []
        self._accumulator = Accumulator(model.protocol.name)
        self._before: Accumulator | None = None  # of the newest attempt before this one that said something
        self._draft: NewMessage | None = None
        self._files: list[FilePart] = []
        self._if_cut: dict[str, ToolResultPart] = {}

    @property
    def protocol(self) -> ProtocolName:
        return self._model.protocol.name

    @property
    def said(self) -> tuple[Part, ...]:
        """What the vendor had said before it paused."""
        return tuple(self._said)

    def new_attempt(self) -> Accumulator:
        """What a failed attempt had said is what people see until this one says something. It was paid for, too."""
        self._used.append(self._accumulator.usage)
        if self._accumulator.cut_short("").parts:
            self._before = self._accumulator
        self._accumulator = Accumulator(self.protocol)
        return self._accumulator

    def pause(self, answer: Answer) -> None:
        """The vendor wants to be asked again with what it has said so far."""
        self._said += answer.parts
        self._used.append(answer.usage)
        self._accumulator, self._before = Accumulator(self.protocol), None

    def whole(self, answer: Answer, now: float) -> NewMessage:
        return self._message((*self._said, *answer.parts), [*self._used, answer.usage], now)

    def drafted(self, draft: NewMessage) -> None:
        """The answer is whole, and its tools run."""
        self._draft = draft

    def done(self, result: ToolResultPart, files: Sequence[FilePart]) -> None:
        """A tool has answered, and may have left files."""
        self.results[result.tool_call_id] = result
        self._files += files

    def if_cut(self, result: ToolResultPart) -> None:
        """What is to be said of a call that is interrupted before it has a result."""
        self._if_cut[result.tool_call_id] = result

    def with_files(self, answer: NewMessage, now: float) -> NewMessage:
        """The answer as it is stored: with what its tools have left, and the time of the whole step."""
        return msgspec.structs.replace(answer, parts=(*answer.parts, *self._files), runtime_ms=self.runtime_ms(now))

    def interrupted(self, at: str, now: float) -> list[NewMessage]:
        """What an interruption stores."""
        if self._draft is not None:
            answer = self.with_files(self._draft, now)
        else:
            parts = self._accumulator.cut_short(at).parts
            if not parts and self._before is not None:
                parts = self._before.cut_short(at).parts
            answer = self._message((*self._said, *parts), [*self._used, self._accumulator.usage], now)
        return interrupted_messages(answer, {**self._if_cut, **self.results})

    def runtime_ms(self, now: float) -> int:
        return max(1, round((now - self._began) * 1000))

    def _message(self, parts: Sequence[Part], calls: Sequence[Usage], now: float) -> NewMessage:
        used = [usage for usage in calls if usage != _UNTOLD] or [_UNTOLD]
        usage = _summed(used)
        return NewMessage(
            role=Role.ASSISTANT,
            parts=vendor_first(parts),
            model_config_id=self._model.config_id,
            reasoning_effort=self._effort,
            usage=usage,
            context_limit=self._model.context_limit,
            cost_microdollars=cost_of(used, self._model),
            runtime_ms=self.runtime_ms(now),
        )


def cost_of(used: Sequence[Usage], model: ResolvedModel) -> int | None:
    """Of all calls of a step; None when that of any is not known."""
    costs = [cost_microdollars(usage, model.prices) for usage in used]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _summed(used: Sequence[Usage]) -> Usage:
    """Of several calls, what was written is summed. The prompt is the last one's: it holds those before it, and says
    how full the context is. What was paid for all of them is in the cost."""
    *before, last = used
    if not before:
        return last
    output = sum(usage.output_tokens or 0 for usage in used)
    reasoning = sum(usage.reasoning_tokens or 0 for usage in used)
    return msgspec.structs.replace(last, output_tokens=output or None, reasoning_tokens=reasoning or None)
