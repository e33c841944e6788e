"""The demo model, started when it is first asked for: a server that has other models never runs it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from chatd.clock import Clock
from chatd.core.secret import Secret
from chatd.demo.server import DemoModel, demo_model


class DemoOnDemand:
    """Call it to learn where the model is."""

    def __init__(self, stack: AsyncExitStack, api_key: Secret, clock: Clock) -> None:
        self._stack = stack
        self._api_key = api_key
        self._clock = clock
        self._starting = asyncio.Lock()
        self._model: DemoModel | None = None

    async def __call__(self) -> tuple[str, Secret]:
        async with self._starting:
            if self._model is None:
                model = demo_model(api_key=self._api_key, clock=self._clock)
                self._model = await self._stack.enter_async_context(model)
        return self._model.base_url, self._model.api_key


@asynccontextmanager
async def demo_on_demand(*, api_key: Secret, clock: Clock) -> AsyncGenerator[DemoOnDemand]:
    """For as long as the block runs. The key is this process's own: nobody else has business with the model."""
    async with AsyncExitStack() as stack:
        yield DemoOnDemand(stack, api_key, clock)
