"""Tasks that run beside a block and end with it."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def beside(tasks: Mapping[str, Coroutine[Any, Any, None]]) -> AsyncGenerator[None]:
    """Run named tasks while the block runs, and cancel them when it ends.

    What the block raises comes out as it is, not in a group. A task that fails ends the block, and its error comes out.
    """
    raised: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(task, name=name) for name, task in tasks.items()]
            try:
                yield
            except asyncio.CancelledError:
                raise  # from outside, or because a task failed: the group knows which
            except BaseException as error:  # noqa: BLE001 - raised again below, outside of the group
                raised = error
            for task in running:
                task.cancel()
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    if raised is not None:
        raise raised
