"""One call of a model: measured, and folded into its answer while it comes."""

from collections.abc import Callable, Sequence

from chatd.clock import Clock
from chatd.core.accumulate import Accumulator, Answer
from chatd.core.model import ModelEvent, ModelRequest
from chatd.core.times import iso
from chatd.engine.meter import NO_METER, EngineMeter
from chatd.engine.models import ResolvedModel
from chatd.providers.asking import Asked, ask
from chatd.providers.transport import Transport

# Told of the events that came together, and when.
Hear = Callable[[Sequence[ModelEvent], str], None]


class ModelCalls:
    """What all callers of a replica share."""

    def __init__(self, transport: Transport, clock: Clock, meter: EngineMeter = NO_METER) -> None:
        self._transport = transport
        self._clock = clock
        self._meter = meter

    async def answer(
        self, request: ModelRequest, model: ResolvedModel, accumulator: Accumulator, hear: Hear | None = None
    ) -> Answer:
        """The whole answer; cut, the accumulator has what came. Raises ModelCallFailed."""
        asked = Asked(model.host, model.provider, model.limits)
        async with (
            self._meter.call(model, request, accumulator) as call,
            ask(asked, request, transport=self._transport, clock=self._clock, sent=call.sent) as stream,
        ):
            async for events in stream:
                if call.waits:
                    call.heard(events)
                at = iso(self._clock.now())
                for event in events:
                    accumulator.add(event, at)
                if hear is not None:
                    hear(events, at)
        return accumulator.answer()
